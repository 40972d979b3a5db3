package controllers

import (
	"time"

	"github.com/vppdrill/vppdrill/sim/fault"
)

// apiClient is one process' client of the API server. client-go's waits before it sends, by a token bucket: a burst of
// requests at once, then a number per second (k8s.io/client-go, rest.Config's Burst and QPS: by default 10 and 5). What
// waits in a process that dies is never sent.
type apiClient struct {
	env  *Env
	name string
	gone func() bool
	// changes, where set, receives each request that is made.
	changes func(fault.Op)
	// full is when the bucket would be full again if nothing more was sent.
	full time.Duration
}

func (e *Env) apiClient(name string, gone func() bool) *apiClient {
	return &apiClient{env: e, name: name, gone: gone}
}

// usualBurst is client-go's burst for its usual QPS of 5: twice as much.
const usualBurst = 2

// wait takes a token and returns how long it takes until it is there.
func (c *apiClient) wait() time.Duration {
	qps, burst := c.env.Plan.ClientQPS, c.env.Plan.ClientBurst
	if qps == 0 {
		return 0
	}
	if burst == 0 {
		burst = usualBurst * qps
	}
	token, now := time.Second/time.Duration(qps), c.env.Clock.Now()
	c.full = max(c.full, now) + token
	return max(0, c.full-now-time.Duration(burst)*token)
}

// send sends a request when there is a token for it.
func (c *apiClient) send(what string, send func()) {
	d := c.wait()
	if d == 0 {
		send()
		return
	}
	c.env.Clock.After(d, &step{c.name, "waited for its rate limit to " + what, func() {
		if !c.gone() {
			send()
		}
	}})
}
