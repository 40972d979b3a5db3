package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Traffic is what a probe of a lab has found.
type Traffic struct {
	// Places counts the pods that could be asked: those with an address on nodes whose VPP runs.
	Places int
	// Pings counts answered pairs, of Pairs that were asked; Median and Slowest are round trips.
	Pairs, Pings    int
	Median, Slowest time.Duration
	// TCP, UDP and Edge count pairs whose bytes came back right, and whose longest packet is the MTU.
	TCP, UDP, Edge int
	// NotTried counts pairs that the time did not suffice for.
	NotTried int
	// Failed are lines that say who did not reach whom and how.
	Failed []string
	// unanswered is the first ping without an answer.
	unanswered probe.Pair
}

// Wanted is what a probe does; the zero Wanted pings all pairs of a small lab.
type Wanted struct {
	// Pairs bounds the pairs that are pinged, 0 is DefaultPairs; Deep those that also get TCP, UDP and the MTU's edge.
	Pairs, Deep int
	// Whole: pings are as long as the pods' MTU, and nobody may fragment them.
	Whole bool
	// Hosts: nodes' Linux sides ping pods and are pinged by them, beside the pairs of pods.
	Hosts bool
	// Within bounds the whole probe, 0 is ProbeLimit.
	Within time.Duration
}

// ProbeLimit is how long a probe takes at the most, unless it is told otherwise.
const ProbeLimit = 2 * time.Minute

// Nothing says why a probe says nothing about a lab: it had nobody to ask; empty when it had.
func (t Traffic) Nothing() string {
	if t.Places >= 2 {
		return ""
	}
	return fmt.Sprintf("nothing was probed: two pods with an address on nodes whose VPP runs are needed, and the lab has %d", t.Places)
}

// DefaultPairs is every pair of 32 pods; larger labs are sampled.
const DefaultPairs = 1000

// patience is how long one probe may take. VPP asks for a neighbor's MAC first and drops the packet that made it ask.
const patience = 5 * time.Second

// pingBytes is the payload of ping's usual packet.
const pingBytes = 56

// payloadBytes crosses every link in many segments: broken checksum offload shows after 76 KB.
const payloadBytes = 256 << 10

// Places are the lab's pods that have an address, and their nodes' Linux sides, as probes see them.
func (w *World) Places() []probe.Place {
	var out []probe.Place
	for _, n := range w.inOrder() {
		if vpp, _ := n.running(); vpp == nil {
			continue // nobody promises anything
		}
		for _, p := range n.kubelet.sandboxes() {
			if p.Addr.IsValid() {
				out = append(out, probe.Place{Name: n.name + " " + strings.TrimPrefix(p.Pod, "default/"), Netns: n.machine.Netns(p.Netns), Addr: p.Addr})
			}
		}
	}
	return out
}

// Probe sends real packets between the lab's pods.
func (w *World) Probe(ctx context.Context, want Wanted) Traffic {
	if want.Pairs == 0 {
		want.Pairs = DefaultPairs
	}
	if want.Within == 0 {
		want.Within = ProbeLimit
	}
	ctx, cancel := context.WithTimeout(ctx, want.Within)
	defer cancel()
	places := w.Places()
	if len(places) < 2 {
		return Traffic{Places: len(places)}
	}
	pairs := probe.AllPairs(places, want.Pairs)
	if want.Hosts {
		pairs = append(pairs, w.hostPairs()...)
	}
	pairs = w.allowedPairs(pairs)
	out := Traffic{Places: len(places), Pairs: len(pairs)}
	var times []time.Duration
	mtu := int(w.scenario().Config.Wiring.MTU)
	size := func(to netip.Addr) int {
		if want.Whole {
			return mtu - probe.PingHeaders(to)
		}
		return pingBytes
	}
	for _, o := range probe.OfEachFamily(pairs, func(of []probe.Pair) []probe.Outcome {
		return probe.Mesh(ctx, of, size(of[0].To.Addr), want.Whole, patience)
	}) {
		switch {
		case errors.Is(o.Err, context.DeadlineExceeded), errors.Is(o.Err, context.Canceled):
			out.NotTried++
			continue
		case o.Err != nil:
			if len(out.Failed) == 0 {
				out.unanswered = probe.Pair{From: o.From, To: o.To}
			}
			out.Failed = append(out.Failed, fmt.Sprintf("ping of %d bytes: %s", size(o.To.Addr)+probe.PingHeaders(o.To.Addr), o.Error()))
			continue
		}
		out.Pings++
		times = append(times, o.RTT)
	}
	if len(times) > 0 {
		slices.Sort(times)
		out.Median, out.Slowest = times[len(times)/2], times[len(times)-1]
	}
	for _, p := range w.allowedPairs(probe.AllPairs(places, max(0, want.Deep))) {
		if want.Deep == 0 {
			break
		}
		for _, kind := range []struct {
			name  string
			count *int
			probe func() probe.Outcome
		}{
			{"TCP", &out.TCP, func() probe.Outcome { return probe.TCP(ctx, p, payloadBytes, patience) }},
			{"UDP", &out.UDP, func() probe.Outcome { return probe.UDP(ctx, p, 1200, 20, patience) }},
			{"MTU", &out.Edge, func() probe.Outcome { return probe.Edge(ctx, p, mtu, patience) }},
		} {
			if ctx.Err() != nil {
				out.NotTried++
			} else if o := kind.probe(); o.Err != nil {
				out.Failed = append(out.Failed, kind.name+": "+o.Error())
			} else {
				*kind.count++
			}
		}
	}
	if out.NotTried > 0 {
		out.Failed = append(out.Failed, fmt.Sprintf("%d probes were not tried within %s", out.NotTried, want.Within))
	}
	return out
}

// probeOrder probes a standing lab.
func probeOrder(ctx context.Context, w *World, body []byte) (any, error) {
	var want Wanted
	if err := json.Unmarshal(body, &want); err != nil {
		return nil, err
	}
	return w.Probe(ctx, want), nil
}

// reachableLaw is the law of package check that real packets judge too: what the tables promise, packets do.
const reachableLaw = "reachable"

// checkTraffic pings what the law is about to prove from the tables; its error is a violation. A scenario that does not
// want the law gets no pings.
func (w *World) checkTraffic(ctx context.Context) error {
	if w.scenario().Laws != nil && !slices.Contains(w.scenario().Laws, reachableLaw) {
		return nil
	}
	t := w.Probe(ctx, Wanted{Pairs: pingedPairs, Whole: true, Hosts: true})
	if why := t.Nothing(); why != "" {
		w.Record.Note(why)
		return nil
	}
	w.Record.Note(fmt.Sprintf("%d of %d pings of the MTU's size with DF answered, half of them within %s", t.Pings, t.Pairs, t.Median.Round(time.Microsecond)))
	if len(t.Failed) == 0 || ctx.Err() != nil {
		return nil
	}
	v := &fact.Violation{Law: reachableLaw, At: w.Now(),
		What: fmt.Sprintf("the lab is quiet, but %d of %d real pings of the MTU's size with DF are not answered: %s", len(t.Failed), t.Pairs, t.Failed[0])}
	if path, ok := w.wayOf(ctx, t.unanswered); ok {
		v.What += "; by the tables it is " + path.Outcome.String()
		v.After = path.String()
	}
	return v
}

// pingedPairs bounds the pings of one check within a scenario: all pairs of nine pods, a sample of more.
const pingedPairs = 72
