package containeridx

import (
	"fmt"
	"net/netip"
	"testing"
)

func listOf(ids ...string) (l List) {
	for _, id := range ids {
		l.Put(id, "ns-"+id[:1], "pod-"+id, "", Interface{Network: "k8s", IfName: "eth0", VppIf: "host-" + id})
	}
	return l
}

// Goal: a list is in the order of IDs, a container with two attachments is in it once, and each index finds what it says.
func TestList(t *testing.T) {
	l := listOf("b2", "a1", "b1")
	l.Put("b1", "ns-b", "pod-b1", "", Interface{Network: "storage", IfName: "net1", VppIf: "memif1/0"})
	got := fmt.Sprint(l.IDs(), l.PodNamespace("ns-b").IDs(), l.PodName("pod-a1").IDs(), l.PodIf("memif1/0").IDs(), l.PodIf("").IDs(),
		len(l.Container("b1").Interfaces), l.Container("c") == nil)
	if want := "[a1 b1 b2] [b1 b2] [a1] [b1] [] 2 true"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// Goal: the changes between two lists make the one of the other. Method: lists that gain, lose and change containers.
func TestChanges(t *testing.T) {
	changed := listOf("b")
	changed[0].Interfaces[0].IP = netip.MustParseAddr("10.1.1.2")
	for _, test := range []struct {
		before, now List
		want        string
	}{
		{nil, listOf("a", "b"), "+a +b "},
		{listOf("a", "b"), nil, "-a -b "},
		{listOf("a", "c"), listOf("b", "c", "d"), "-a +b +d "},
		{listOf("b"), changed, "+b "},
		{listOf("a"), listOf("a"), ""},
	} {
		got := ""
		for _, e := range Changes(test.before, test.now) {
			sign := "+"
			if e.Del {
				sign = "-"
			}
			if e.Value.ID != e.Name {
				t.Errorf("%s is told with %s", e.Name, e.Value.ID)
			}
			got += sign + e.Name + " "
		}
		if got != test.want {
			t.Errorf("%q, not %q", got, test.want)
		}
	}
}
