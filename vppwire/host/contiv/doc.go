// Package contiv answers what other parts of a node's program ask about its pods and its wiring, under the names of
// contiv/vpp's plugins/contiv (v2.0): API is its interface with its types, Plugin implements it over a running agent.
//
// It decides nothing and keeps nothing of its own: each answer is the agent's state as of its last Step, of the first address
// family in clusters of two. Start at NewPlugin, which drives the agent; Ask of the driver, NodeOf and ContainersOf are for
// several answers of one moment. The agent's REST (vppwire/host/rest) and its gRPC service (remotecni) answer by them. What
// begins when pods come and go is in containeridx.
//
// A call waits for the step that is under way, microseconds mostly, and may come from any goroutine but the driver's own: a
// callback of Watch, or host.Config's Stepped, would wait for itself. Hooks may call everything. An agent that has stopped, or
// does not answer within AskTime, answers with zero values.
//
// Not answered, as pods are not wired to VPP's TCP stack: GetNsIndex and GetPodByAppNsIndex know no application namespace.
// IsTCPstackDisabled is always true. To add a lookup, add it to Node or to containeridx's Config, then to API.
package contiv
