// Package hookprogram runs programs as an agent's pod hooks.
//
// It decides how a program is called and for how long, never when: that is vppwire/agent, and what a failure means is too. Start
// at Programs.Run, which is a host.Config's Hooks. A program gets one JSON document on its standard input, an Event, and its
// standard output and error are logged. It is killed with its process group when its time is over or the agent ends, and
// alone where the agent is killed. Order is the driver's: the hooks of one attachment never overlap. To tell programs more,
// add a field to Event; none may change its meaning.
package hookprogram
