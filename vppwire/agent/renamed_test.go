package agent

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
)

// Goal: an agent acts on nothing of a journal that its machine wrote as another node, and keeps none of it; one without a name, of an older
// version, is its own. Method: a journal with an ID, a block and a pod, read by both names; what the agent holds and writes first.
func TestJournalOfAnotherNode(t *testing.T) {
	at := time.Unix(1000, 0)
	block := netip.MustParsePrefix("10.1.1.0/24")
	owner := ipam.Owner{Network: "k8s", ContainerID: "c1", IfName: "eth0"}
	journal := []Record{
		{Kind: RecordBoot, Boot: "b"},
		{Kind: RecordNode, NodeID: 1, NodeUID: "uid-n1"},
		{Kind: RecordIPAM, IPAM: ipam.Record{Op: ipam.OpBlock, Addr: netip.MustParseAddr("10.1.1.1"), Prefix: block, At: at}},
		{Kind: RecordIPAM, IPAM: ipam.Record{Op: ipam.OpLease, Owner: owner, Addr: netip.MustParseAddr("10.1.1.2"), Prefix: block, At: at}},
		{Kind: RecordSandbox, Number: 1, Sandbox: Sandbox{Owner: owner, Netns: "/run/netns/c1", PodNamespace: "default", PodName: "web", PodUID: "u"}},
	}
	for _, c := range []struct {
		named, node string
		kept        bool
	}{{"", "n1", true}, {"n1", "n1", true}, {"n1", "n9", false}} {
		records := journal
		if c.named != "" {
			records = append([]Record{{Kind: RecordName, Name: c.named}}, journal...)
		}
		alloc, err := contiv.New(contiv.Config{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := New(Config{NodeName: c.node, TCPstackDisabled: true, TCPChecksumOffloadDisabled: true, MTUSize: 1450}, alloc)
		if err != nil {
			t.Fatal(err)
		}
		var wrote []string
		replaced, told := false, false
		for _, e := range a.Step(at, Restored{Records: records, Boot: "b"}) {
			switch e := e.(type) {
			case Persist:
				replaced = replaced || e.Replace
				for _, r := range e.Records {
					wrote = append(wrote, r.String())
				}
			case Log:
				told = told || strings.Contains(e.Message, "it is of node n1, which this machine was")
			}
		}
		text := strings.Join(wrote, "\n")
		if held := a.ids.Claim().ID == 1 && len(a.pods.byOwner) == 1; held != c.kept {
			t.Errorf("journal of %q read by %s: ID %d, %d pods", c.named, c.node, a.ids.Claim().ID, len(a.pods.byOwner))
		}
		if named := strings.Contains(text, "name "+c.node); named != (c.named != c.node) || replaced == c.kept || told == c.kept || !c.kept && strings.Contains(text, "10.1.1.") {
			t.Errorf("journal of %q read by %s: replaced %t, told %t, wrote\n%s", c.named, c.node, replaced, told, text)
		}
	}
}
