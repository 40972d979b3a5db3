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

// Law is one property that must always hold, in every world.
type Law struct {
	// Name is what scenario files and reports call it: lower case words joined by hyphens.
	Name string
	// Rule is one sentence: what always holds if the law does.
	Rule string
	// Why is one sentence: the consequence for a user if the law is broken.
	Why  string
	When When
	// Foreign: the law holds for any CNI agent; else it is a contract of this agent's design.
	Foreign bool
	// Needs is the evidence that the law needs.
	Needs []Evidence
	// Check judges a whole snapshot. It counts its occasions: the things in the snapshot that the law applies to, up to
	// the first that breaks it; 0 if there are none. Its error is a *Violation or nil.
	Check func(Snapshot) (occasions int64, err error)
	// Watch, where set, starts an incremental judge that is fed every Fact in order; it and Check must agree.
	Watch func() Watcher
}

// Watcher judges a run fact by fact. A step costs what the fact changes.
type Watcher interface {
	// Observe returns a *Violation at the first fact that breaks the law. The fact is the caller's: it is read, not
	// changed, and not kept beyond the call.
	Observe(f *Fact) error
	// Checks counts the watcher's occasions so far.
	Checks() int64
}

// Violation is a broken law with its evidence.
type Violation struct {
	Law  string
	At   time.Duration
	Node string
	// What is one sentence with the values that contradict each other.
	What string
	// Cause distinguishes unrelated violations of one law. It holds no name, number or address.
	Cause string
	// Before and After are the state around the first bad event, where known.
	Before, After string
	// Way is the path of a packet that shows the violation, hop by hop, if there is one. The last hop's decision is the
	// packet's fate.
	Way []Hop
}

// Hop is one step of a packet's path: the place, the node, and the decision there.
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
