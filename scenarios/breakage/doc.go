// Package breakage breaks one pod's wiring by hand, as an administrator or another program would behind the agent's back.
//
// It decides which change each kind of breakage is, and makes it on a modelled or a real VPP and Linux alike. It never repairs
// anything, and it does not tell the agent: who does not look goes on believing. Start at Node.Break. Nothing here depends on time or
// order. A breakage that finds nothing to break says so, and changes nothing.
//
// To add one, see scenarios.Breakages and the switch in Node.Break.
package breakage
