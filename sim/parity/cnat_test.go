package parity

import (
	"fmt"
	"net/netip"
	"testing"

	"go.fd.io/govpp/binapi/cnat"
	"go.fd.io/govpp/binapi/ip_types"
)

// cnatNode is a node whose services of IPv6 CNAT serves.
type cnatNode struct {
	*sixNode
	cnat.RPCService
}

// cnatTable is where pods are.
const cnatTable = 1

// newCNATNode has CNAT's features on all interfaces: they serve clients and endpoints of any table.
func newCNATNode(t *testing.T, table uint32) *cnatNode {
	t.Helper()
	n := newSixNode(t, table, &cnat.CnatTranslationUpdate{})
	for device := range devices {
		n.feature(device, "ip6-unicast", "cnat-input-ip6")
		n.feature(device, "ip6-output", "cnat-output-ip6")
	}
	return &cnatNode{n, cnat.NewServiceClient(n.conn)}
}

// serve has an address and port of UDP served by endpoints, and returns VPP's number of it.
func (n *cnatNode) serve(vip netip.AddrPort, proto ip_types.IPProto, kind cnat.CnatLbType, ends ...netip.AddrPort) uint32 {
	n.t.Helper()
	at := func(a netip.AddrPort) cnat.CnatEndpoint {
		return cnat.CnatEndpoint{SwIfIndex: none, IfAf: ip_types.ADDRESS_IP6, Addr: message(a.Addr()), Port: a.Port()}
	}
	m := &cnat.CnatTranslationUpdate{Translation: cnat.CnatTranslation{Vip: at(vip), IPProto: proto, LbType: kind}}
	for _, e := range ends {
		m.Translation.Paths = append(m.Translation.Paths, cnat.CnatEndpointTuple{DstEp: at(e), SrcEp: at(netip.AddrPortFrom(netip.IPv6Unspecified(), 0))})
	}
	r, err := n.CnatTranslationUpdate(n.t.Context(), m)
	must(r, err)(n.t)
	n.t.Logf("cnat_translation_update %s %v: id %d", vip, ends, r.ID)
	return r.ID
}

func (n *cnatNode) purge() {
	n.t.Helper()
	must(n.CnatSessionPurge(n.t.Context(), &cnat.CnatSessionPurge{}))(n.t)
	n.t.Log("cnat_session_purge")
}

func (n *cnatNode) sessions() int {
	n.t.Helper()
	shown, err := n.CnatSessionDump(n.t.Context(), &cnat.CnatSessionDump{})
	return len(all(n.t, shown.Recv, err))
}

// Goal: why VPP serves no services of IPv6 is true of the VPP that is there; where it is not any more, this test says
// so. Method: a service's only endpoint is replaced by another one: the client's session goes on to the one that is gone,
// for as long as it sends, also when the translation is deleted and made again. No message ends one session; the one that
// ends all takes the translations along.
func TestCNATServesTheGone(t *testing.T) {
	n := newCNATNode(t, cnatTable)
	one := n.serve(sixVIP, ip_types.IP_API_PROTO_UDP, cnat.CNAT_LB_TYPE_DEFAULT, sixEnds[1])
	if got, want := n.heard(0, sixClient, sixVIP), (arrival{"vd1", sixClient, sixEnds[1]}); got != want {
		t.Fatalf("a request: %v, not %v", got, want)
	}
	if got, want := n.heard(1, sixEnds[1], sixClient), (arrival{"vd0", sixVIP, sixClient}); got != want {
		t.Fatalf("its answer: %v, not %v", got, want)
	}
	n.serve(sixVIP, ip_types.IP_API_PROTO_UDP, cnat.CNAT_LB_TYPE_DEFAULT, sixEnds[2])
	if got := n.heard(0, netip.AddrPortFrom(sixClient.Addr(), 4001), sixVIP); got.dst != sixEnds[2] {
		t.Errorf("a new session after the change: %v", got)
	}
	if got := n.heard(0, sixClient, sixVIP); got.dst != sixEnds[1] {
		t.Errorf("the old session: %v: CNAT ends sessions with their endpoint here, so that services of IPv6 can be served", got)
	}
	must(n.CnatTranslationDel(t.Context(), &cnat.CnatTranslationDel{ID: one}))(t)
	t.Logf("cnat_translation_del %d", one)
	if got := n.heard(0, sixClient, sixVIP); got.dst != sixEnds[1] {
		t.Errorf("the session of a translation that is gone: %v", got)
	}
	n.serve(netip.AddrPortFrom(sixVIP.Addr(), 81), ip_types.IP_API_PROTO_UDP, cnat.CNAT_LB_TYPE_DEFAULT, sixEnds[3]) // takes the number
	n.serve(sixVIP, ip_types.IP_API_PROTO_UDP, cnat.CNAT_LB_TYPE_DEFAULT, sixEnds[2])
	if got := n.heard(0, sixClient, sixVIP); got.dst != sixEnds[1] {
		t.Errorf("the old session under a new translation: %v", got)
	}
	if n.sessions() == 0 {
		t.Error("no session is shown")
	}
	n.purge()
	if got := n.sessions(); got != 0 {
		t.Errorf("%d sessions after all were ended", got)
	}
	shown, err := n.CnatTranslationDump(t.Context(), &cnat.CnatTranslationDump{})
	if left := all(t, shown.Recv, err); len(left) != 0 {
		t.Errorf("ending all sessions left %d translations: sessions can be ended without them here", len(left))
	}
}

