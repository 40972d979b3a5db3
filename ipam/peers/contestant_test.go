package peers

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
)

// slash16 is what addresses are given from.
var slash16 = netip.MustParsePrefix("10.1.0.0/16")

// fills are in tenths of a percent.
var fills = [...]int{0, 500, 900, 990, 999}

// scattered reports whether index i of 2^16 is taken at a fill. Free ones are evenly far apart, as after a long churn.
func scattered(i, fill int) bool { return i*7919%1000 < fill }

// class says what a contestant keeps: only contestants of one class do the same work.
type class string

const (
	bare   class = "set"    // which addresses are taken
	owning class = "owners" // and who holds each, idempotent by owner
	blocks class = "CIDRs"  // which node CIDRs are taken
	draw   class = "-"      // nothing: a part of the others' work
)

// contestant is one address allocator in a race.
type contestant struct {
	name string
	// module is where a peer comes from; empty for what is ours.
	module string
	class  class
	// note says why one of ours runs beside its own better form, which alone has the goal; mostly empty.
	note string
	// fill makes an allocator with so many tenths of a percent of 2^16 taken, scattered, and returns its run: n times one
	// address (or block) and back.
	fill func(fill int) (run func(n int) error, err error)
}

func (c contestant) ours() bool { return c.module == "" }

// title names a peer with its version, as go.mod has it.
func (c contestant) title() string {
	if c.ours() {
		return c.name
	}
	return c.name + " " + version(c.module)
}

// version is that of a module in go.mod; a test's binary does not know it.
func version(module string) string {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		return "(" + err.Error() + ")"
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == module && strings.HasPrefix(f[1], "v") {
			return f[1]
		}
	}
	return "(not in go.mod)"
}

// leftOut are peers of the same field that do not take part, with the reason.
var leftOut = [...]string{
	"whereabouts, kube-ovn, spiderpool, github.com/cilium/ipam: not to be had as Go modules (asked in 2026)",
	"NetBox, phpIPAM, Calico IPAM: they need a database or an API server beside them, so the figures would be its",
}

// everybody is who takes part in the race for addresses.
func everybody() []contestant {
	var all []contestant
	all = append(all, ourSets()...)
	all = append(all, ourOwners()...)
	all = append(all, ciliumRange(), kubernetesServices(), goIPAM(), awsDatastore())
	return all
}

// dice picks for contestants that start their searches anywhere, with the source that Cilium's range uses. Ours is
// built for cilium.Spread, which costs a third and reuses addresses later; with dice it shows what that is worth.
type dice struct{}

func (dice) Pick(_ string, n int) int { return rand.IntN(n) }

// containerID is as kubelet's runtimes make them: 64 hexadecimal digits.
func containerID(n int) string { return fmt.Sprintf("%064x", uint64(n)*0x9e3779b97f4a7c15) }

func owner(n int) ipam.Owner {
	return ipam.Owner{Network: "k8s-pod-network", ContainerID: containerID(n), IfName: "eth0"}
}

// newcomers come and go in the races; 1,024 of them, so that no cache line is warm for luck.
const newcomers = 1 << 10

func newcomer(n int) int { return 1<<20 + n&(newcomers-1) }

// nth is the i-th address of 10.1.0.0/16.
func nth(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}) }

// percent writes tenths of a percent.
func percent(fill int) string {
	return strings.TrimSuffix(fmt.Sprintf("%d.%d", fill/10, fill%10), ".0") + " %"
}
