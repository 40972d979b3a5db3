package agent_test

import (
	"net/netip"
	"strings"
	"testing"

	. "github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// TestNodeShown: what a node shows of itself and its pods, before and after there is something to tell.
func TestNodeShown(t *testing.T) {
	l := story.New(t)
	b := l.Machine("n1")
	b.Config.PodInterconnect = PodInterconnectVeth // an interface for each pod
	b.Start()
	a := b.Agent
	if n := a.Node(); n.ID != 0 || n.Address.IsValid() || len(a.Blocks())+len(a.Reserved()) > 0 || a.ID() != 0 {
		t.Errorf("a node without ID has addresses: %+v", n)
	}
	b.Step(HostAddresses{Addrs: []netip.Addr{netip.MustParseAddr("10.20.0.1")}})
	b.Tell()
	l.Settle()
	b.Add("web-0", "c1")
	b.Add("web-1", "c2")
	l.Settle()
	var shown []string
	for p := range a.Attachments() {
		if !strings.HasPrefix(p.Interface, "host-vd") {
			t.Errorf("interface of %s is %q", p.Sandbox.PodName, p.Interface)
		}
		shown = append(shown, p.Sandbox.PodName+" "+p.Lease.Addr.String())
	}
	if got := strings.Join(shown, ", "); got != "web-0 10.1.1.2, web-1 10.1.1.3" {
		t.Errorf("pods are %s", got)
	}
	reserved := []string{}
	for _, r := range a.Reserved() {
		reserved = append(reserved, r.String())
	}
	if got := strings.Join(reserved, " "); got != "10.1.1.0 10.1.1.1 10.1.1.254 10.1.1.255" {
		t.Errorf("reserved are %s", got)
	}
	n := a.Node()
	if n.ID != 1 || n.Address.String() != "192.168.16.1/24" || len(n.HostAddrs) != 1 || n.NIC != "" || a.Mode().InterconnectName() != "host-vpp2" {
		t.Errorf("node is %+v", n)
	}
}
