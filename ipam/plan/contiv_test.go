package plan

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// drawPrefix is a prefix of the length in a small corner of the private ranges, so that draws meet each other.
func drawPrefix(t *rapid.T, name string, shortest, longest int) netip.Prefix {
	a := netip.AddrFrom4([4]byte{10, byte(rapid.IntRange(0, 3).Draw(t, name+" 2")), byte(rapid.IntRange(0, 255).Draw(t, name+" 3")), 0})
	return netip.PrefixFrom(a, rapid.IntRange(shortest, longest).Draw(t, name+" bits")).Masked()
}

func drawContiv(t *rapid.T) contiv.IPAMConfig {
	text := func(name string, shortest, longest int) string {
		if rapid.IntRange(0, 4).Draw(t, name) == 0 {
			return ""
		}
		return drawPrefix(t, name, shortest, longest).String()
	}
	c := contiv.IPAMConfig{
		PodSubnetCIDR: text("pods", 18, 26), PodSubnetOneNodePrefixLen: rapid.SampledFrom([]int{0, 22, 25, 27, 28, 29, 30}).Draw(t, "pods one"),
		VPPHostSubnetCIDR: text("host", 18, 26), VPPHostSubnetOneNodePrefixLen: rapid.SampledFrom([]int{0, 24, 27, 28, 30, 31}).Draw(t, "host one"),
		NodeInterconnectCIDR: text("nodes", 22, 31), VXLANCIDR: text("vxlan", 22, 31), ServiceCIDR: text("service", 16, 24),
		NodeInterconnectDHCP: rapid.IntRange(0, 5).Draw(t, "dhcp") == 0, UseExternalIPAM: rapid.IntRange(0, 5).Draw(t, "external") == 0,
	}
	if rapid.Bool().Draw(t, "gateway") {
		c.DefaultGateway = fmt.Sprintf("10.%d.0.%d", rapid.IntRange(0, 3).Draw(t, "gateway 2"), rapid.IntRange(0, 255).Draw(t, "gateway 4"))
	}
	if rapid.IntRange(0, 3).Draw(t, "pod if") == 0 {
		c.PodIfIPCIDR = drawPrefix(t, "pod if", 20, 28).String()
	}
	return c
}

// Goal: what a Contiv plan says fits is what fits, and Contiv refuses a configuration exactly if the lint finds an
// error, but for pod interfaces, which Contiv does not check. Method: random small configurations; nodes against IDs
// claimed until one has no addresses, pods against an allocator that is asked until it is exhausted.
func TestContivFits(t *testing.T) {
	good := 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawContiv(t)
		p, err := Make(Contiv{c}, Cluster{})
		if err != nil {
			t.Fatal(err)
		}
		resolved, refused := c.Resolve()
		wrong := 0
		for _, f := range p.Findings {
			if f.Severity == Error && f.Name != rulePodIf {
				wrong++
			}
		}
		if (refused != nil) != (wrong > 0) {
			t.Fatalf("refused: %v, findings: %v", refused, p.Findings)
		}
		if refused != nil {
			return
		}
		good++
		if read, err := Read(c); err != nil || !reflect.DeepEqual(read, resolved) {
			t.Fatalf("read %+v %v, want %+v", read, err, resolved)
		}
		nodes := uint64(0)
		for id := uint32(1); ; id++ {
			var err error
			if resolved.External {
				_, err = resolved.NodeWithBlock(id, netip.PrefixFrom(resolved.PodSubnet.Addr(), resolved.PodSubnetOneNodePrefixLen))
			} else {
				_, err = resolved.Node(id)
			}
			if err != nil {
				break
			}
			nodes++
		}
		if p.Nodes != nodes {
			t.Fatalf("%d nodes, want %d: %v", p.Nodes, nodes, p)
		}
		block := netip.PrefixFrom(resolved.PodSubnet.Addr(), resolved.PodSubnetOneNodePrefixLen)
		a, err := contiv.New(contiv.Config{})
		if err != nil {
			t.Fatal(err)
		}
		pods := exhaust(t, a, block)
		if resolved.PodIf.IsValid() {
			interfaces := uint64(0)
			for interfaces < pods {
				if _, err := resolved.PodIfAddr(uint32(interfaces + 1)); err != nil {
					break
				}
				interfaces++
			}
			pods = interfaces
		}
		if p.PodsPerNode != pods {
			t.Fatalf("%d pods, want %d: %v", p.PodsPerNode, pods, p)
		}
	})
	if good == 0 {
		t.Error("no configuration was good")
	}
}

// exhaust asks an allocator for addresses of blocks until it has no more, and counts them.
func exhaust(t *rapid.T, a ipam.NodeAllocator, blocks ...netip.Prefix) (n uint64) {
	if _, err := a.SetBlocks(epoch, blocks); err != nil {
		return 0
	}
	for ; ; n++ {
		_, _, err := a.Allocate(epoch, ipam.Owner{Network: "n", ContainerID: fmt.Sprint(n), IfName: "eth0"}, ipam.Want{})
		switch {
		case errors.Is(err, ipam.ErrExhausted):
			return n
		case err != nil:
			t.Fatal(err)
		}
	}
}

// Goal: a range can be widened to exactly what the plan says: that prefix meets nothing, and one bit more would.
// Method: random configurations; overlaps looked for one by one.
func TestRoomiest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := Make(Contiv{drawContiv(t)}, Cluster{})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range p.Ranges {
			free := func(wider netip.Prefix) bool {
				for k, o := range p.Ranges {
					if k != i && o.Prefix.Overlaps(wider) {
						return false
					}
				}
				for _, n := range usualNetworks {
					if n.Prefix.Overlaps(wider) {
						return false
					}
				}
				for _, all := range private {
					if all.Bits() <= wider.Bits() && all.Contains(wider.Addr()) {
						return true
					}
				}
				return false
			}
			wide := r.Roomiest
			if !wide.Contains(r.Prefix.Addr()) || wide.Bits() > r.Prefix.Bits() || wide != r.Prefix && !free(wide) {
				t.Fatalf("%s could become %s", r, wide)
			}
			if wide.Bits() > 0 {
				if one := netip.PrefixFrom(wide.Addr(), wide.Bits()-1).Masked(); free(one) {
					t.Fatalf("%s could become %s, not only %s", r, one, wide)
				}
			}
		}
	})
}
