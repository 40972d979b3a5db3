package fault_test

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// Goal: whoever looks a word up finds what it does and an example that works. Method: every word of the language; its
// example is parsed and holds it.
func TestWords(t *testing.T) {
	for _, w := range fault.Words() {
		if w.Doc == "" || !strings.Contains(w.Example, w.Word) {
			t.Errorf("%s: %q, example %q", w.Word, w.Doc, w.Example)
		}
		if _, err := fault.Parse(w.Example, fault.Env{Chooser: engine.Seeded(1)}); err != nil {
			t.Errorf("%s: %s: %v", w.Word, w.Example, err)
		}
	}
}
