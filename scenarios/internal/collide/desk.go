package collide

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/experiment"
)

// Options are what is asked.
type Options struct {
	// N is how many choose.
	N int
	// P is how likely a collision may be.
	P float64
	// Trials is how often each choice of N is simulated, and how many releases are followed.
	Trials int
	Seed   uint64
	// Window is in what time N nodes join, Latency how long what one of them writes stays unseen by others.
	Window, Latency time.Duration
	// Held pods are on a node with a /24, to which Churn pods a second come.
	Held  int
	Churn float64
}

// Row is one choice.
type Row struct {
	Name string `json:"name"`
	What string `json:"what"`
	// Of says what the figures are of: 1000 of 2^32.
	Of string `json:"of"`
	// Formula is the likelihood by calculation; nil without a formula.
	Formula *float64 `json:"formula"`
	// Hits of Trials simulated ones collided; Low and High are Wilson's interval of that share at 95 %.
	Hits   int     `json:"hits"`
	Trials int     `json:"trials"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	// Safe is up to what it stays as unlikely as was asked, in words.
	Safe string `json:"safe"`
}

// Names are the words for rows' kinds that Desk takes.
func Names() []string {
	var list []string
	for _, c := range choices {
		list = append(list, c.name)
	}
	list = append(list, "node-id-race")
	for _, m := range memories {
		list = append(list, "reuse-"+m.name)
	}
	return list
}

// Desk answers for some of Names, or for all.
func Desk(o Options, names []string) (rows []Row, err error) {
	wanted := func(name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	for _, c := range choices {
		if wanted(c.name) {
			rows = append(rows, c.row(o))
		}
	}
	if wanted("node-id-race") {
		rows = append(rows, racing(o))
	}
	for _, p := range pickers {
		if !slices.ContainsFunc(memories, func(m memory) bool { return wanted("reuse-" + m.name) }) {
			continue
		}
		list, usable, err := gaps(p, o)
		if err != nil {
			return nil, err
		}
		for _, m := range memories {
			if wanted("reuse-" + m.name) {
				rows = append(rows, reused(o, p, m, list, usable))
			}
		}
	}
	return rows, nil
}

func (r *Row) simulated(hits, trials int) {
	r.Hits, r.Trials = hits, trials
	r.Low, r.High = experiment.Wilson(hits, trials, experiment.Z95)
}

// drawsMost bounds the draws of one row's simulation.
const drawsMost = 20_000_000

func (c choice) row(o Options) Row {
	likely := birthday(o.N, c.size)
	r := Row{Name: c.name, What: c.what, Of: fmt.Sprintf("%d of %.4g", o.N, c.size), Formula: &likely}
	rng, hits, trials := rand.New(rand.NewPCG(o.Seed, 1)), 0, min(o.Trials, max(drawsMost/max(o.N, 1), 1))
	seen := make(map[uint64]bool, o.N)
	for trial := range trials {
		clear(seen)
		for i := range o.N {
			x := c.draw(rng, trial, i)
			if seen[x] {
				hits++
				break
			}
			seen[x] = true
		}
	}
	r.simulated(hits, trials)
	r.Safe = "up to " + strconv.Itoa(safe(o.P, 1<<30, func(n int) float64 { return approximate(n, c.size) }))
	return r
}

// approximate is birthday for looking a number up: exact where that is quick, else by n^2/2m, which is above it.
func approximate(n int, size float64) float64 {
	if n <= 100_000 {
		return birthday(n, size)
	}
	return min(1, float64(n)*float64(n-1)/(2*size))
}

func racing(o Options) Row {
	latency, window := o.Latency.Seconds(), o.Window.Seconds()
	likely := race(o.N, latency, window)
	r := Row{Name: "node-id-race", What: "nodes that read which IDs are free and write one, and nothing compares", Formula: &likely,
		Of: fmt.Sprintf("%d within %s, unseen for %s", o.N, o.Window, o.Latency)}
	rng, hits, trials := rand.New(rand.NewPCG(o.Seed, 2)), 0, min(o.Trials, max(drawsMost/max(o.N, 1), 1))
	for range trials {
		times := make([]float64, o.N)
		for i := range times {
			times[i] = rng.Float64() * window
		}
		slices.Sort(times)
		for i := 1; i < len(times); i++ {
			if times[i]-times[i-1] < latency {
				hits++
				break
			}
		}
	}
	r.simulated(hits, trials)
	r.Safe = "up to " + strconv.Itoa(safe(o.P, 1<<20, func(n int) float64 { return race(n, latency, window) }))
	return r
}

func reused(o Options, p picker, m memory, list []float64, usable float64) Row {
	r := Row{Name: "reuse-" + m.name, What: p.name + " against " + m.what,
		Of: fmt.Sprintf("%d pods of %.0f addresses, %g pods/s, within %s", o.Held, usable, o.Churn, m.lasts), Safe: "-"}
	hits := 0
	for _, gap := range list {
		if gap < m.lasts.Seconds() {
			hits++
		}
	}
	r.simulated(hits, len(list))
	likely, ok := p.formula(o, usable, m.lasts)
	if !ok {
		return r
	}
	r.Formula = &likely
	churn := o
	low, high := 0.0, 1e6
	for range 100 {
		churn.Churn = (low + high) / 2
		if x, _ := p.formula(churn, usable, m.lasts); x <= o.P {
			low = churn.Churn
		} else {
			high = churn.Churn
		}
	}
	if r.Safe = fmt.Sprintf("up to %.3g pods/s", low); low > 1e5 {
		r.Safe = "always"
	}
	return r
}
