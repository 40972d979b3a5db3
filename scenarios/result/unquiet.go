package result

import (
	"fmt"
	"strings"
	"unicode"
)

// Pending is one thing that keeps a cluster from being quiet.
type Pending struct {
	// Node is its node, or "" for the control plane.
	Node string
	// What is one clause that names pods, sandboxes and requests.
	What string
}

// Unquiet is the error of a World.Settle that timed out. The nearest to the cause comes first: what a machine or
// program lacks, then what waits for it.
type Unquiet struct{ Pending []Pending }

// unquietMost is how many pending things an Unquiet lists.
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

// Cause is the first pending thing without its names, numbers and addresses. It is the same in another, smaller run
// that does not settle for the same reason.
func (u *Unquiet) Cause() string {
	if len(u.Pending) == 0 {
		return ""
	}
	return u.Pending[0].Kind()
}

// Kind is the pending thing without its names, numbers and addresses.
func (p Pending) Kind() string { return nameless(p.What) }

// nameless is a sentence without its names, numbers and addresses: equal for two failures with the same cause.
func nameless(what string) string {
	var words []string
	for word := range strings.FieldsSeq(what) {
		if !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsDigit(r) || r == '/' }) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}
