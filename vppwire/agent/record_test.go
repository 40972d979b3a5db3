package agent_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	. "github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

func freshAllocator(t testing.TB) *contiv.Allocator {
	alloc, err := contiv.New(contiv.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return alloc
}

// TestRecordText: each kind of record reads back as it was written, and broken lines are refused with a reason.
func TestRecordText(t *testing.T) {
	for _, r := range []Record{
		{Kind: RecordIPAM, IPAM: ipam.Record{Op: ipam.OpLease, Owner: story.Owner("c1"), Addr: netip.MustParseAddr("10.1.1.2"),
			Prefix: netip.MustParsePrefix("10.1.1.0/24"), At: time.Unix(7, 9).UTC()}},
		{Kind: RecordSandbox, Number: 1, Sandbox: Sandbox{Owner: story.Owner("c1"), Netns: "/run/netns/a b", PodNamespace: "-", PodName: `q"\`, PodUID: ""}},
		{Kind: RecordSandbox, Number: 8192, Sandbox: Sandbox{Owner: story.Owner("c1"), Netns: "/x", PodName: "\xff\n", PodUID: "ü"}},
		{Kind: RecordGone, Sandbox: Sandbox{Owner: story.Owner("c1")}},
		{Kind: RecordNode, NodeID: 1<<32 - 1, NodeUID: "u"},
		{Kind: RecordNode, NodeID: 1, NodeAddress: netip.MustParsePrefix("192.168.16.7/24")},
		{Kind: RecordPools, Pools: story.Pools(9, "10.1.0.0/16", 24)},
		{Kind: RecordPools, Pools: Pools{Generation: 3, PodSubnet: netip.MustParsePrefix("10.1.0.0/16"), PodSubnetOneNodePrefixLen: 24,
			Second: FamilyPools{PodSubnet: netip.MustParsePrefix("fd00:1::/48"), PodSubnetOneNodePrefixLen: 64, DefaultGateway: netip.MustParseAddr("fd00::1")}}},
		{Kind: RecordPools, Pools: Pools{External: true, DefaultGateway: netip.MustParseAddr("fd00::1")}},
		{Kind: RecordBoot, Boot: "778b1aa9"},
		{Kind: RecordBoot},
		{Kind: RecordName, Name: "node-1"},
		{Kind: RecordClock, Began: time.Unix(3, 5).UTC()},
		{Kind: RecordLease, NodeAddress: netip.MustParsePrefix("192.168.16.7/24")},
	} {
		back, err := ParseRecord(r.String())
		if err != nil || back != r {
			t.Errorf("%q reads back as %+v, %v", r, back, err)
		}
		if strings.Contains(r.String(), "\n") {
			t.Errorf("%q is more than one line", r)
		}
	}
	for text, want := range map[string]string{
		"": "unknown kind", "node 1": "too few", "boot": "empty field", "boot a b": "too many", "boot  a": "empty field", `boot "a`: "quoted", `boot "a"b`: "no space",
		"node 0 u -": "number", "node 1 u 1.2.3": "no '/'", "gone x": "owner", "pools 1 10.1.2.3/16": "host bits", "ipam lease": "5 fields",
		"sandbox k8s/c/e 0 /x - - -": "number", "pools 1 - 0 - 0 - - - - maybe": "flag",
	} {
		if _, err := ParseRecord(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, not %q", text, err, want)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, text := range []string{
		"ipam lease k8s/c1/eth0 10.1.1.2 10.1.1.0/24 7", "sandbox k8s/c1/eth0 3 /run/netns/c1 default web-0 uid", "gone k8s/c1/eth0",
		`node 5 "a b" 192.168.16.5/24`, "boot -", "pools 1 10.1.0.0/16 24 - 0 - - - fd00::1 true",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRecord(text)
		if err != nil {
			return
		}
		back, err := ParseRecord(r.String())
		if err != nil || back != r {
			t.Errorf("%q became %q, which reads as %+v, %v", text, r, back, err)
		}
	})
}

// TestRestoreContradictions: a journal with lines that cannot be true is served without them. Method: each bad line is
// put into a good journal; the good pod must be there, the bad one not, an error logged, and the next snapshot clean.
func TestRestoreContradictions(t *testing.T) {
	good := []string{
		"boot b", "pools 1 10.1.0.0/16 24 172.30.0.0/16 24 192.168.16.0/24 192.168.30.0/24 - - false", "node 1 uid-n1 -",
		"ipam block - 10.1.1.1 10.1.1.0/24 1", "ipam lease k8s/c1/eth0 10.1.1.2 10.1.1.0/24 1", "sandbox k8s/c1/eth0 1 /run/netns/c1 default web-0 u0",
	}
	for _, c := range []struct {
		bad  []string
		logs string
	}{
		{[]string{"ipam lease k8s/c2/eth0 10.1.1.2 10.1.1.0/24 2", "sandbox k8s/c2/eth0 2 /run/netns/c2 default web-1 u1"}, "left out"},
		{[]string{"ipam lease k8s/c2/eth0 10.9.1.2 10.9.1.0/24 2"}, "left out"},
		{[]string{"ipam lease k8s/c2/eth0 10.1.1.3 10.1.1.0/24 2"}, "no sandbox"},
		{[]string{"sandbox k8s/c2/eth0 2 /run/netns/c2 default web-1 u1"}, "no address"},
		{[]string{"pools 2 10.1.0.0/16 24 10.1.0.0/16 24 - - - - false"}, "left out"},
		{[]string{"ipam release k8s/c9/eth0 10.1.1.9 10.1.1.0/24 2"}, "left out"},
	} {
		alloc := freshAllocator(t)
		a, err := New(story.Config("n1"), alloc)
		if err != nil {
			t.Fatal(err)
		}
		var records []Record
		for _, text := range append(append([]string{}, good...), c.bad...) {
			r, err := ParseRecord(text)
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, r)
		}
		logged := ""
		for _, e := range a.Step(time.Unix(10, 0), Restored{Records: records, Boot: "b"}) {
			if e, ok := e.(Log); ok {
				logged += e.Message + "\n"
			}
		}
		if !strings.Contains(logged, c.logs) {
			t.Errorf("%q: logged %q, not %q", c.bad, logged, c.logs)
		}
		var pods []string
		for p := range a.Attachments() {
			pods = append(pods, p.Sandbox.PodName+" "+p.Lease.Addr.String())
		}
		if got := strings.Join(pods, ","); got != "web-0 10.1.1.2" || a.ID() != 1 {
			t.Errorf("%q: attached %s with ID %d", c.bad, got, a.ID())
		}
		again, err := New(story.Config("n1"), freshAllocator(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range again.Step(time.Unix(10, 0), Restored{Records: a.Snapshot(), Boot: "b"}) {
			if e, ok := e.(Log); ok {
				t.Errorf("%q: the snapshot logs %q", c.bad, e.Message)
			}
		}
	}
}

// TestCompaction: the journal does not grow with churn, and the compacted one restores the same state.
func TestCompaction(t *testing.T) {
	l := story.New(t)
	b := l.Machine("n1")
	b.Start()
	b.Tell()
	l.Settle()
	b.Add("stays", "c0")
	longest := 0
	for i := range 200 {
		name := "c" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		b.Add("p", name)
		l.Settle()
		b.Del(name)
		l.Settle()
		longest = max(longest, len(b.Journal))
	}
	if longest > 120 {
		t.Errorf("the journal grew to %d lines", longest)
	}
	before := b.State()
	b.Kill()
	b.Start()
	b.Tell()
	l.Settle()
	if after := b.State(); after != before {
		t.Errorf("restored as\n%s\nwas\n%s", after, before)
	}
}
