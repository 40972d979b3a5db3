package result

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// witness remembers when what a scenario expects last changed, and the names of what changed. Only a run with such
// expectations has one: its memory grows with the pods of the run.
type witness struct {
	// attached is the number of attached pods, and attachedAt when it last changed.
	attached   int64
	attachedAt time.Duration
	// seen are pods by UID.
	seen map[string]*seenPod
	// nodes are the members so far.
	nodes map[string]*seenNode
}

type seenPod struct {
	name, node, why   string
	answered, refused time.Duration
}

type seenNode struct {
	joined, left time.Duration
}

// newWitness is nil where nothing is counted.
func newWitness(e scenarios.Expect) *witness {
	if e.Pods == nil && e.Nodes == nil && e.Unscheduled == nil && e.Waiting == nil && e.Refused == nil && e.NeverAnswered == nil {
		return nil
	}
	return &witness{seen: map[string]*seenPod{}, nodes: map[string]*seenNode{}}
}

// observe processes one fact, which the tally has seen already.
func (w *witness) observe(t *tally, f *fact.Fact) {
	if t.attached != w.attached {
		w.attached, w.attachedAt = t.attached, f.At
	}
	if n := w.nodes[f.Node]; f.Node != "" && (n == nil || n.left != never) {
		if _, starts := f.What.(fact.AgentUp); n == nil || starts { // facts about what a node leaves come after it has left
			w.nodes[f.Node] = &seenNode{joined: f.At, left: never}
		}
	}
	switch x := f.What.(type) {
	case fact.NodeGone:
		if n := w.nodes[f.Node]; n != nil && x.Left && n.left == never {
			n.left = f.At
		}
	case fact.PodChanged:
		w.pod(x.PodUID, x.Pod)
	case fact.Answered:
		p := w.pod(x.PodUID, x.Pod)
		p.node, p.answered = f.Node, f.At
	case fact.Refused:
		p := w.pod(x.PodUID, x.Pod)
		p.node, p.refused, p.why = f.Node, f.At, x.Why
	}
}

func (w *witness) pod(uid, name string) *seenPod {
	p := w.seen[uid]
	if p == nil {
		p = &seenPod{name: name, answered: never, refused: never}
		w.seen[uid] = p
	}
	return p
}

// dated is an object in words with when it became so.
type dated struct {
	at   time.Duration
	text string
}

// lastFirst are objects in words, the last ones first.
func lastFirst(list []dated) (out []string) {
	slices.SortFunc(list, func(a, b dated) int { return cmp.Or(-cmp.Compare(a.at, b.at), cmp.Compare(a.text, b.text)) })
	for _, d := range list {
		out = append(out, d.text)
	}
	return out
}

func at(t time.Duration) string { return moment(t.Seconds()) }

// moment is a time as people read it, to the millisecond.
func moment(seconds float64) string {
	return scenarios.FormatDuration(time.Duration(seconds * float64(time.Second)).Round(time.Millisecond))
}

// pods says since when as many pods as now are attached, and which are too many, or which have no address or lost it.
// attached are those that have one, with their nodes.
func (w *witness) pods(attached map[string]string, seen, want int) (since float64, objects []string) {
	since = -1
	if w.attached == int64(seen) {
		since = w.attachedAt.Seconds()
	}
	var list []dated
	for _, p := range w.seen { //vppdrill:unordered sorted by lastFirst
		node, has := attached[p.name]
		switch {
		case has && seen > want && p.answered != never:
			list = append(list, dated{p.answered, fmt.Sprintf("%s on %s has an address since %s", p.name, node, at(p.answered))})
		case has || seen > want:
		case p.answered != never:
			list = append(list, dated{p.answered, fmt.Sprintf("%s was attached on %s from %s and is not any more", p.name, p.node, at(p.answered))})
		default:
			list = append(list, p.unplaced())
		}
	}
	return since, lastFirst(list)
}

// unplaced says why a pod has no address.
func (p *seenPod) unplaced() dated {
	if p.refused == never {
		return dated{0, p.name + " has no answer to an ADD"}
	}
	return dated{p.refused, fmt.Sprintf("%s on %s was refused at %s: %s", p.name, p.node, at(p.refused), p.why)}
}

// members says since when there are as many nodes as now, and which left, or which are there.
func (w *witness) members(nodes []fact.NodeState, want int) (since float64, objects []string) {
	var list []dated
	members, last := 0, time.Duration(0)
	for name, n := range w.nodes { //vppdrill:unordered sorted by lastFirst
		last = max(last, n.joined, n.left)
		if n.left != never {
			list = append(list, dated{n.left, fmt.Sprintf("%s left at %s", name, at(n.left))})
			continue
		}
		members++
		if len(nodes) > want {
			list = append(list, dated{n.joined, fmt.Sprintf("%s is a member since %s", name, at(n.joined))})
		}
	}
	if since = last.Seconds(); members != len(nodes) {
		since = -1
	}
	return since, lastFirst(list)
}

// fate is why a pod never got an address.
type fate int

const (
	placed fate = iota
	unscheduled
	neverAnswered
	waiting
	refusedPods
)

// class names the pods of a fate and since when the last of them has it, where that is known.
func (w *witness) class(t *tally, of fate) func() (since float64, objects []string) {
	return func() (float64, []string) {
		var list []dated
		last := never
		for uid, l := range t.lives.byUID { //vppdrill:unordered sorted by lastFirst
			if p := w.seen[uid]; p != nil && l.fate() == of {
				d := p.unplaced()
				if of == unscheduled {
					d = dated{l.created, fmt.Sprintf("%s was created at %s and got no node", p.name, at(l.created))}
				}
				list, last = append(list, d), max(last, d.at)
			}
		}
		if last == never {
			return -1, nil
		}
		return last.Seconds(), lastFirst(list)
	}
}
