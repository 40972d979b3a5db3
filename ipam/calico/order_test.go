package calico

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
)

// Goal: a block's write comes about in Calico's order, and what is taken back where it does not is what had been written before it. Method:
// writes of one block, whole, and with one request that fails.
func TestOrder(t *testing.T) {
	cidr := netip.MustParsePrefix("10.1.0.0/30")
	empty := NewBlock(cidr, "a/1")
	one := empty.assign("a/1", []Use{{Handle: "k8s.1", Pod: "p"}})
	two := one.assign("a/1", []Use{{}, {Handle: "k8s.2"}})
	released, _ := one.Release("a/1", one.Addr(0))
	left := one.clone()
	left.Affinity = ""
	by := func(w WriteBlock, host string) WriteBlock { w.By = host; return w }
	stored := func(b Block) *Stored { return &Stored{Block: b, UID: "u", Version: 1} }
	for _, c := range []struct {
		name string
		w    WriteBlock
		fail string // the request that fails begins with this
		out  ipam.Outcome
		want string
	}{
		{"claim", write(Assign, nil, one), "", 0, "affinity a pending; handle k8s.1 1; block; affinity a confirmed"},
		{"claim that another was faster with", write(Assign, nil, one), "block", ipam.Conflict, "affinity a pending; handle k8s.1 1; block; affinity a ; handle k8s.1 0"},
		{"claim of which nobody knows", write(Assign, nil, one), "block", ipam.Unknown, "affinity a pending; handle k8s.1 1; block"},
		{"claim without a handle", write(Assign, nil, one), "handle", ipam.Refused, "affinity a pending; handle k8s.1 1; affinity a ; handle k8s.1 0"},
		{"assign", by(write(Assign, stored(one), two), "a/1"), "", 0, "affinity a pending; handle k8s.2 1; block; affinity a confirmed"},
		{"assign in vain", by(write(Assign, stored(one), two), "a/1"), "block", ipam.Conflict, "affinity a pending; handle k8s.2 1; block; handle k8s.2 0"},
		{"borrow", by(write(Assign, stored(one), two), "b/1"), "", 0, "handle k8s.2 1; block"},
		{"release", write(Release, stored(one), released), "", 0, "block; handle k8s.1 0"},
		{"release in vain", write(Release, stored(one), released), "block", ipam.Conflict, "block"},
		{"affinity given up", write(Tend, stored(one), left), "", 0, "affinity a pendingDeletion; block; affinity a "},
		{"empty block", write(Tend, stored(empty), NewBlock(cidr, "")), "", 0, "affinity a pendingDeletion; block; affinity a "},
		{"node that is gone", write(Tend, stored(one), NewBlock(cidr, "")), "", 0, "affinity a pendingDeletion; block; affinity a ; handle k8s.1 0"},
	} {
		o := NewOrder(c.w)
		var said []string
		for r, more := o.Next(); more; r, more = o.Next() {
			var text string
			switch r := r.(type) {
			case PutAffinity:
				text = fmt.Sprintf("affinity %s %s", r.Node, r.State)
			case PutHandle:
				text = fmt.Sprintf("handle %s %d", r.Handle, r.Count)
			case WriteBlock:
				text = "block"
			}
			said = append(said, text)
			out := ipam.Done
			if c.fail != "" && strings.HasPrefix(text, c.fail) {
				out, c.fail = c.out, "-"
			}
			o.Answer(Wrote{Outcome: out})
		}
		if got := strings.Join(said, "; "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		want := ipam.Done
		if c.fail == "-" {
			want = c.out
		}
		if o.Wrote().Outcome != want {
			t.Errorf("%s: %s, want %s", c.name, o.Wrote().Outcome, want)
		}
	}
}