// Goal: why ending all sessions and making translations again is no way either. Method: Maglev chooses by the packet
// alone, so that a session that begins again gets the endpoint that it had. Between the end and the client's next packet
// an answer comes to the client from the endpoint's own address: a client's TCP resets the connection then. And a
// session that is older than an endpoint begins again at that one.
func TestCNATPurgeCutsTheLiving(t *testing.T) {
	n := newCNATNode(t, cnatTable)
	serve := func(ends ...netip.AddrPort) {
		n.serve(sixVIP, ip_types.IP_API_PROTO_TCP, cnat.CNAT_LB_TYPE_MAGLEV, ends...)
	}
	serve(sixEnds[1], sixEnds[2])
	first := n.sent(0, protocolTCP, sixClient, sixVIP)
	end := first.dst
	if end != sixEnds[1] && end != sixEnds[2] {
		t.Fatalf("a request: %v", first)
	}
	device := int(first.device[2] - '0')
	n.purge()
	serve(sixEnds[1], sixEnds[2])
	if got, want := n.sent(device, protocolTCP, end, sixClient), (arrival{"vd0", end, sixClient}); got != want {
		t.Errorf("an answer before the client's next packet: %v, not %v: sessions can be ended unseen here", got, want)
	}
	if got := n.sent(0, protocolTCP, sixClient, sixVIP); got.dst != end {
		t.Errorf("the session that began again: %v", got)
	}
	serve(sixEnds[1], sixEnds[2], sixEnds[3])
	moved := 0
	const sessions = 40
	before := map[netip.AddrPort]netip.AddrPort{}
	serve(sixEnds[1], sixEnds[2])
	for port := range uint16(sessions) {
		src := netip.AddrPortFrom(sixClient.Addr(), 5000+port)
		before[src] = n.sent(0, protocolTCP, src, sixVIP).dst
	}
	serve(sixEnds[1], sixEnds[2], sixEnds[3])
	n.purge()
	serve(sixEnds[1], sixEnds[2], sixEnds[3])
	for port := range uint16(sessions) {
		src := netip.AddrPortFrom(sixClient.Addr(), 5000+port)
		if n.sent(0, protocolTCP, src, sixVIP).dst != before[src] {
			moved++
		}
	}
	t.Logf("%d of %d sessions with endpoints that live go to another one", moved, sessions)
	if moved == 0 {
		t.Error("no session moved to the endpoint that came after it")
	}
}

