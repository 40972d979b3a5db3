package host

import (
	"testing"
	"time"
)

// Goal: time is what the wall clock said at first and what has passed since: no wall clock that is set moves it.
// Method: a clock whose first look was long ago by the wall clock and just now by the monotonic one, as after the wall
// clock was set ahead.
func TestClock(t *testing.T) {
	var c clock
	first := c.now()
	if d := time.Since(first).Abs(); d > time.Minute {
		t.Fatalf("it begins %v off", d)
	}
	if have := c.at(5 * time.Second); !have.Equal(first.Add(have.Sub(first))) || have != c.began.Round(0).Add(5*time.Second) {
		t.Errorf("after 5 s it says %v", have)
	}
	if again := c.now(); again.Before(first) || again != again.Round(0) {
		t.Errorf("%v behind %v, or with a monotonic reading that wall clocks move", again, first)
	}
	if up := uptime(); up <= 0 {
		t.Errorf("this machine runs for %v", up)
	}
}
