package vppwire

import (
	"net/netip"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip_neighbor"
)

// Neighbor is a static neighbor entry. VPP keeps it when its interface goes, so it is always deleted first.
type Neighbor struct {
	If   string
	Addr netip.Addr
	MAC  MAC
}

// Key implements Object.
func (o Neighbor) Key() Key { return Key{Kind: KindNeighbor, Name: o.If, Prefix: full(o.Addr)} }

// AppendNeeds implements Object.
func (o Neighbor) AppendNeeds(keys []Key) []Key { return needInterface(keys, o.If) }

// AppendText implements Object: "neighbor loop0 192.168.30.2 12:2b:00:00:00:02".
func (o Neighbor) AppendText(b []byte) []byte {
	b = o.Addr.AppendTo(append(appendWord(b, "neighbor", o.If), ' '))
	return o.MAC.AppendText(append(b, ' '))
}

func (Neighbor) parse(p *words) Object { return Neighbor{If: p.word(), Addr: p.addr(), MAC: p.mac()} }

func (o Neighbor) owner() (Key, bool)   { return Key{}, false }
func (o Neighbor) ours() bool           { return true }
func (o Neighbor) replaces(Object) bool { return true }
func (o Neighbor) shown() dumpStep      { return dumpStep{dump: neighborDump, ip6: o.Addr.Is6()} }

type neighborMessages struct {
	neighbor      ip_neighbor.IPNeighborAddDel
	neighborReply ip_neighbor.IPNeighborAddDelReply
}

func (Neighbor) messages() []api.Message {
	m := new(neighborMessages)
	return []api.Message{&m.neighbor, &m.neighborReply}
}

func (o Neighbor) fill(s *Session, r *request, add bool) {
	m := buffers[neighborMessages](s, KindNeighbor)
	n := &m.neighbor
	n.IsAdd, n.Neighbor.SwIfIndex, n.Neighbor.Flags = add, s.swIfIndex(o.If), ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC
	n.Neighbor.MacAddress, n.Neighbor.IPAddress = toMAC(o.MAC), toAddress(o.Addr)
	r.invoke(n, &m.neighborReply, &m.neighborReply.Retval)
}

func (o Neighbor) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Neighbor) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

var neighborDump = &dump{whole: true, family: true, reader: neighborReader{}}

type neighborReader struct{}

func (neighborReader) messages() []api.Message {
	return []api.Message{&ip_neighbor.IPNeighborDump{}, &ip_neighbor.IPNeighborDetails{}}
}

func (neighborReader) ask(_ *Session, st dumpStep, r *request) {
	r.dump(&ip_neighbor.IPNeighborDump{SwIfIndex: allInterfacesIndex, Af: addressFamily(st.ip6)})
}

// take asks again when an interface takes over the index of a dead one that entries still name: they then seem to
// belong to it.
func (neighborReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		d, ok := m.(*ip_neighbor.IPNeighborDetails)
		if !ok || d.Neighbor.Flags&ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC == 0 {
			continue
		}
		index := uint32(d.Neighbor.SwIfIndex)
		name, known := s.nameOf(index)
		if !known {
			s.dump.reused(index, neighborDump)
			continue
		}
		s.observe(Neighbor{If: name, Addr: fromAddress(d.Neighbor.IPAddress), MAC: MAC(d.Neighbor.MacAddress)})
	}
}