// Goal: why the address of an endpoint that has gone cannot be made a service of its own that leads on to a live one.
// Method: CNAT has services' addresses in table 0 alone, so that nothing comes of it where pods are in another. In table 0 the first
// endpoint's session leads on to the second; when that goes too, answers of the third come to the client from an address
// that it has not called.
func TestCNATLeadsOnOnce(t *testing.T) {
	for _, table := range []uint32{cnatTable, 0} {
		t.Run(fmt.Sprint("table ", table), func(t *testing.T) {
			n := newCNATNode(t, table)
			serve := func(at, by netip.AddrPort) { n.serve(at, ip_types.IP_API_PROTO_UDP, cnat.CNAT_LB_TYPE_DEFAULT, by) }
			serve(sixVIP, sixEnds[1])
			n.heard(0, sixClient, sixVIP)
			serve(sixVIP, sixEnds[2])
			serve(sixEnds[1], sixEnds[2])
			got := n.heard(0, sixClient, sixVIP)
			if table != 0 {
				if got.dst != sixEnds[1] {
					t.Errorf("the old session: %v: it leads on in any table here", got)
				}
				return
			}
			if got.dst != sixEnds[2] {
				t.Fatalf("the old session: %v", got)
			}
			if got, want := n.heard(2, sixEnds[2], sixClient), (arrival{"vd0", sixVIP, sixClient}); got != want {
				t.Errorf("its answer: %v, not %v", got, want)
			}
			serve(sixVIP, sixEnds[3])
			serve(sixEnds[1], sixEnds[3])
			serve(sixEnds[2], sixEnds[3])
			n.heard(0, sixClient, sixVIP)
			if got := n.heard(3, sixEnds[3], sixClient); got.src == sixVIP {
				t.Errorf("an answer of the third endpoint: %v: it leads on more than once here", got)
			}
		})
	}
}

// Goal: why a session of an endpoint that has gone cannot be starved until it is too old. Method: a classifier denies its
// packets on the client's interface. CNAT's node is before it, so that each packet makes the session young again.
func TestCNATComesFirst(t *testing.T) {
	n := newCNATNode(t, cnatTable)
	n.serve(sixVIP, ip_types.IP_API_PROTO_UDP, cnat.CNAT_LB_TYPE_DEFAULT, sixEnds[1])
	n.heard(0, sixClient, sixVIP)
	for _, line := range []string{"classify table mask l3 ip6 src dst l4 src_port dst_port buckets 64 acl-miss-next permit",
		fmt.Sprintf("classify session acl-hit-next deny table-index 0 match l3 ip6 src %s dst %s l4 src_port %d dst_port %d",
			sixClient.Addr(), sixVIP.Addr(), sixClient.Port(), sixVIP.Port()),
		"set interface input acl intfc host-vd0 ip6-table 0"} {
		t.Log(line, n.cli(line))
	}
	if got := n.heard(0, sixClient, sixVIP); got.dst != sixEnds[1] {
		t.Errorf("the session whose packets are denied: %v: it can be starved here", got)
	}
}

// Goal: a pod that is its own endpoint has CNAT's answer: its packets come back to it from another address, and the
// answers from the service's.
func TestCNATServesItself(t *testing.T) {
	n := newCNATNode(t, cnatTable)
	must(n.CnatSetSnatPolicy(t.Context(), &cnat.CnatSetSnatPolicy{Policy: cnat.CNAT_POLICY_K8S}))(t)
	must(n.CnatSetSnatAddresses(t.Context(), &cnat.CnatSetSnatAddresses{SwIfIndex: none, SnatIP6: ip_types.IP6Address(sixClient.Addr().Prev().As16())}))(t)
	n.serve(sixVIP, ip_types.IP_API_PROTO_UDP, cnat.CNAT_LB_TYPE_DEFAULT, sixEnds[1])
	self := netip.AddrPortFrom(sixEnds[1].Addr(), 4000)
	request := n.heard(1, self, sixVIP)
	if request.src.Addr() != sixClient.Addr().Prev() || request.dst != sixEnds[1] {
		t.Fatalf("a request: %v", request)
	}
	if got, want := n.heard(1, sixEnds[1], request.src), (arrival{"vd1", sixVIP, self}); got != want {
		t.Errorf("its answer: %v, not %v", got, want)
	}
}
