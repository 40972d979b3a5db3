package journaltest

import "github.com/vppdrill/vppdrill/vppwire/agent"

// Chooser takes one of n decisions, from 0 on. 0 is always that nothing goes wrong.
type Chooser interface {
	Pick(label string, n int) int
}

// Machine is one machine with one journal on its disk. Each operation of the disk that can fail is a decision of the
// Chooser that it was made with; so is what a loss of power leaves.
type Machine interface {
	// Start begins a life and returns what it reads. An error is a life that has not begun: the disk failed.
	Start() ([]agent.Record, error)
	// Persist asks the running life for a write. Nothing is done before Work.
	Persist(e agent.Persist, done func(error))
	// Work does all that has been asked for, and tells. False when the process has died of it, which may happen at any
	// operation.
	Work() bool
	// Kill ends the life, if there is one; PowerCut the machine's as well.
	Kill()
	PowerCut()
}
