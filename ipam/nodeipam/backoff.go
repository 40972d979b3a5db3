package nodeipam

import "time"

// Picker is who makes free decisions: a number in 0..n-1, n >= 1. A nil Picker takes the middle.
type Picker interface{ Pick(label string, n int) int }

// Upstream's constants.
const (
	// cidrUpdateWorkers is how many requests may be outstanding at once.
	cidrUpdateWorkers = 30
	// cidrUpdateRetries is how often one PATCH is tried without a pause.
	cidrUpdateRetries = 3
	// nodeListRetryMax bounds the pause between tries to list the nodes at the start. Upstream waits 10 s each time, so
	// that an API server that is ready after one second is used after ten.
	nodeListRetryMax = 2 * time.Second
	// nodeListTimeout is apiserverStartupGracePeriod: when listing has failed for so long, the controller gives up.
	nodeListTimeout = 10 * time.Minute
	// updateRetryTimeout and maxUpdateRetryTimeout are base and cap of the pause between tries, since 1.11 (100 ms
	// before).
	updateRetryTimeout    = 250 * time.Millisecond
	maxUpdateRetryTimeout = 5 * time.Second
	// updateMaxRetries is how many tries a cloud sync has before it waits for the node's next event.
	updateMaxRetries = 10
	// fenceWaitMax is how long a take-over waits for nodes that cannot be touched: the API server's --request-timeout of
	// 60 s bounds how long a predecessor's request may still be on its way there.
	fenceWaitMax = 60 * time.Second
)

// NodeUpdateRetryTimeout is the pause after the count-th failed try: 250 ms doubled count times and at most 5 s, then
// spread evenly over [t/2, 3t/2] in steps of a millisecond.
func NodeUpdateRetryTimeout(count int, p Picker) time.Duration {
	t := updateRetryTimeout
	for ; count > 0 && t < maxUpdateRetryTimeout; count-- {
		t *= 2
	}
	t = min(t, maxUpdateRetryTimeout)
	steps := int(t/time.Millisecond) + 1
	if p == nil {
		return t
	}
	return t/2 + time.Duration(p.Pick("nodeipam retry", steps))*time.Millisecond
}
