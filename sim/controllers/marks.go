package controllers

import "github.com/vppdrill/vppdrill/ipam/cilium"

// marksOf is what Cilium's documentation (AWS ENI, "Allocation parameters") makes of a node's watermarks: how many addresses it lacks, and how many it
// is to give back. They are counted here one by one, so that the product is not judged by its own sums.
func marksOf(c cilium.NodeCount, w cilium.Watermarks) (lacks, over int) {
	unused := max(w.PreAllocate, 0)
	if w.PreAllocate == 0 {
		unused = 8
	}
	enough := func(have int) bool { return have-c.Used >= unused && have >= w.MinAllocate }
	have := c.Available
	for !enough(have) && (w.MaxAllocate == 0 || have < w.MaxAllocate) {
		have++
		lacks++
	}
	most := w.MinAllocate + w.MaxAboveWatermark
	if c.Used <= most && c.Available <= most {
		return lacks, 0
	}
	for have = c.Available; have > w.MinAllocate && have-c.Used > unused+w.MaxAboveWatermark; have-- {
		over++
	}
	return lacks, over
}
