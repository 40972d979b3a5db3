package vppmodel

import (
	"math/bits"
	"strconv"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/memif"
)

const (
	// memifRing is how many descriptors a ring has unless a client says otherwise, memifRingMax the largest power of two
	// that a connection takes (src/plugins/memif/private.h, memif.h), memifBuffer the bytes of a ring's buffer.
	memifRing    = 1024
	memifRingMax = 14
	memifBuffer  = 2048
)

// memifPort is what a memif interface has beside an interface.
type memifPort struct {
	socket, id          uint32
	slave, zeroCopy, ip bool
	ring                uint8 // the power of two
	buffer              uint16
	met                 bool // it has been connected: then dumps know rings
}

// createMemif and createMemif2 leave index 0 in refusals, but for one whose socket cannot be listened on: that names the
// interface which was there for a moment.
func (v *VPP) createMemif2(m *memif.MemifCreateV2, r *memif.MemifCreateV2Reply) int32 {
	at, retval := v.addMemif(m)
	*r = memif.MemifCreateV2Reply{Retval: retval, SwIfIndex: index(at)}
	return retval
}

func (v *VPP) createMemif(m *memif.MemifCreate, r *memif.MemifCreateReply) int32 {
	at, retval := v.addMemif(asMemif2(m))
	*r = memif.MemifCreateReply{Retval: retval, SwIfIndex: index(at)}
	return retval
}

// asMemif2 is the older request, which has no DMA.
func asMemif2(m *memif.MemifCreate) *memif.MemifCreateV2 {
	return &memif.MemifCreateV2{Role: m.Role, Mode: m.Mode, RxQueues: m.RxQueues, TxQueues: m.TxQueues, ID: m.ID, SocketID: m.SocketID,
		RingSize: m.RingSize, BufferSize: m.BufferSize, NoZeroCopy: m.NoZeroCopy, HwAddr: m.HwAddr, Secret: m.Secret}
}

// addMemif follows memif_create_if: ring, socket, role, ID, the interface, and only then the listener. Any role but
// master is slave.
func (v *VPP) addMemif(m *memif.MemifCreateV2) (at uint32, retval int32) {
	ring := m.RingSize
	if ring == 0 {
		ring = memifRing
	}
	if ring&(ring-1) != 0 {
		return 0, invalidArgument
	}
	s, exists := v.memifs[m.SocketID]
	if !exists {
		return 0, invalidArgument
	}
	master := m.Role == memif.MEMIF_ROLE_API_MASTER
	if s.refs > 0 {
		if _, taken := s.ids[m.ID]; taken || s.master != master {
			return 0, subifExists
		}
	}
	if m.Mode != memif.MEMIF_MODE_API_ETHERNET && m.Mode != memif.MEMIF_MODE_API_IP {
		return 0, syscallError2
	}
	if s.refs == 0 {
		s.ids, s.master = make(map[uint32]uint32), master
	}
	p := &memifPort{socket: m.SocketID, id: m.ID, slave: !master, zeroCopy: !master && !m.NoZeroCopy, ip: m.Mode == memif.MEMIF_MODE_API_IP,
		ring: uint8(bits.TrailingZeros32(ring)), buffer: m.BufferSize}
	if p.buffer == 0 {
		p.buffer = memifBuffer
	}
	added := iface{kind: KindMemif, name: "memif" + strconv.FormatUint(uint64(p.socket), 10) + "/" + strconv.FormatUint(uint64(p.id), 10),
		ethernet: !p.ip, device: p}
	switch {
	case p.ip:
	case m.HwAddr == ethernet_types.MacAddress{}:
		added.mac = v.drawMAC()
	default:
		added.mac = mac(m.HwAddr)
	}
	i := v.addInterface(added)
	if s.master && s.refs == 0 && !v.listenMemif(s) {
		s.refs-- // memif_delete_if takes what was never counted
		v.deleteInterface(i)
		return i.index, syscallError4
	}
	s.refs++
	s.ids[p.id] = i.index
	v.tellInterface(i, v.flags(i), false)
	return i.index, ok
}

// deleteMemif: the socket stays, without a listener once its last interface is gone.
func (v *VPP) deleteMemif(m *memif.MemifDelete) int32 {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil || i.kind != KindMemif {
		return invalidIndex
	}
	p := i.device.(*memifPort)
	v.deleteInterface(i)
	if s := v.memifs[p.socket]; s != nil {
		delete(s.ids, p.id)
		if s.refs--; s.refs == 0 {
			v.hangUpMemif(s)
		}
	}
	return ok
}

// memifCrash: VPP looks at an interface that it has not made, or makes a second one of the same ID, because it counts
// one user of the socket too few since it could not listen.
func (v *VPP) memifCrash(m *memif.MemifCreateV2) CrashTrigger {
	s, exists := v.memifs[m.SocketID]
	if !exists || m.RingSize&(m.RingSize-1) != 0 {
		return ""
	}
	_, taken := s.ids[m.ID]
	switch {
	case s.refs > 0 && (taken || s.master != (m.Role == memif.MEMIF_ROLE_API_MASTER)):
		return ""
	case m.Mode != memif.MEMIF_MODE_API_ETHERNET && m.Mode != memif.MEMIF_MODE_API_IP:
		return CrashMemifMode
	case s.refs == 0 && len(s.ids) > 0:
		return CrashMemifMiscounted
	}
	return ""
}

func (v *VPP) memif1Crash(m *memif.MemifCreate) CrashTrigger { return v.memifCrash(asMemif2(m)) }

// linkOf reports whether an interface has a carrier. A memif's is its connection: VPP's own is there while it is up, and the
// other end is what the Host knows.
func (v *VPP) linkOf(i *iface) bool {
	p, is := i.device.(*memifPort)
	if !is {
		return i.link
	}
	if !i.up || !v.memifMet(p) {
		return false
	}
	p.met = true
	return true
}

// memifMet reports whether the ends of a memif have a way to each other.
func (v *VPP) memifMet(p *memifPort) bool {
	host, able := v.host.(MemifHost)
	s := v.memifs[p.socket]
	return s != nil && able && (p.slave || s.listening) && host.MemifPeer(s.file, p.id, p.slave)
}

// memifDump: VPP tells of rings and buffers as they were agreed on, and a master never.
func (v *VPP) memifDump(*memif.MemifDump) []api.Message {
	var out []api.Message
	for _, i := range v.ifaces {
		if i == nil || i.kind != KindMemif {
			continue
		}
		p := i.device.(*memifPort)
		d := &memif.MemifDetails{SwIfIndex: index(i.index), HwAddr: ethernet_types.MacAddress(i.mac), ID: p.id, ZeroCopy: p.zeroCopy,
			SocketID: p.socket, RingSize: 1, Flags: v.flags(i), IfName: i.name}
		if p.slave {
			d.Role = memif.MEMIF_ROLE_API_SLAVE
		}
		if p.ip {
			d.Mode = memif.MEMIF_MODE_API_IP
		}
		if d.Flags&interface_types.IF_STATUS_API_FLAG_LINK_UP != 0 || p.met {
			if p.slave {
				d.RingSize, d.BufferSize = 1<<min(p.ring, memifRingMax), p.buffer
			}
		}
		out = append(out, d)
	}
	return out
}
