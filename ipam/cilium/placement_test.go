package cilium_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// coded is an error of EC2.
type coded string

func (c coded) Error() string     { return string(c) }
func (c coded) ErrorCode() string { return string(c) }

// Goal: more addresses come where there is room, by prefixes where they may and EC2 has any, else one by one, and never
// more than fit. Method: a table of interfaces, what is asked for, and what EC2 is asked for; "no /28" refuses prefixes.
func TestPlacement(t *testing.T) {
	for _, c := range []struct {
		has                    string // interfaces, each with its units
		most, left             int
		prefixes, whole, other bool
		count                  int
		want                   string
	}{
		{has: "a:", most: 3, left: 100, count: 2, want: "a 2"},
		{has: "a:", most: 3, left: 1, count: 2, want: "a 1"},
		{has: "a:1 1 1", most: 3, left: 100, count: 5, want: "new 3"},
		{has: "a:1 1 1", most: 3, left: 3, count: 5, want: "new 2"},
		{has: "a:1 1 1 b:1", most: 3, left: 100, count: 5, want: "b 2"},
		{has: "a:", most: 3, left: 100, prefixes: true, whole: true, count: 8, want: "a 1/28"},
		{has: "a:", most: 3, left: 100, prefixes: true, whole: true, count: 17, want: "a 2/28"},
		{has: "a:28", most: 3, left: 100, prefixes: true, whole: true, count: 90, want: "a 2/28"},
		{has: "a:28 28 28", most: 3, left: 100, prefixes: true, whole: true, count: 17, want: "new 2/28"},
		{has: "a:28 1", most: 3, left: 100, prefixes: true, whole: true, count: 40, want: "a 1/28"},       // no place for two
		{has: "a:28", most: 3, left: 100, prefixes: true, count: 9, want: "a 1/28, a 2"},                  // no /28: as many single ones as there are places
		{has: "a:28 28 28", most: 3, left: 100, prefixes: true, count: 9, want: "new 1/28, new 3"},        //
		{has: "a:28 28 28 b:1", most: 3, left: 100, prefixes: true, whole: true, count: 9, want: "b 2"},   // a node of single addresses from then on
		{has: "a:28 28 28 b:1", most: 3, left: 100, whole: true, count: 9, want: "b 2"},                   // switched off again
		{has: "a: b:28", most: 3, left: 5, prefixes: true, whole: true, count: 40, want: "a 1/28"},        //
		{has: "a:", most: 3, left: 100, prefixes: true, other: true, count: 8, want: "a 1/28, throttled"}, // any other refusal is one
	} {
		p := cilium.Placement{Most: c.most, Left: c.left, Prefixes: c.prefixes}
		for _, f := range strings.Fields(c.has) {
			if id, rest, ok := strings.Cut(f, ":"); ok {
				p.Interfaces = append(p.Interfaces, cilium.Interface{ID: id})
				f = rest
			}
			i := &p.Interfaces[len(p.Interfaces)-1]
			switch f {
			case "28":
				i.Units = append(i.Units, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(16 * len(i.Units))}), 28))
			case "1":
				i.Units = append(i.Units, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(len(i.Units))}), 32))
			}
		}
		var asked []string
		err := p.Assign(c.count, func(u cilium.Units) error {
			name := u.Interface
			if name == "" {
				name = "new"
			}
			text := fmt.Sprintf("%s %d", name, u.Count)
			if u.Prefixes {
				text += "/28"
			}
			asked = append(asked, text)
			switch {
			case c.other:
				return fmt.Errorf("assign: %w", coded("throttled"))
			case u.Prefixes && !c.whole:
				return fmt.Errorf("assign: %w", coded("InsufficientCidrBlocks"))
			}
			return nil
		})
		if e := coded(""); errors.As(err, &e) {
			asked = append(asked, e.Error())
		}
		if got := strings.Join(asked, ", "); got != c.want {
			t.Errorf("%+v: asked for %s", c, got)
		}
	}
}
