package calico

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
)

// addrs are the addresses of a Want, "" for none.
func addrs(list ...string) (out [2]netip.Addr) {
	for _, text := range list {
		if text != "" {
			a := netip.MustParseAddr(text)
			out[placeOf(ipam.PoolOf(a))] = a
		}
	}
	return out
}

// Goal: annotations are read as Calico's plugin reads them, and what cannot be read refuses the pod by the annotation's
// name instead of giving it any address. Method: a table.
func TestWantOf(t *testing.T) {
	tests := []struct {
		name           string
		pod, namespace map[string]string
		runtime        []netip.Addr
		want           Want // of Refused the beginning
	}{
		{name: "nothing"},
		{"an address", map[string]string{AddressAnnotation: `["10.0.0.7"]`}, nil, nil, Want{Addrs: addrs("10.0.0.7")}},
		{"pools by name and CIDR", map[string]string{PoolsAnnotation: `["a","10.0.0.0/16"]`}, nil, nil, Want{Pools: [2][]string{[]string{"a", "10.0.0.0/16"}}}},
		{"the namespace's pools", nil, map[string]string{PoolsAnnotation: `["a"]`}, nil, Want{Pools: [2][]string{[]string{"a"}}}},
		{"the pod's pools first", map[string]string{PoolsAnnotation: `["b"]`}, map[string]string{PoolsAnnotation: `["a"]`}, nil, Want{Pools: [2][]string{[]string{"b"}}}},
		{"an address says it all", map[string]string{AddressAnnotation: `["10.0.0.7"]`}, map[string]string{PoolsAnnotation: `["a"]`}, nil, Want{Addrs: addrs("10.0.0.7")}},
		{"a namespace asks for no address", nil, map[string]string{AddressAnnotation: `["10.0.0.7"]`}, nil, Want{}},
		{"the runtime's address", nil, nil, []netip.Addr{netip.MustParseAddr("fd00::7"), netip.MustParseAddr("10.0.0.8")}, Want{Addrs: addrs("10.0.0.8", "fd00::7")}},
		{"the annotation's first", map[string]string{AddressAnnotation: `["10.0.0.7"]`}, nil, []netip.Addr{netip.MustParseAddr("10.0.0.8")}, Want{Addrs: addrs("10.0.0.7")}},
		{"no JSON", map[string]string{AddressAnnotation: `10.0.0.7`}, nil, nil, Want{Refused: "what cannot be read: annotation " + AddressAnnotation + ": want a list"}},
		{"no text", map[string]string{PoolsAnnotation: `[7]`}, nil, nil, Want{Refused: "what cannot be read: annotation " + PoolsAnnotation + ": want a list"}},
		{"an empty list", map[string]string{PoolsAnnotation: `[]`}, nil, nil, Want{Refused: "what cannot be read: annotation " + PoolsAnnotation + ": the list is empty"}},
		{"two addresses", map[string]string{AddressAnnotation: `["10.0.0.7","10.0.0.8"]`}, nil, nil, Want{Refused: "what cannot be read: annotation " + AddressAnnotation + ": 2 addresses"}},
		{"no address", map[string]string{AddressAnnotation: `["ten"]`}, nil, nil, Want{Refused: "what cannot be read: annotation " + AddressAnnotation + `: "ten" is no address`}},
		{"one of each family", map[string]string{AddressAnnotation: `["fd00::1","10.0.0.7"]`}, nil, nil, Want{Addrs: addrs("10.0.0.7", "fd00::1")}},
		{"of one family the runtime's", map[string]string{AddressAnnotation: `["fd00::1"]`}, nil, []netip.Addr{netip.MustParseAddr("10.0.0.8")}, Want{Addrs: addrs("10.0.0.8", "fd00::1")}},
		{"a zone", map[string]string{AddressAnnotation: `["fd00::1%eth0"]`}, nil, nil, Want{Refused: "what cannot be read: annotation " + AddressAnnotation + `: "fd00::1%eth0" is no address`}},
		{"pools of both families", map[string]string{PoolsAnnotation6: `["six"]`}, map[string]string{PoolsAnnotation: `["a"]`, PoolsAnnotation6: `["b"]`}, nil,
			Want{Pools: [2][]string{{"a"}, {"six"}}}},
		{"an address of one family and a pool of the other", map[string]string{AddressAnnotation: `["fd00::1"]`, PoolsAnnotation6: `["six"]`, PoolsAnnotation: `["a"]`}, nil, nil,
			Want{Addrs: addrs("", "fd00::1"), Pools: [2][]string{{"a"}}}},
		{"many pools", map[string]string{PoolsAnnotation: `["a"` + strings.Repeat(`,"a"`, wantedMost) + `]`}, nil, nil, Want{Refused: "what cannot be read: annotation " + PoolsAnnotation + ": 65 of them"}},
	}
	for _, test := range tests {
		got := WantOf(test.pod, test.namespace, nil, test.runtime)
		if test.want.Refused != "" && strings.HasPrefix(got.Refused, test.want.Refused) {
			continue
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// Goal: AssignTo changes nothing but the one address, and refuses what Calico refuses. Method: each refusal once, with
// its reason, and the two ways to have it.
func TestAssignTo(t *testing.T) {
	block := func(cidr, affinity string, hosts ...string) Block {
		b := NewBlock(netip.MustParsePrefix(cidr), affinity)
		for i, h := range hosts {
			if h != "" {
				b = b.assignOne(i, h, Use{})
			}
		}
		return b
	}
	foreign := block("10.0.0.12/30", "a/1")
	foreign.Foreign = true
	blocks := []Block{block("10.0.0.0/30", "a/1", "", "b/1"), block("10.0.0.4/30", "b/1"), foreign}
	pools := Pools{Ranges: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/28")}, BlockBits: 30, MaxBlocks: 1}
	strict, fixed := pools, pools
	strict.Strict, fixed.Fixed = true, true
	for _, test := range []struct {
		pools Pools
		addr  string
		want  string // a block, or the end of an error
	}{
		{pools, "10.0.0.2", "affinity=a/1 1=b/1 2=a/1(h)"},
		{pools, "10.0.0.5", "affinity=b/1 1=a/1(h)"},
		{pools, "10.0.0.9", "affinity=a/1 1=a/1(h)"}, // beyond MaxBlocks, as Calico does for an address by name
		{pools, "10.0.0.1", ": b has it"},
		{pools, "10.0.0.13", ": block 10.0.0.12/30 gives no addresses"},
		{pools, "10.0.1.1", ": no pool in use has it"},
		{strict, "10.0.0.5", ": block 10.0.0.4/30 is of b, and addresses are not borrowed"},
		{fixed, "10.0.0.9", ": there is no block of it, and hosts claim none"},
	} {
		b, err := test.pools.AssignTo(blocks, "a/1", netip.MustParseAddr(test.addr), Use{Handle: "h"})
		got := b.String()
		if err != nil {
			got = strings.TrimPrefix(err.Error(), test.addr)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.addr, got, test.want)
		}
	}
}
