package audit

import (
	"fmt"
	"slices"
)

// Severity says how bad a finding is.
type Severity string

// Severities. Errors break traffic now or as soon as a pod comes; warnings will.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Laws that findings are of.
const (
	LawDuplicate  = "duplicate-address"
	LawRecord     = "wrong-record"
	LawTwice      = "booked-twice"
	LawOutside    = "outside-of-node"
	LawOverlap    = "ranges-overlap"
	LawService    = "services-overlap"
	LawNodeRange  = "nodes-overlap"
	LawLeak       = "leaked-address"
	LawGone       = "range-of-no-node"
	LawNoNode     = "pod-of-no-node"
	LawFamily     = "missing-family"
	LawStranded   = "stranded-range"
	LawExhaustion = "runs-out"
)

// Laws are all, in the order of findings.
func Laws() []string {
	return []string{LawDuplicate, LawRecord, LawTwice, LawOutside, LawOverlap, LawService, LawNodeRange, LawLeak,
		LawGone, LawNoNode,
		LawFamily, LawStranded, LawExhaustion}
}

// Why says what breaks for a user when a law does.
func Why(law string) string {
	return map[string]string{
		LawDuplicate:  "Packets for one of two pods go to the other.",
		LawRecord:     "The CNI gives a running pod's address to the next pod, or takes it away.",
		LawTwice:      "Two pods get one address, or one of them loses it when the other goes.",
		LawOutside:    "Other nodes send the pod's packets to the node that has its range.",
		LawOverlap:    "Two nodes give out the same addresses.",
		LawService:    "A pod with a service's address is never reached, or the service is not.",
		LawNodeRange:  "A pod with a node's address receives the node's packets.",
		LawLeak:       "Addresses that are assigned and unused are lost until the node has none left.",
		LawGone:       "No other node gets the addresses of a node that is gone.",
		LawNoNode:     "Nothing runs the pod, and its address may be another's by now.",
		LawFamily:     "Services and clients of the family that it lacks do not reach the pod.",
		LawStranded:   "Pods wait for addresses although the node has some that nobody gives out.",
		LawExhaustion: "A node without addresses starts no pod.",
	}[law]
}

// Finding is one thing that is wrong.
type Finding struct {
	Law      string   `json:"law"`
	Severity Severity `json:"severity"`
	// Subject is what it is about: an address, a range, a node.
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// String is a line for people.
func (f Finding) String() string {
	return fmt.Sprintf("%s %s: %s: %s", f.Severity, f.Law, f.Subject, f.Text)
}

// Report is what an audit found. Judged counts, by law, how many occasions it had to be broken; a law with none says
// nothing.
type Report struct {
	Nodes    int            `json:"nodes"`
	Pods     int            `json:"pods"`
	Findings []Finding      `json:"findings"`
	Judged   map[string]int `json:"judged"`
	// Systems are the CNIs that the objects show, each with what shows it and what of it counts.
	Systems []string `json:"systems,omitempty"`
	// Unknown says what could not be judged, for want of what, and how to get that.
	Unknown []string `json:"unknown,omitempty"`
	// Unread counts objects that say nothing here, by kind and group.
	Unread map[string]int `json:"unread,omitempty"`
}

// Broken reports whether an error was found.
func (r Report) Broken() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity == Error })
}
