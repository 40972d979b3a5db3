package cilium

// preAllocateDefault is what a pre-allocate of 0 means (pkg/ipam/option, 1.7).
const preAllocateDefault = 8

// PreAllocateNone is the PreAllocate that keeps nothing unused; resources cannot say it, as 0 means the default there.
const PreAllocateNone = -1

// NodeCount is how many addresses a node has and uses; 0 <= Used <= Available.
type NodeCount struct{ Available, Used int }

// Unused is how many unused addresses a node has at least, by PreAllocate.
func (w Watermarks) Unused() int {
	if w.PreAllocate == 0 {
		return preAllocateDefault
	}
	return max(w.PreAllocate, 0)
}

// CalculateNeededIPs is how many more addresses the node needs: enough that PreAllocate are unused and MinAllocate are
// there, but not more than MaxAllocate in all.
func CalculateNeededIPs(c NodeCount, w Watermarks) int {
	needed := w.Unused() - (c.Available - c.Used)
	if w.MinAllocate > 0 {
		needed = max(needed, w.MinAllocate-c.Available)
	}
	if w.MaxAllocate > 0 {
		needed = min(needed, w.MaxAllocate-c.Available)
	}
	return max(needed, 0)
}

// CalculateExcessIPs is how many addresses the node can give back: what is unused beyond PreAllocate and
// MaxAboveWatermark, but never so many that fewer than MinAllocate are left. Within MinAllocate and MaxAboveWatermark
// nothing is excess. Giving the excess back needs nothing again, and there is no excess then.
func CalculateExcessIPs(c NodeCount, w Watermarks) int {
	keep := w.MinAllocate + w.MaxAboveWatermark
	if c.Used <= keep && c.Available <= keep {
		return 0
	}
	excess := c.Available - c.Used - w.Unused() - w.MaxAboveWatermark
	return max(min(excess, c.Available-w.MinAllocate), 0)
}

// CalculateRequest is how many addresses to ask the cloud for: MaxAboveWatermark beyond what is needed, within
// MaxAllocate; 0 when nothing is needed.
func CalculateRequest(c NodeCount, w Watermarks) int {
	needed := CalculateNeededIPs(c, w)
	if needed == 0 {
		return 0
	}
	n := needed + w.MaxAboveWatermark
	if w.MaxAllocate > 0 {
		n = min(n, w.MaxAllocate-c.Available)
	}
	return n
}
