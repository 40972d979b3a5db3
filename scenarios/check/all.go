package check

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// All returns every law in the order of reports: addresses first, then the books, then wiring, then behavior.
// The slice is the caller's.
func All() []scenarios.Law {
	return []scenarios.Law{
		oneOwner(),
		leaseInRange(),
		nodeIDsDisjoint(),
		grantsDisjoint(),
		grantsUsed(),
		grantsSteady(),
		nodesServed(),
		addressStable(),
		sameAnswer(),
		addressRests(),
		addNotForgotten(),
		reachable(),
		booksAgree(),
		tunnelsSymmetric(),
		quietRestart(),
		Settles(),
	}
}

// ByName finds a law by its name.
func ByName(name string) (scenarios.Law, bool) {
	for _, l := range All() {
		if l.Name == name {
			return l, true
		}
	}
	return scenarios.Law{}, false
}

// Nearest is the law name that a misspelled name is closest to, for messages: the fewest letters inserted, removed or
// replaced, the earlier law on a tie. Empty when even that is more than half of the longer name.
func Nearest(name string) string {
	best, bestDistance := "", 0
	for _, l := range All() {
		d := distance(name, l.Name)
		if 2*d <= max(len(name), len(l.Name)) && (best == "" || d < bestDistance) {
			best, bestDistance = l.Name, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes; law names are ASCII.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

// broken is a violation of law; its What is one sentence.
func broken(law string, at time.Duration, node, format string, args ...any) *scenarios.Violation {
	return &scenarios.Violation{Law: law, At: at, Node: node, What: fmt.Sprintf(format, args...)}
}

// lives reports whether a node's machine runs; the dead ones hold nothing and owe nothing.
func lives(n *scenarios.NodeState) bool { return n.MachineUp }
