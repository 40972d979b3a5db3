package sim

import "github.com/vppdrill/vppdrill/sim/internal/controllers"

// What the author of an address management system needs to have the simulator run it: a Driver in Options.Systems makes a
// System for each run, of an Env.
type (
	// Driver makes a system for one run.
	Driver = controllers.Driver
	// Env is what a system needs of the run.
	Env = controllers.Env
	// System is where nodes' blocks come from.
	System = controllers.System
	// Still is a System that does nothing, to embed.
	Still = controllers.Still
	// Side is what a system may see of the living agent of a node.
	Side = controllers.Side
)
