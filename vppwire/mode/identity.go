package mode

import "github.com/vppdrill/vppdrill/vppwire"

// Identities shared by every node of a cluster.
const (
	// VNI, BridgeID and SplitHorizon are upstream's: VNI 10, one bridge domain, tunnels and BVI in group 1 so that
	// nothing that came from a tunnel goes into another one.
	VNI          = 10
	BridgeID     = 1
	SplitHorizon = 1
	// bviInstance and nicInstance are our loopbacks' instances; tap 0 is the host interconnect.
	bviInstance = 0
	nicInstance = 1
	gwInstance  = 2
	// trunkInstance is the instance of the trunk bridge's BVI.
	trunkInstance = 3
	// TrunkBridgeID is the bridge domain that joins the pods' trunk with VPP's tables, where there is one.
	TrunkBridgeID = 2
	hostTapID     = 0
	// neighborsMax dynamic neighbors: VPP's default.
	neighborsMax = 50000
	// defaultRing is what VPP makes of a ring size of 0.
	defaultRing = 256
)

// BVIName is the VPP name of the bridge's virtual interface; LoopbackNIC of the loopback that stands in for a NIC;
// GatewayLoop of the loopback that holds the pods' gateway addresses; TrunkBVI of the trunk bridge's virtual interface.
var (
	BVIName     = vppwire.LoopbackName(bviInstance)
	LoopbackNIC = vppwire.LoopbackName(nicInstance)
	GatewayLoop = vppwire.LoopbackName(gwInstance)
	TrunkBVI    = vppwire.LoopbackName(trunkInstance)
)

// BVIMAC is the BVI's MAC on node id: 12:2b and the ID in four bytes, upstream's later rule, unique for every ID.
func BVIMAC(id uint32) vppwire.MAC {
	return vppwire.MAC{0x12, 0x2b, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
}

// interconnectMAC is the VPP end's MAC of the host interconnect: locally administered unicast and the node ID.
// Upstream's first constant was a multicast address, which Linux does not answer.
func interconnectMAC(id uint32) vppwire.MAC {
	return vppwire.MAC{0x02, 0x34, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
}

// hostEndMAC is the Linux end's MAC of the host interconnect.
func hostEndMAC(id uint32) vppwire.MAC {
	return vppwire.MAC{0x02, 0x35, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
}

// gatewayMAC is the MAC of the loopback that holds the gateway addresses.
func gatewayMAC(id uint32) vppwire.MAC {
	return vppwire.MAC{0x02, 0x37, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
}

// trunkMAC is the MAC of the pods' gateway: VPP's end of the trunk, or the BVI behind it.
func trunkMAC(id uint32) vppwire.MAC {
	return vppwire.MAC{0x02, 0x38, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
}

// portMAC is the MAC of VPP's end of a trunk that is bridged, which takes frames whatever their MAC.
func portMAC(id uint32) vppwire.MAC {
	return vppwire.MAC{0x02, 0x3a, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
}

// childMAC is the MAC of a pod on the trunk. Nobody else sees it, so that it must differ within the node alone.
func childMAC(number uint32) vppwire.MAC {
	return vppwire.MAC{0x02, 0x39, byte(number >> 24), byte(number >> 16), byte(number >> 8), byte(number)}
}

// PodMACs are the MACs of a pod's two ends: 02:fe and four bytes of a hash of container and interface; the VPP end has
// them inverted (upstream's later rule).
func PodMACs(container, ifName string) (pod, vpp vppwire.MAC) {
	h := uint32(hash(container, ifName))
	pod = vppwire.MAC{0x02, 0xfe, byte(h), byte(h >> 8), byte(h >> 16), byte(h >> 24)}
	vpp = vppwire.MAC{0x02, 0xfe, ^byte(h), ^byte(h >> 8), ^byte(h >> 16), ^byte(h >> 24)}
	return pod, vpp
}

// hash is FNV-1a of 64 bits over "container/ifName".
func hash(container, ifName string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := 0; i < len(container); i++ {
		h = (h ^ uint64(container[i])) * prime
	}
	h = (h ^ '/') * prime
	for i := 0; i < len(ifName); i++ {
		h = (h ^ uint64(ifName[i])) * prime
	}
	return h
}
