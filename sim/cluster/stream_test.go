package cluster

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/sim/engine"
)

// counter receives numbers that must come in order.
type counter struct {
	t    *rapid.T
	got  int
	gone bool
}

func (c *counter) appendItems(b []byte, items []int) []byte { return b }
func (c *counter) receive(items []int) {
	for _, n := range items {
		if c.gone || n != c.got {
			c.t.Fatalf("%d comes after %d numbers, lost %t", n, c.got, c.gone)
		}
		c.got++
	}
}
func (c *counter) lost() { c.gone = true }

// TestStreamOrder: numbers sent in bursts through random delays, lags and cuts arrive in order and all of them, unless
// the stream says that it broke; then none follows. Nothing stays counted as under way.
func TestStreamOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eng := engine.New(engine.Seeded(rapid.Uint64().Draw(t, "seed")))
		net := NewNetwork(eng, NetworkConfig{Default: Link{DelayMin: time.Millisecond, DelayMax: time.Second, Loss: 0.1}})
		a, b := net.Endpoint("a"), net.Endpoint("b")
		c, faults := &counter{t: t}, &StreamFaults{}
		s := openStream(net, a, b, receiver[int](c), faults, nil)
		sent := 0
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 7).Draw(t, "action") {
			case 0:
				net.Cut(a, b)
			case 1:
				net.Cut(b, a)
			case 2, 3:
				net.MendAll()
			case 4:
				faults.Lag = time.Duration(rapid.IntRange(0, 10).Draw(t, "lag")) * time.Second
			default:
				for range rapid.IntRange(1, 100).Draw(t, "burst") {
					s.send(sent)
					sent++
				}
			}
			_ = eng.RunUntil(eng.Now() + time.Duration(rapid.IntRange(0, 20_000).Draw(t, "wait"))*time.Millisecond)
		}
		net.MendAll()
		_ = eng.RunUntil(eng.Now() + time.Minute)
		if !c.gone && c.got != sent || !net.Busy().Quiet() {
			t.Fatalf("%d of %d came, lost %t, %+v", c.got, sent, c.gone, net.Busy())
		}
	})
}
