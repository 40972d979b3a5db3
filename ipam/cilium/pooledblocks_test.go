package cilium_test

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// Goal: a node with blocks of several pools gives each owner an address of the pool that it asked for or none, and asks
// for each pool what the owners of that pool need alone. Method: random owners that come and go, against counts kept
// beside.
func TestBlocksOfSeveralPools(t *testing.T) {
	pools := map[string]netip.Prefix{"default": netip.MustParsePrefix("10.1.0.0/28"), "blue": netip.MustParsePrefix("10.1.1.0/28"), "red": netip.MustParsePrefix("10.1.2.0/29")}
	names := []string{"default", "blue", "red"}
	poolOf := func(block netip.Prefix) string {
		for _, name := range names {
			if pools[name].Overlaps(block) {
				return name
			}
		}
		return ""
	}
	rapid.Check(t, func(t *rapid.T) {
		pick := func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(t, label) }
		n, err := cilium.NewNode(cilium.NodeConfig{Pick: pickFunc(pick), PoolOf: poolOf})
		if err != nil {
			t.Fatal(err)
		}
		now := time.Unix(0, 0)
		if _, err := n.SetBlocks(now, []netip.Prefix{pools["red"], pools["default"], pools["blue"]}); err != nil {
			t.Fatal(err)
		}
		held := map[string][]ipam.Owner{}
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			name := rapid.SampledFrom(names).Draw(t, "pool")
			if list := held[name]; len(list) > 0 && rapid.IntRange(0, 2).Draw(t, "leaves") == 0 {
				n.Release(now, list[0])
				held[name] = list[1:]
				continue
			}
			o := ipam.Owner{Network: "k8s", ContainerID: fmt.Sprint(i), IfName: "eth0"}
			want := name
			if want == "default" && i%2 == 0 {
				want = ""
			}
			before := n.FreeOf(now, name)
			l, _, err := n.Allocate(now, o, ipam.Want{Pool: want})
			switch {
			case before == 0 && !errors.Is(err, ipam.ErrExhausted):
				t.Fatalf("%s is full and gave %v: %v", name, l, err)
			case before > 0 && (err != nil || !pools[name].Contains(l.Addr)):
				t.Fatalf("%s has %d free and gave %v: %v", name, before, l, err)
			case err == nil:
				held[name] = append(held[name], o)
			}
		}
		for _, name := range names {
			d := cilium.NodeDemand{Pool: name}
			need := len(held[name]) + 1 // the router's
			if len(held[name]) == 0 {
				need = 0
			}
			if got := d.Needed(now, n); got != need {
				t.Fatalf("%s needs %d, want %d", name, got, need)
			}
			if excess := d.Excess(n, need); (len(excess) == 1) != (need == 0) || need == 0 && excess[0] != pools[name] {
				t.Fatalf("%s with %d owners gives back %v", name, len(held[name]), excess)
			}
		}
	})
}

// pickFunc is a Picker.
type pickFunc func(label string, n int) int

// Pick implements cilium.Picker.
func (f pickFunc) Pick(label string, n int) int { return f(label, n) }
