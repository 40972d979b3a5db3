package linkname_test

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/linkname"
)

// Goal: what may be the name of a pod's interface may be the name of a link, and nothing that has a meaning of its own
// gets through. Method: a table; each row differs from a good name by one thing.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		name       string
		valid, pod bool
	}{
		{"eth0", true, true}, {"a", true, true}, {strings.Repeat("a", linkname.Max), true, true}, {"pod0.100", true, true}, {"...", true, true},
		{"", false, false}, {strings.Repeat("a", linkname.Max+1), false, false}, {".", false, false}, {"..", false, false},
		{"eth/0", false, false}, {"eth:0", false, false}, {"eth 0", false, false}, {"eth\t0", false, false}, {"eth\v0", false, false}, {"eth\n", false, false},
		{"lo", true, false}, {"all", true, false}, {"default", true, false}, {"eth%d", true, false}, {"eth\x00", true, false}, {"eth\x7f", true, false},
		{"éth0", true, false}, {"eth\u00a0", false, false},
	} {
		if got := linkname.Valid(c.name); got != c.valid {
			t.Errorf("Valid(%q) = %t", c.name, got)
		}
		if err := linkname.Check(c.name); (err == nil) != c.pod {
			t.Errorf("Check(%q) = %v", c.name, err)
		}
	}
}
