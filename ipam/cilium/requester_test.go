package cilium

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// Goal: what a node asks for and gives back, and what its agent hears of it, reads as it is meant: in which order, for
// which Node, and what a write without an answer changes. Method: golden stories; each command prints the effects of
// one event:
//
//	requester                                            a life of node a's requester
//	node-is [UID]                                        its own Node object
//	list|see|gone [has=POOL:CIDR:… …] [owner=UID] [old]  its resource, of a newer version unless it is old; none without owner
//	agent [needs=POOL:N …] [held=…] [used=…] [excess=…] [busy] [until=N]  its agent
//	wrote OUTCOME [has=…]                                an answer
//	after N                                              N seconds pass
func TestRequesterStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories/requester", func(t *testing.T, path string) {
		var r *Requester
		var now time.Time
		var revision int64
		var last uint64
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			step := func(ev Event) {
				for _, e := range r.Step(now, ev) {
					switch e := e.(type) {
					case WriteResource:
						last = e.ID
					case CreateResource:
						last = e.ID
					case WakeAt:
						if !e.At.IsZero() {
							fmt.Fprintf(&out, "wake +%s\n", e.At.Sub(now))
							continue
						}
					}
					fmt.Fprintf(&out, "%s\n", e.AppendText(nil))
				}
			}
			var x Object
			if d.HasArg("owner") {
				if !d.HasArg("old") {
					revision++
				}
				x = Object{CiliumNode: &CiliumNode{Metadata: ObjectMeta{Name: "a", UID: "r", ResourceVersion: fmt.Sprint(revision)}}, Revision: revision}
				for _, a := range d.CmdArgs {
					switch a.Key {
					case "owner":
						x.Owner = a.Vals[0]
					case "has":
						pool, cidrs, _ := strings.Cut(a.Vals[0], ":")
						x.Spec.IPAM.Pools.Allocated = append(x.Spec.IPAM.Pools.Allocated, PoolAllocation{Pool: pool, CIDRs: storyPrefixes(cidrs)})
					case "needs":
						x.Spec.IPAM.Pools.Requested = append(x.Spec.IPAM.Pools.Requested, storyRequest(a.Vals[0]))
					}
				}
			}
			switch d.Cmd {
			case "requester":
				r, now, revision = NewRequester("a"), epoch, 0
			case "node-is":
				var uid string
				if len(d.CmdArgs) > 0 {
					uid = d.CmdArgs[0].Key
				}
				step(NodeIs{uid})
			case "list":
				if !x.exists() {
					step(Listed{})
					break
				}
				step(Listed{[]Object{x}})
			case "see":
				step(Seen{x})
			case "gone":
				step(Gone{r.view})
			case "agent":
				a := AgentSeen{Idle: !d.HasArg("busy")}
				for _, arg := range d.CmdArgs {
					switch arg.Key {
					case "needs":
						a.Requests = append(a.Requests, storyRequest(arg.Vals[0]))
					case "held":
						a.Held = storyPrefixes(arg.Vals[0])
					case "used":
						a.Used = storyPrefixes(arg.Vals[0])
					case "excess":
						a.Excess = storyPrefixes(arg.Vals[0])
					case "until":
						n, _ := strconv.Atoi(arg.Vals[0])
						a.Until = now.Add(time.Duration(n) * time.Second)
					}
				}
				step(a)
			case "wrote":
				o, _ := storyOutcome(d.CmdArgs[0].Key)
				step(Wrote{ID: last, Outcome: o, Object: x})
			case "after":
				n, _ := strconv.Atoi(d.CmdArgs[0].Key)
				now = now.Add(time.Duration(n) * time.Second)
				step(Woke{})
			default:
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			if pending := r.Pending(); pending != "" {
				fmt.Fprintf(&out, "(%s)\n", pending)
			}
			return out.String()
		})
	})
}

func storyPrefixes(text string) (list []netip.Prefix) {
	for _, p := range strings.FieldsFunc(text, func(c rune) bool { return c == ':' }) {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}

func storyRequest(text string) PoolRequest {
	pool, n, _ := strings.Cut(text, ":")
	k, _ := strconv.Atoi(n)
	return PoolRequest{Pool: pool, Needed: PoolDemand{IPv4Addrs: k}}
}
