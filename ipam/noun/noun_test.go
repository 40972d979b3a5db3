package noun_test

import (
	"testing"

	"github.com/vppdrill/vppdrill/ipam/noun"
)

// Goal: messages read as English. Method: a table of the nouns that there are, and of those that sound unlike their first letter.
func TestNouns(t *testing.T) {
	for _, c := range []struct{ word, many, a string }{
		{"pod", "pods", "a pod"}, {"address", "addresses", "an address"}, {"prefix", "prefixes", "a prefix"}, {"branch", "branches", "a branch"},
		{"family", "families", "a family"}, {"key", "keys", "a key"}, {"ENI address", "ENI addresses", "an ENI address"}, {"unit", "units", "a unit"},
		{"interconnect address", "interconnect addresses", "an interconnect address"}, {"hour", "hours", "an hour"}, {"user", "users", "a user"},
	} {
		if many, a := noun.Of(2, c.word), noun.A(c.word); many != c.many || a != c.a || noun.Of(1, c.word) != c.word {
			t.Errorf("%s: %s, %s", c.word, many, a)
		}
	}
	if noun.Count(1, "pod") != "1 pod" || noun.Count(uint64(0), "pod") != "0 pods" {
		t.Error(noun.Count(1, "pod"), noun.Count(0, "pod"))
	}
}
