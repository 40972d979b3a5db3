package controllers

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// still is a clock that stands where a test puts it.
type still struct {
	cluster.Clock
	now time.Duration
}

func (s *still) Now() time.Duration { return s.now }

// Goal: a client sends so many requests at once and so many a second then, none earlier and none later than it must.
// Method: random times of asking, against a bucket that is filled and emptied as one.
func TestClientWaitsForItsTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		qps := rapid.SampledFrom([]int{1, 2, 5, 10, 50}).Draw(t, "qps")
		burst := rapid.IntRange(0, 12).Draw(t, "burst")
		clock := &still{}
		env := &Env{Clock: clock, Plan: scenarios.IPAM{ClientQPS: qps, ClientBurst: burst}}
		c := env.apiClient("x", nil)
		if burst == 0 {
			burst = 2 * qps
		}
		period := time.Second / time.Duration(qps)
		var asked, sent []time.Duration
		for range rapid.IntRange(1, 40).Draw(t, "requests") {
			clock.now += time.Duration(rapid.IntRange(0, 700).Draw(t, "gap")) * time.Millisecond
			asked, sent = append(asked, clock.now), append(sent, clock.now+c.wait())
		}
		level, last := float64(burst), time.Duration(0) // tokens at the time last
		for i, at := range asked {
			level = min(float64(burst), level+float64(at-last)/float64(period)) - 1
			last = at
			want := at
			if level < -1e-9 {
				want += time.Duration(-level * float64(period))
			}
			if d := sent[i] - want; d < -time.Microsecond || d > time.Microsecond {
				t.Fatalf("request %d at %s is sent at %s, want %s", i, at, sent[i], want)
			}
		}
	})
}
