package vppwire

import (
	"net/netip"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/dhcp"
)

// DHCPClient lets VPP lease an interface's IPv4 address. What is leased VPP puts on the interface by itself, with a
// default route that yields to any through the API; Session.Lease tells it. The interface has no other address.
//
// VPP 25.10 tells of a new lease by an event, of a lost one by none, and of neither to anybody but the connection that
// made the client (src/plugins/dhcp/client.c, dhcp_client_addr_callback and dhcp_client_reset): so leases are learnt by
// dumps alone.
type DHCPClient struct {
	If string
	// Table is the VRF that the interface is in: the binding must stand before the address.
	Table uint32
	// Hostname is what the server is told, a word of at most 63 bytes; empty for nothing.
	Hostname string
}

// dhcpPlugin is VPP's name of the plugin that has the client.
const dhcpPlugin = "dhcp"

// Lease is what a DHCP server has given an interface. The zero Lease is none.
type Lease struct {
	// Addr is the address with its subnet's length.
	Addr netip.Prefix
	// Router is the default gateway, the zero Addr where none was named.
	Router netip.Addr
}

// Lease is what a dump last showed of an interface's DHCP client; false where it has no lease, or nothing is known.
func (s *Session) Lease(name string) (Lease, bool) {
	l, ok := s.leases[name]
	return l, ok
}

// LeasesTold reports whether a dump has told of leases since the last call: only then may Lease have changed.
func (s *Session) LeasesTold() bool {
	told := s.leasesTold
	s.leasesTold = false
	return told
}

// LookForLeases makes the next call the one that tells of DHCP clients and their leases.
func (s *Session) LookForLeases() {
	if s.connected {
		s.dump.push(dumpStep{dump: dhcpDump})
	}
}

// Key implements Object.
func (o DHCPClient) Key() Key { return Key{Kind: KindDHCPClient, Name: o.If} }

// AppendNeeds implements Object.
func (o DHCPClient) AppendNeeds(keys []Key) []Key {
	keys = needInterface(keys, o.If)
	if o.Table != 0 {
		keys = append(keys, inTableKey(o.If, false))
	}
	return keys
}

// AppendText implements Object: "dhcp-client GigabitEthernet0/8/0 table 0 host node-1".
func (o DHCPClient) AppendText(b []byte) []byte {
	b = appendNumber(appendWord(b, "dhcp-client", o.If), "table", uint64(o.Table))
	if o.Hostname != "" {
		b = appendWord(b, " host", o.Hostname)
	}
	return b
}

func (DHCPClient) parse(p *words) Object {
	o := DHCPClient{If: p.word(), Table: uint32(p.named("table", 32))}
	if p.has("host") {
		o.Hostname = p.word()
	}
	return o
}

// owner: a client outlives its interface.
func (o DHCPClient) owner() (Key, bool)   { return Key{}, false }
func (o DHCPClient) ours() bool           { return true }
func (o DHCPClient) replaces(Object) bool { return false }
func (o DHCPClient) shown() dumpStep      { return dumpStep{dump: dhcpDump} }

// like: the table follows from the interface, and a server may have replaced the host name.
func (o DHCPClient) like(found Object) bool { _, ok := found.(DHCPClient); return ok }

type dhcpMessages struct {
	config      dhcp.DHCPClientConfig
	configReply dhcp.DHCPClientConfigReply
}

func (DHCPClient) messages() []api.Message {
	m := new(dhcpMessages)
	return []api.Message{&m.config, &m.configReply}
}

func (o DHCPClient) fill(s *Session, r *request, add bool) {
	m := buffers[dhcpMessages](s, KindDHCPClient)
	m.config = dhcp.DHCPClientConfig{IsAdd: add, Client: dhcp.DHCPClient{SwIfIndex: s.swIfIndex(o.If), Hostname: o.Hostname}}
	r.invoke(&m.config, &m.configReply, &m.configReply.Retval)
}

func (o DHCPClient) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }

// delete takes the lease along, and with it the address.
func (o DHCPClient) delete(s *Session, r *request) bool {
	delete(s.leases, o.If)
	// afterwards: it may be one that is wanted for another reason by now
	s.dump.push(dumpStep{dump: addressDump, name: o.If})
	o.fill(s, r, false)
	return true
}

// dhcpDump tells of DHCP clients and their leases. What is leased is the client's affair, so it comes again behind a
// dump of the addresses of an interface that has one.
var dhcpDump = &dump{whole: true, plugin: dhcpPlugin, reader: dhcpReader{}}

type dhcpReader struct{}

func (dhcpReader) messages() []api.Message {
	return []api.Message{&dhcp.DHCPClientDump{}, &dhcp.DHCPClientDetails{}}
}

func (dhcpReader) ask(_ *Session, _ dumpStep, r *request) { r.dump(&dhcp.DHCPClientDump{}) }

func (dhcpReader) take(s *Session, _ dumpStep, res Result) {
	clear(s.leases)
	s.leasesTold = true
	for _, m := range res.shown.details {
		d, ok := m.(*dhcp.DHCPClientDetails)
		if !ok {
			continue
		}
		name := s.interfaceName(uint32(d.Client.SwIfIndex))
		if strings.HasPrefix(name, deadPrefix) {
			continue // of an interface that is gone: nothing can be said to it
		}
		s.observe(DHCPClient{If: name, Table: s.tableOf(name, false), Hostname: d.Client.Hostname})
		if d.Lease.State != dhcp.DHCP_CLIENT_STATE_API_BOUND || d.Lease.MaskWidth == 0 {
			continue
		}
		l := Lease{Addr: netip.PrefixFrom(fromUnion(d.Lease.HostAddress.Un, false), int(d.Lease.MaskWidth))}
		if r := fromUnion(d.Lease.RouterAddress.Un, false); !r.IsUnspecified() {
			l.Router = r
		}
		s.leases[name] = l
		s.disown(Address{If: name, Addr: l.Addr})
	}
}

// leased asks once more what of an interface's addresses is leased.
func (s *Session) leased(name string) {
	k := DHCPClient{If: name}.Key()
	if n := s.find(s.ident(&k)); n != 0 && (s.at(n).want() != nil || s.at(n).have() != nil) {
		s.dump.push(dumpStep{dump: dhcpDump})
	}
}

// disown forgets an address that a dump has shown, where nobody here wants it: somebody else looks after it.
func (s *Session) disown(o Address) {
	k := o.Key()
	if n := s.find(s.ident(&k)); n != 0 && s.at(n).want() == nil {
		s.forget(n)
	}
}
