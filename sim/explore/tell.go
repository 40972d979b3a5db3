package explore

import (
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/cause"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// A story shows at most tellMost events, and fewer of large clusters: each costs a look at its node.
const (
	tellMost  = 3000
	tellLeast = 200
	tellLines = 1_500_000
)

// teller is an account of a run: for the chain of causes all of it, for a page the last events with what each changed
// about its node.
type teller struct {
	told  cause.Recorder
	state func() (fact.Snapshot, error)
	// from and until are the first and the last event of the page's, 0 for none.
	from, until int64
	story       result.Story
	open        bool // the last of story.Events has not happened yet
	lines       map[string][]string
	// most is the last event that is kept for the chain, 0 for all; behind it stop is called, and full is set.
	most int64
	stop func()
	full bool
}

// tellerOf is one for a page that shows the events up to last of a cluster; 0: none.
func tellerOf(nodes int, last int64) *teller {
	if last == 0 {
		return &teller{}
	}
	window := int64(tellLines / (60 + 8*nodes))
	return &teller{from: max(1, last+1-min(max(window, tellLeast), tellMost)), until: last}
}

// Begin implements sim.Account.
func (t *teller) Begin(state func() (fact.Snapshot, error)) { t.state = state }

// Fact implements sim.Account.
func (t *teller) Fact(f fact.Fact) {
	if !t.full {
		t.told.Fact(f)
	}
}

// Decided implements sim.Account.
func (t *teller) Decided(who, text string) {
	if !t.full {
		t.told.Decided(who, text)
	}
}

// Event implements sim.Account.
func (t *teller) Event(seq int64, at time.Duration, parent int64, line []byte) {
	if t.most > 0 && seq > t.most {
		t.full = true
		t.stop() // the world notices within a second of virtual time
		return
	}
	t.told.Event(seq, at, parent, line)
	if t.from == 0 || seq < t.from || seq > t.until+1 {
		return
	}
	s, err := t.state()
	if err != nil {
		return
	}
	if t.lines == nil {
		t.lines, t.story.Base = map[string][]string{}, map[string][]string{}
		for i := range s.Nodes {
			n := &s.Nodes[i]
			t.lines[n.Name] = n.Lines()
			t.story.Base[n.Name] = t.lines[n.Name]
		}
	}
	t.happened(s)
	if seq <= t.until {
		text := string(line)
		t.story.Events = append(t.story.Events, result.Told{Event: seq, AtSeconds: at.Seconds(), Line: text, Node: cause.NodeOf(text)})
		t.open = true
	}
}

// happened closes the last event with what it changed. What neither changed anything nor says what happened is left
// out.
func (t *teller) happened(s fact.Snapshot) {
	if !t.open {
		return
	}
	t.open = false
	e := &t.story.Events[len(t.story.Events)-1]
	if e.Node != "" {
		var now []string
		if n, there := s.Node(e.Node); there {
			now = n.Lines()
		}
		before := t.lines[e.Node]
		e.Went, e.Came = fact.LinesWithout(before, now), fact.LinesWithout(now, before)
		t.lines[e.Node] = now
	}
	if len(e.Went)+len(e.Came) == 0 && slices.ContainsFunc(silent, func(word string) bool { return strings.Contains(e.Line, word) }) {
		t.story.Events = t.story.Events[:len(t.story.Events)-1]
	}
}

// silent are the words of events that only carry others.
var silent = []string{"link ", "watch ", "scheduler ", "informer ", " wake", " synced"}

// end takes what the last event changed.
func (t *teller) end() {
	if t.open && t.state != nil {
		if s, err := t.state(); err == nil {
			t.happened(s)
		}
	}
}
