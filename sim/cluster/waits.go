package cluster

import "time"

// Waits tells how pods of one node waited for addresses: from a pod's first ADD that was refused for want of one until
// its ADD succeeded.
type Waits struct {
	// Pods waited in all; Placed of them got an address, Never were deleted before, the others wait now.
	Pods, Placed, Never int
	// First is when the first of them was refused; meaningful with Pods above 0.
	First time.Duration
	// Longest and Total are over the waits that ended with an address.
	Longest, Total time.Duration
}

// Now counts the pods that wait at this moment.
func (w Waits) Now() int { return w.Pods - w.Placed - w.Never }

// Add sums the waits of several nodes.
func (w Waits) Add(o Waits) Waits {
	if w.Pods == 0 || o.Pods > 0 && o.First < w.First {
		w.First = o.First
	}
	w.Pods += o.Pods
	w.Placed += o.Placed
	w.Never += o.Never
	w.Longest = max(w.Longest, o.Longest)
	w.Total += o.Total
	return w
}

func (w *Waits) begin(now time.Duration) {
	if w.Pods == 0 {
		w.First = now
	}
	w.Pods++
}

func (w *Waits) placed(d time.Duration) {
	w.Placed++
	w.Total += d
	w.Longest = max(w.Longest, d)
}
