// Package lab is the World on real processes: every node is a real VPP, a real agent and real pods.
//
// It decides when machines boot, processes start and die, which pods exist and where, and when a lab is quiet. It never
// decides what a node should look like: that is the agent's work, and the agent is the one that production runs. How
// machines are made is the Backend's: lab/netns makes them of network namespaces, lab/container of containers. The
// World in virtual time is sim.
//
// Start at New, or at Run for a whole scenario. Times are real, divided by Options.TimeScale. A lab lives as long as
// the process that owns it: what a killed owner leaves behind is removed by Census at the next command. An action that
// a lab cannot do is result.ErrUnsupported, by name and with a reason of scenarios/timeline's table. Whatever goes
// wrong leaves evidence: see WriteEvidence. A program that got no processor while a lab waited for it makes a run that
// could not be judged, by the kernel's own count of its waiting: see starving.
//
// Laws that need what a real node does not show are not judged, and reports say so: ranges-counted, told-is-saved,
// requests-answered, hooks-run, calls-accepted, pods-reach-pods, nothing-stays, cloud-routes.
//
// To add an action, see scenarios/timeline; another kind of machine, Backend.
package lab
