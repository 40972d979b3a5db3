package plan

import (
	"fmt"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// Watermark explains how many addresses Cilium's operator keeps on a node in the modes where it asks a cloud for them.
type Watermark struct {
	Marks cilium.Watermarks
	// Limit is how many the node can have; 0 is none.
	Limit int
	// ReleaseExcess gives back what is beyond the watermarks (release-excess-ips).
	ReleaseExcess bool
	// Prefixes: addresses come by delegated prefixes, as long as there are any, and are never given back (pkg/aws/eni,
	// PrepareIPRelease).
	Prefixes bool
}

// whole is the addresses of the prefixes that have n.
func (w Watermark) whole(n int) int {
	if !w.Prefixes {
		return n
	}
	return (n + datastore.DelegatedIPs - 1) / datastore.DelegatedIPs * datastore.DelegatedIPs
}

// Explain returns a row for each number of pods, each on a node of its own that starts without addresses.
func (w Watermark) Explain(pods ...int) []Row {
	rows := make([]Row, len(pods))
	for i, n := range pods {
		rows[i] = w.Follow(n)[0]
	}
	return rows
}

// Follow returns a row for each number of pods on one node: from each to the next, pods come or leave at once.
func (w Watermark) Follow(pods ...int) []Row {
	held := 0
	rows := make([]Row, len(pods))
	for i, n := range pods {
		row := Row{Pods: n, Steps: []string{}}
		for range stepsMax {
			change, why := w.step(held, n)
			if change == 0 {
				break
			}
			held += change
			row.Steps = append(row.Steps, why)
		}
		row.Held, row.Assigned = held, min(n, held)
		row.Available, row.Waiting = held-row.Assigned, n-row.Assigned
		rows[i] = row
	}
	return rows
}

// step is the operator's next decision: how many addresses more or less, 0 when it is content.
func (w Watermark) step(held, pods int) (change int, why string) {
	c := cilium.NodeCount{Available: held, Used: min(pods, held)}
	unused := c.Available - c.Used
	if needed := cilium.CalculateNeededIPs(c, w.Marks); needed > 0 {
		asked := cilium.CalculateRequest(c, w.Marks)
		n := w.whole(asked)
		if w.Limit > 0 {
			n = min(n, w.Limit-held)
		}
		if n <= 0 {
			return 0, ""
		}
		why = fmt.Sprintf("%s more: %d of %d unused, pre-allocate wants %d", plural(uint64(n), "address"), unused, held, w.Marks.Unused())
		if w.Marks.MinAllocate > 0 {
			why += fmt.Sprintf(", min-allocate wants %d in all", w.Marks.MinAllocate)
		}
		why += fmt.Sprintf(": %d needed", needed)
		if asked > needed {
			why += fmt.Sprintf(", max-above-watermark adds %d", asked-needed)
		}
		switch {
		case n > asked:
			why += fmt.Sprintf(", and prefixes have %d each", datastore.DelegatedIPs)
		case n < asked:
			why += fmt.Sprintf(", the node's limit is %d", w.Limit)
		}
		if w.Marks.MaxAllocate > 0 && held+n >= w.Marks.MaxAllocate {
			why += fmt.Sprintf(", max-allocate ends it at %d", w.Marks.MaxAllocate)
		}
		return n, why
	}
	if excess := cilium.CalculateExcessIPs(c, w.Marks); w.ReleaseExcess && !w.Prefixes && excess > 0 {
		return -excess, fmt.Sprintf("%s given back: %d of %d unused, pre-allocate keeps %d, max-above-watermark %d, min-allocate %d in all",
			plural(uint64(excess), "address"), unused, held, w.Marks.Unused(), w.Marks.MaxAboveWatermark, w.Marks.MinAllocate)
	}
	return 0, ""
}
