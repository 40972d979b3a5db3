package vppwire

import (
	"net/netip"

	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
)

// Neighbor is a static neighbor entry. VPP keeps it when its interface goes, so it is always deleted first.
type Neighbor struct {
	If   string
	Addr netip.Addr
	MAC  MAC
}

// NeighborConfig is the ageing of dynamic neighbors of one family.
type NeighborConfig struct {
	IP6 bool
	// MaxNumber of dynamic entries, MaxAge in seconds after which they are probed; 0 is never.
	MaxNumber, MaxAge uint32
}

// Key implements Object.
func (o Neighbor) Key() Key { return Key{Kind: KindNeighbor, Name: o.If, Prefix: full(o.Addr)} }

// Key implements Object.
func (o NeighborConfig) Key() Key {
	k := Key{Kind: KindNeighborConfig}
	if o.IP6 {
		k.Num = 6
	}
	return k
}

// AppendNeeds implements Object.
func (o Neighbor) AppendNeeds(keys []Key) []Key { return needInterface(keys, o.If) }

// AppendNeeds implements Object.
func (o NeighborConfig) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "neighbor loop0 192.168.30.2 12:2b:00:00:00:02".
func (o Neighbor) AppendText(b []byte) []byte {
	b = o.Addr.AppendTo(append(appendWord(b, "neighbor", o.If), ' '))
	return o.MAC.AppendText(append(b, ' '))
}

// AppendText implements Object: "neighbor-config ip4 max 50000 age 240".
func (o NeighborConfig) AppendText(b []byte) []byte {
	family := "ip4"
	if o.IP6 {
		family = "ip6"
	}
	b = appendNumber(appendWord(b, "neighbor-config", family), "max", uint64(o.MaxNumber))
	return appendNumber(b, "age", uint64(o.MaxAge))
}

func (o Neighbor) sweptBy() (Key, bool)       { return Key{}, false }
func (o NeighborConfig) sweptBy() (Key, bool) { return Key{}, false }
func (o Neighbor) replaces(Object) bool       { return true }
func (o NeighborConfig) replaces(Object) bool { return true }

func (o Neighbor) fill(s *Session, r *request, add bool) {
	m := &s.msg
	n := &m.neighbor
	n.IsAdd, n.Neighbor.SwIfIndex, n.Neighbor.Flags = add, s.swIfIndex(o.If), ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC
	n.Neighbor.MacAddress, n.Neighbor.IPAddress = toMAC(o.MAC), toAddress(o.Addr)
	r.invoke("ip_neighbor_add_del", n, &m.neighborReply, &m.neighborReply.Retval)
}

func (o Neighbor) write(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Neighbor) erase(s *Session, r *request) bool      { o.fill(s, r, false); return true }

func (o NeighborConfig) write(s *Session, r *request, _ Object) {
	m := &s.msg
	m.neighborConf = ip_neighbor.IPNeighborConfig{Af: ip_types.ADDRESS_IP4, MaxNumber: o.MaxNumber, MaxAge: o.MaxAge}
	if o.IP6 {
		m.neighborConf.Af = ip_types.ADDRESS_IP6
	}
	r.invoke("ip_neighbor_config", &m.neighborConf, &m.neighborConfRep, &m.neighborConfRep.Retval)
}

// erase: there is always some configuration; the one that stands may stay.
func (o NeighborConfig) erase(*Session, *request) bool { return false }
