package journaltest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/sim/engine"
)

// scripts are lived through with every combination of so many troubles at most: each operation of the disk that fails,
// each byte of a torn write, each death of process and machine. The words are writer.act's.
var scripts = []struct {
	text     string
	troubles int
}{
	{"awaw", 2},      // one write after the other
	{"aawrw", 2},     // several at once; a rewriting
	{"arawaw", 1},    // a rewriting among them
	{"aawAwRwrw", 1}, // what those ask for who know of no failure
	{"awawpaw", 2},   // power goes between lives
	{"awkawkrw", 1},  // processes die between writes
	{"aakawp", 2},    // and among them
	{"rwRAwrwaw", 1}, // rewritings that fail
	{"aaawk", 3},     // what shares the fate of one that failed
}

// Try holds a journal to its contract: short scripts with everything that can happen to them, then random ones, longer
// and longer. It fails at the first promise that is broken, and prints how it came to it.
func Try(t *testing.T, boot func(Chooser) Machine) {
	t.Run("exhaustive", func(t *testing.T) {
		for _, s := range scripts {
			t.Logf("%s: %d runs", s.text, Exhaust(t, s.text, s.troubles, boot))
		}
	})
	t.Run("random", func(t *testing.T) {
		for seed := range uint64(randomSeeds) {
			random(t, seed, boot)
		}
	})
}

// Exhaust lives through a script with every combination of at most so many troubles, and whatever losses of power
// leave. It returns how many runs that were.
func Exhaust(t testing.TB, script string, troubles int, boot func(Chooser) Machine) int {
	t.Helper()
	o := engine.NewOdometer()
	for o.Next() {
		c := &budget{chooser: o, left: troubles}
		if err := play(&powered{boot(c), c}, script); err != nil {
			t.Fatalf("%v\ndecisions: %s", err, picks(o.Picks()))
		}
	}
	return o.Runs()
}

func picks(list []engine.Pick) string {
	var words []string
	for _, p := range list {
		if p.Value > 0 {
			words = append(words, fmt.Sprintf("%s %d of %d", p.Label, p.Value, p.N))
		}
	}
	return strings.Join(words, ", ")
}

// Random scripts have up to randomLength words; each length has the same number of seeds.
const (
	randomSeeds  = 9000
	randomLength = 60
)

// random lives through a script in which each operation goes wrong with some probability.
func random(t *testing.T, seed uint64, boot func(Chooser) Machine) {
	const words = "aaaaarRAwwwwwkp"
	c := engine.Seeded(seed)
	script := make([]byte, 1+seed*randomLength/randomSeeds)
	for i := range script {
		script[i] = words[c.Pick("word", len(words))]
	}
	chances := [...]float64{0.01, 0.05, 0.2}
	b := &budget{chooser: c, left: len(script), chance: chances[c.Pick("chance", len(chances))]}
	if err := play(&powered{boot(b), b}, string(script)+"w"); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
}

// budget is a Chooser that lets only so many things go wrong; what a loss of power leaves does not count. With a
// chance, each thing goes wrong only so often.
type budget struct {
	chooser Chooser
	left    int
	chance  float64
	power   bool
}

// Pick implements Chooser.
func (b *budget) Pick(label string, n int) int {
	if b.power {
		return b.chooser.Pick(label, n)
	}
	if b.left == 0 || b.chance > 0 && !engine.Chance(b.chooser, "trouble", b.chance) {
		return 0
	}
	v := b.chooser.Pick(label, n)
	if v > 0 {
		b.left--
	}
	return v
}

// powered tells the budget when power goes.
type powered struct {
	Machine
	budget *budget
}

// PowerCut implements Machine.
func (p *powered) PowerCut() {
	p.budget.power = true
	p.Machine.PowerCut()
	p.budget.power = false
}
