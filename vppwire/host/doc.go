// Package host drives one agent in the real world: it performs the effects of vppwire/agent on a journal, a VPP, a
// Linux and a cluster, and tells the agent what came of them.
//
// It decides nothing about pods, addresses or wiring. It never touches the dataplane but by the agent's calls, so that
// stopping it leaves everything as it stands. Start at New and Driver.Run. One goroutine owns the agent; all others
// send it what happened. The opposite is vppwire/agent, which performs nothing; the other driver of the same agent is
// sim.
//
// Time is the machine's, kept from going back. Events are taken one by one in the order in which they came in. At most
// one call to VPP or Linux is under way; one that is not answered in time counts as unknown, and its connection as
// lost. VPP may go and come back at any time. What the journal has not made durable is told to nobody.
//
// The parts that can be exchanged are declared here where they are used: Store, Cluster, VPP. The real ones are in the
// folders below. To add an effect, perform it in effects.go.
package host
