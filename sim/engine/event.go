package engine

// Event is something that happens at one instant of virtual time.
type Event interface {
	// AppendText appends the event's canonical line: words separated by single spaces, no newline, no pointer, no map
	// order, no wall time. It is called once, right before Fire.
	AppendText(b []byte) []byte
	// Fire makes it happen. It may schedule further events, also at the present instant.
	Fire()
}

// Chooser makes every free decision of a run.
type Chooser interface {
	// Pick returns a number in [0, n). n must be at least 1; n of 1 always yields 0. The label names the decision for
	// people and for replay; it is a constant of the calling code with, where it matters, the entity's name.
	Pick(label string, n int) int
}
