package mode

import (
	"net/netip"
	"path"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Memif says whether a pod brings a program that speaks memif, and which end is whose. The zero Memif is a pod as the
// node's Config wires it.
type Memif uint8

// The ends: the program is the slave that connects to VPP, or the master that VPP connects to.
const (
	MemifSlave Memif = iota + 1
	MemifMaster
)

var memifWords = [...]string{MemifSlave: "memif", MemifMaster: "memif-master"}

// MemifOf is the Memif of that word, false for an unknown one.
func MemifOf(word string) (Memif, bool) {
	for m := MemifSlave; int(m) < len(memifWords); m++ {
		if memifWords[m] == word {
			return m, true
		}
	}
	return 0, false
}

// String is the word; empty for the zero Memif.
func (m Memif) String() string { return memifWords[m] }

// podMemif is a memif whose other end is a program of the pod's, which has the pod's address and MAC.
type podMemif struct{ ownInterface }

func (podMemif) name(_ Config, p Pod) string { return vppwire.MemifName(p.Number, 0) }

// ends: rings are those of taps, as far as a memif takes them. They are the slave's to choose.
func (w podMemif) ends(c Config, o *objects, p Pod, podMAC, vppMAC vppwire.MAC) {
	vppListens := p.Memif == MemifSlave
	folder := MemifPath(c.MemifFolder, p.UID, p.IfName)
	o.add(vppwire.MemifFolder{Path: folder, Socket: p.Number, Listens: !vppListens, Settings: c.memifSettings(p, podMAC, vppMAC)})
	o.add(vppwire.MemifSocket{Number: p.Number, File: path.Join(folder, vppwire.MemifFile)})
	m := vppwire.Memif{Socket: p.Number, MAC: vppMAC, Slave: !vppListens}
	if m.Slave {
		m.Ring = min(uint32(c.RxRing), memifRingMax)
	}
	o.add(m)
	o.add(vppwire.Tag{If: w.name(c, p), Text: podTag(p)})
}

// memifSettings are what a pod's program must know, as CNI's result has it for Linux.
func (c Config) memifSettings(p Pod, podMAC, vppMAC vppwire.MAC) string {
	list := []string{"memif=" + p.Memif.String(), "id=0", "mac=" + podMAC.String(), "gateway-mac=" + vppMAC.String()}
	if c.MTU != 0 {
		list = append(list, "mtu="+strconv.FormatUint(uint64(c.MTU), 10))
	}
	list = append(list, "address="+netip.PrefixFrom(p.Addr, p.Addr.BitLen()).String(), "gateway="+p.Gateway.String())
	if p.SecondAddr.IsValid() {
		list = append(list, "address="+netip.PrefixFrom(p.SecondAddr, p.SecondAddr.BitLen()).String(), "gateway="+p.SecondGateway.String())
	}
	return strings.Join(list, ",")
}

// memifRingMax is the largest ring of a memif, in descriptors (25.10, src/plugins/memif/memif.h).
const memifRingMax = 1 << 14

// MemifPath is the folder of one interface of a pod below the folder of all. It is what the pod's volume shares.
func MemifPath(folder, uid, ifName string) string { return path.Join(folder, uid, ifName) }

// podWired is the wiring of one pod.
func (c Config) podWired(p Pod) podWiring {
	if p.Memif != 0 {
		return podMemif{}
	}
	return podModes[c.Pod].podWiring
}
