package fact

import (
	"fmt"
	"time"
)

// When says when a law must hold.
type When uint8

const (
	// Always: at every instant.
	Always When = iota + 1
	// Settled: whenever the cluster is quiet.
	Settled
)

// Law is one thing that must never be otherwise, in every world.
type Law struct {
	// Name is what scenario files and reports call it: lower case words joined by hyphens.
	Name string
	// Why is one sentence: what breaks for a user when the law does.
	Why  string
	When When
	// Foreign: any CNI agent owes it; else it is a contract of this agent's design.
	Foreign bool
	// Needs is the evidence without which the law cannot be judged.
	Needs []Evidence
	// Check judges a whole snapshot. It counts its occasions: the things in the snapshot that the law says something about and
	// that were looked at, up to the first that breaks it; 0 when there is nothing of the kind. Its error is a *Violation or nil.
	Check func(Snapshot) (occasions int64, err error)
	// Watch, where set, starts an incremental judge that is fed every Fact in order; it and Check must agree.
	Watch func() Watcher
}

// Watcher judges a run fact by fact. A step costs what the fact changes.
type Watcher interface {
	// Observe returns a *Violation at the first fact that breaks the law. The fact is the caller's: it is read, not changed, and
	// not kept beyond the call.
	Observe(f *Fact) error
	// Checks counts what was judged so far: the watcher's occasions.
	Checks() int64
}

// Violation is a broken law with what broke it.
type Violation struct {
	Law  string
	At   time.Duration
	Node string
	// What is one sentence with the values that contradict each other.
	What string
	// Cause tells apart violations of one law that have nothing to do with each other, where the law's name does not; it holds no
	// name, number or address.
	Cause string
	// Before and After are the state around the first bad event, where known.
	Before, After string
	// Way is the way of the packet that shows it, hop by hop, where one does. What became of it is the last hop's decision.
	Way []Hop
}

// Hop is one place on a packet's way: where on which node, and what happened there.
type Hop struct {
	Node     string `json:"node"`
	Place    string `json:"place,omitempty"`
	Decision string `json:"decision"`
}

func (v *Violation) Error() string {
	where := ""
	if v.Node != "" {
		where = " on " + v.Node
	}
	return fmt.Sprintf("%s%s at %s: %s", v.Law, where, v.At, v.What)
}
