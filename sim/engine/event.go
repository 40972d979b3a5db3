package engine

import "github.com/vppdrill/vppdrill/scenarios/choice"

// Event is something that happens at one instant of virtual time.
type Event interface {
	// AppendText appends the event's canonical line: words separated by single spaces, no newline, no pointer, no map
	// order, no wall time. It is called once, right before Fire.
	AppendText(b []byte) []byte
	// Fire makes it happen. It may schedule further events, also at the present instant.
	Fire()
}

// Chooser makes every free decision of a run.
type Chooser = choice.Chooser

// Seeded returns a Chooser that draws from seed, as labs do too: see choice.Seeded.
func Seeded(seed uint64) Chooser { return choice.Seeded(seed) }
