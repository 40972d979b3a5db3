package nodeipam

import "time"

// Timeout tells how long a node's sync waits before the next try. The zero current state counts as success.
type Timeout struct {
	// Resync is the wait after success.
	Resync time.Duration
	// MaxBackoff bounds the wait after the second failure in a row and later ones. The first wait is InitialRetry as it
	// is.
	MaxBackoff time.Duration
	// InitialRetry is the wait after the first failure; each further one doubles it.
	InitialRetry time.Duration

	current time.Duration
	errs    int
}

// Update notes the outcome of a try.
func (t *Timeout) Update(ok bool) {
	switch {
	case ok:
		t.errs, t.current = 0, t.Resync
	case t.errs == 0:
		t.errs, t.current = 1, t.InitialRetry
	default:
		t.errs++
		t.current = min(t.current*2, t.MaxBackoff)
	}
}

// Next is how long to wait from now on.
func (t *Timeout) Next() time.Duration {
	if t.errs == 0 {
		return t.Resync
	}
	return t.current
}
