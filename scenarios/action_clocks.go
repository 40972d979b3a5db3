package scenarios

import "time"

// SetClock sets the wall clock of Node's machine ahead or back, as an administrator does or a time service that has found its servers again.
// What runs on the machine goes on as before: its monotonic clock does not jump.
type SetClock struct {
	Node  NodeRef       `yaml:"node" required:"true" doc:"The node."`
	Ahead time.Duration `yaml:"ahead" doc:"How far the clock is set ahead."`
	Back  time.Duration `yaml:"back" doc:"How far the clock is set back."`
}

// By is how far the clock jumps, negative for back.
func (a SetClock) By() time.Duration { return a.Ahead - a.Back }

// Verb is the action's name in scenario files.
func (SetClock) Verb() string { return "set-clock" }

func (a SetClock) String() string { return actionLine(a) }

// ClockDriftMost is how wrong a machine's clock may run: what Linux' adjtimex corrects at most, 500 parts per million.
const ClockDriftMost = 0.0005
