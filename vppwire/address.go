package vppwire

import (
	"net/netip"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"
)

// Address is an interface's address with its subnet's length; the host bits count.
type Address struct {
	If   string
	Addr netip.Prefix
	// Table is the VRF that the interface is in: the binding must stand before the address.
	Table uint32
	// Stolen: it is the host's own, of a NIC that VPP has. VPP answers ARP requests for it as soon as it has it, so all that
	// leads what comes then to the host stands before. A dump does not tell.
	Stolen bool
}

// Key implements Object.
func (o Address) Key() Key { return Key{Kind: KindAddress, Name: o.If, Prefix: o.Addr} }

// AppendNeeds implements Object.
func (o Address) AppendNeeds(keys []Key) []Key {
	keys = needInterface(keys, o.If)
	if o.Table != 0 {
		keys = append(keys, inTableKey(o.If, o.Addr.Addr().Is6()))
	}
	if o.Stolen {
		// Linux' end outlives VPP, whose rule does not, so each is named.
		keys = append(keys, STN{Addr: o.Addr.Addr()}.Key(), LinuxAddress{Link: HostLinuxDevice, Addr: o.Addr}.Key())
	}
	return keys
}

// AppendText implements Object: "address loop0 192.168.30.1/24 table 1", "address uplink0 10.20.0.2/16 table 0 stolen".
func (o Address) AppendText(b []byte) []byte {
	b = o.Addr.AppendTo(append(appendWord(b, "address", o.If), ' '))
	b = appendNumber(b, "table", uint64(o.Table))
	if o.Stolen {
		b = append(b, " stolen"...)
	}
	return b
}

func (Address) parse(p *words) Object {
	return Address{If: p.word(), Addr: p.prefix(), Table: uint32(p.named("table", 32)), Stolen: p.has("stolen")}
}

func (o Address) owner() (Key, bool) { return interfaceKey(o.If) }
func (o Address) ours() bool         { return true }
func (o Address) shown() dumpStep {
	return dumpStep{dump: addressDump, name: o.If, ip6: o.Addr.Addr().Is6()}
}

// replaces: the same key is the same interface and prefix, so only the table behind it differs, and the address has to
// be taken off for the move.
func (o Address) replaces(Object) bool { return false }

// like: which table an address is in follows from its interface, which has a dump of its own; whose it is no dump tells.
func (o Address) like(found Object) bool { _, ok := found.(Address); return ok }

// lapses: with the interface.
func (o Address) lapses(s *Session, st dumpStep) bool {
	return st.dump == interfaceDump && !s.known(o.If)
}

type addressMessages struct {
	address      interfaces.SwInterfaceAddDelAddress
	addressReply interfaces.SwInterfaceAddDelAddressReply
}

func (Address) messages() []api.Message {
	m := new(addressMessages)
	return []api.Message{&m.address, &m.addressReply}
}

func (o Address) fill(s *Session, r *request, add bool) {
	m := buffers[addressMessages](s, KindAddress)
	m.address.SwIfIndex, m.address.IsAdd, m.address.DelAll = s.swIfIndex(o.If), add, false
	m.address.Prefix = ip_types.AddressWithPrefix(toPrefix(o.Addr))
	r.invoke(&m.address, &m.addressReply, &m.addressReply.Retval)
}

func (o Address) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Address) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

// addressDump asks for one interface's addresses of one family; VPP tells no more at a time.
var addressDump = &dump{reader: addressReader{}}

type addressReader struct{ ofInterface }

func (addressReader) messages() []api.Message {
	return []api.Message{&ip.IPAddressDump{}, &ip.IPAddressDetails{}}
}

func (addressReader) ask(s *Session, st dumpStep, r *request) {
	r.dump(&ip.IPAddressDump{SwIfIndex: s.swIfIndex(st.name), IsIPv6: st.ip6})
}

func (addressReader) take(s *Session, st dumpStep, res Result) {
	for _, m := range res.shown.details {
		d, ok := m.(*ip.IPAddressDetails)
		if !ok {
			continue
		}
		p := netip.PrefixFrom(fromAddress(d.Prefix.Address), int(d.Prefix.Len))
		if p.Addr().Is6() && p.Addr().IsLinkLocalUnicast() {
			continue // VPP's own
		}
		s.observe(Address{If: st.name, Addr: p, Table: s.tableOf(st.name, st.ip6)})
	}
	if !st.ip6 {
		s.leased(st.name)
	}
}
