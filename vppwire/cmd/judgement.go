package cmd

import (
	"cmp"
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/vppwire/internal/conformance"
)

// Judgement is what a command found out about a running cluster, for reports.
type Judgement struct {
	// Name is the command's, Goal one sentence about what was judged.
	Name, Goal string
	Seed       uint64
	Started    time.Time
	Took       time.Duration
	Nodes      int
	Notes      []string
	// Laws are all that could be judged, in their order.
	Laws []JudgedLaw
}

// JudgedLaw is how one law fared; one without occasions was not judged.
type JudgedLaw struct {
	Name, Why string
	Occasions int
	// Broken has a sentence for each violation.
	Broken []string
}

// whys are what breaks for a user when a law of conformance does.
var whys = map[string]string{
	conformance.LawStart:   "A pod that does not start has no network, or its runtime got no answer.",
	conformance.LawPods:    "Every pod reaches every other without translation: Kubernetes promises it.",
	conformance.LawService: "A service's address leads to one of its endpoints.",
	conformance.LawGone:    "A pod that does not go keeps its address and its name.",
	conformance.LawRoll:    "A CNI's own upgrade may not cut off pods that run.",
	conformance.LawDrain:   "A node that cannot be emptied and filled again cannot be upgraded.",
}

func whyOf(law string) string { return cmp.Or(whys[law], audit.Why(law)) }

// auditJudgement is an audit for reports: its errors break laws, its warnings are notes.
func auditJudgement(r audit.Report, began time.Time) Judgement {
	j := Judgement{Name: "audit", Goal: fmt.Sprintf("The addresses of a running cluster of %d nodes and %d pods, as its objects show them.", r.Nodes, r.Pods),
		Started: began, Took: time.Since(began), Nodes: r.Nodes, Notes: notesOf(r)}
	for _, name := range audit.Laws() {
		l := JudgedLaw{Name: name, Why: audit.Why(name), Occasions: r.Judged[name]}
		for _, f := range r.Findings {
			switch {
			case f.Law != name:
			case f.Severity == audit.Error:
				l.Broken = append(l.Broken, f.Subject+": "+f.Text)
			default:
				j.Notes = append(j.Notes, f.String())
			}
		}
		j.Laws = append(j.Laws, l)
	}
	return j
}

// judgement is a conformance run for reports.
func judgement(r conformance.Result, seed uint64, began time.Time) Judgement {
	j := Judgement{Name: "conformance", Goal: fmt.Sprintf("A running cluster of %d nodes, judged by pods made in it for %d rounds.", r.Nodes, r.Rounds),
		Seed: seed, Started: began, Took: time.Since(began), Nodes: r.Nodes, Notes: r.Notes}
	if r.Namespace == "" {
		j.Goal = fmt.Sprintf("A cluster of %d nodes, judged by the objects that files show of it.", r.Nodes)
	}
	for _, name := range append(conformance.Laws(), audit.Laws()...) {
		l := JudgedLaw{Name: name, Why: whyOf(name), Occasions: r.Occasions[name]}
		for _, v := range r.Broken {
			if v.Law == name {
				l.Broken = append(l.Broken, inRound(v))
			}
		}
		j.Laws = append(j.Laws, l)
	}
	return j
}
