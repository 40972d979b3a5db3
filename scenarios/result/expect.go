package result

import (
	"context"
	"fmt"

	"github.com/vppdrill/vppdrill/scenarios"
)

// expectations compares the final state with the scenario's expect section.
func (r *run) expectations(ctx context.Context) {
	if r.over() || len(r.result.Unsupported) > 0 {
		return
	}
	snapshot, err := r.world.Snapshot(ctx)
	if err != nil {
		r.broken(fmt.Errorf("snapshot at %s: %w", scenarios.FormatDuration(r.world.Now()), err))
		return
	}
	attached := map[string]string{} // pods with an address, and their nodes
	pods := 0
	for _, n := range snapshot.Nodes {
		for _, p := range n.Pods {
			if p.Addr.IsValid() {
				pods++
				attached[p.Pod] = n.Name
			}
		}
	}
	e, sum := r.s.Expect, r.tally.summary(r.world.Now())
	ranOut := sum.Exhausted
	switch {
	case e.Exhausted != nil && *e.Exhausted && len(ranOut) == 0:
		r.result.Error = "expected a node to run out of addresses, but none did"
	case e.Exhausted != nil && !*e.Exhausted && len(ranOut) > 0:
		r.result.Error = fmt.Sprintf("expected no node to run out of addresses, but %s did", ranOut[0].Node)
		u := Unmet{Field: "exhausted", Seen: int64(len(ranOut)), SinceSeconds: ranOut[0].AtSeconds}
		for _, n := range ranOut {
			u.Objects = append(u.Objects, fmt.Sprintf("%s at %s: pods waited", n.Node, moment(n.AtSeconds)))
		}
		r.unmet(u)
	}
	for _, x := range [...]struct {
		field   string
		want    *int
		is      int64
		text    string
		differs func() (since float64, objects []string)
	}{
		{"pods", e.Pods, int64(pods), "expected %d attached pods at the end, but found %d",
			func() (float64, []string) { return r.witness.pods(attached, pods, *e.Pods) }},
		{"nodes", e.Nodes, int64(len(snapshot.Nodes)), "expected %d nodes at the end, but found %d",
			func() (float64, []string) { return r.witness.members(snapshot.Nodes, *e.Nodes) }},
		{"unscheduled", e.Unscheduled, sum.PodsUnscheduled, "expected %d pods without a node, but found %d", r.witness.class(r.tally, unscheduled)},
		{"waiting", e.Waiting, sum.PodsWaiting, "expected %d pods waiting for an address, but found %d", r.witness.class(r.tally, waiting)},
		{"refused", e.Refused, sum.PodsRefused, "expected %d pods refused, but found %d", r.witness.class(r.tally, refusedPods)},
		{"neverAnswered", e.NeverAnswered, sum.PodsNeverAnswered, "expected %d pods never answered, but found %d", r.witness.class(r.tally, neverAnswered)},
	} {
		if x.want == nil || int64(*x.want) == x.is {
			continue
		}
		if r.result.Error == "" {
			r.result.Error = fmt.Sprintf(x.text, *x.want, x.is)
		}
		u := Unmet{Field: x.field, Expected: int64(*x.want), Seen: x.is}
		u.SinceSeconds, u.Objects = x.differs()
		r.unmet(u)
	}
}

// unmetMost is how many objects of an expectation are named.
const unmetMost = 10

func (r *run) unmet(u Unmet) {
	if n := len(u.Objects) - unmetMost; n > 0 {
		u.Objects, u.Cut = u.Objects[:unmetMost], n
	}
	r.result.Unmet = append(r.result.Unmet, u)
}
