package result

import (
	"fmt"
	"strings"
	"unicode"
)

// Pending is one thing that keeps a cluster from being quiet.
type Pending struct {
	// Node is where, "" for the control plane.
	Node string
	// What is one clause that names pods, sandboxes and requests.
	What string
}

// Unquiet is the error of a World.Settle that has waited in vain. What is nearest to the cause comes first: what a machine
// or program lacks, then who waits for it.
type Unquiet struct{ Pending []Pending }

// unquietMost is how many pending things an Unquiet spells out.
const unquietMost = 4

// Error lists what is pending.
func (u *Unquiet) Error() string {
	var parts []string
	for i, p := range u.Pending {
		if i == unquietMost {
			parts = append(parts, fmt.Sprintf("and %d more", len(u.Pending)-i))
			break
		}
		what := p.What
		if p.Node != "" && !strings.Contains(what, p.Node) {
			what = p.Node + ": " + what
		}
		parts = append(parts, what)
	}
	return strings.Join(parts, "; ")
}

// Cause is the first thing that is pending without the names, numbers and addresses in it: what is the same in another, smaller run
// that does not come to rest for the same reason.
func (u *Unquiet) Cause() string {
	if len(u.Pending) == 0 {
		return ""
	}
	return u.Pending[0].Kind()
}

// Kind is what is pending without the names, numbers and addresses in it.
func (p Pending) Kind() string { return nameless(p.What) }

// nameless is a sentence without its names, numbers and addresses: what two failures have in common that come about alike.
func nameless(what string) string {
	var words []string
	for word := range strings.FieldsSeq(what) {
		if !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsDigit(r) || r == '/' }) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}
