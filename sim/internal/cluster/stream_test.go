package cluster

import (
	"slices"
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
	// twice is how often the last number may come again.
	twice int
}

func (c *counter) appendItems(b []byte, items []int) []byte { return b }
func (c *counter) receive(items []int) {
	for _, n := range items {
		if n == c.got-1 && c.twice > 0 {
			c.twice--
			continue
		}
		if c.gone || n != c.got {
			c.t.Fatalf("%d comes after %d numbers, lost %t", n, c.got, c.gone)
		}
		c.got++
	}
}
func (c *counter) lost() { c.gone = true }

// TestStreamOrder: numbers sent in bursts through random delays, lags and cuts, some late and some twice, arrive in
// order and all of them, unless the stream says that it broke, as it does behind one that is lost; then none follows.
// Nothing stays counted as under way.
func TestStreamOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eng := engine.New(engine.Seeded(rapid.Uint64().Draw(t, "seed")))
		net := NewNetwork(eng, NetworkConfig{Default: Link{DelayMin: time.Millisecond, DelayMax: time.Second, Loss: 0.1}})
		a, b := net.Endpoint("a"), net.Endpoint("b")
		c, faults := &counter{t: t}, &StreamFaults{}
		s := openStream(net, a, b, receiver[int](c), faults, nil)
		sent := 0
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 10).Draw(t, "action") {
			case 0:
				net.Cut(a, b)
			case 1:
				net.Cut(b, a)
			case 2, 3:
				net.MendAll()
			case 4:
				faults.Lag = time.Duration(rapid.IntRange(0, 10).Draw(t, "lag")) * time.Second
			case 8:
				s.deliver(sent, Delivery{Late: time.Duration(rapid.IntRange(0, 20).Draw(t, "late")) * time.Second})
				sent++
			case 9:
				c.twice++
				s.deliver(sent, Delivery{Twice: true})
				sent++
			case 10:
				s.deliver(sent, Delivery{Lost: true})
				sent++
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

// TestStreamsOvertake: what one stream delivers late is overtaken by what another one carries between the same ends,
// and not by what comes behind it in its own.
func TestStreamsOvertake(t *testing.T) {
	eng := engine.New(engine.Seeded(1))
	net := NewNetwork(eng, NetworkConfig{})
	a, b := net.Endpoint("a"), net.Endpoint("b")
	var heard []string
	one := openStream(net, a, b, receiver[string](&words{&heard}), nil, nil)
	other := openStream(net, a, b, receiver[string](&words{&heard}), nil, nil)
	one.deliver("late", Delivery{Late: time.Second})
	one.send("behind it")
	other.send("beside it")
	if err := eng.RunUntil(time.Minute); err != nil {
		t.Fatal(err)
	}
	if want := []string{"beside it", "late", "behind it"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

// words notes what comes.
type words struct{ heard *[]string }

func (l *words) appendItems(b []byte, _ []string) []byte { return b }
func (l *words) receive(items []string)                  { *l.heard = append(*l.heard, items...) }
func (l *words) lost()                                   {}
