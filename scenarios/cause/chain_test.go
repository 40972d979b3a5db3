package cause

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// toldOf is a recorder that was told lines, one a millisecond from the first event on, with facts and decisions by the
// number of their event.
func toldOf(lines []string, facts map[int]fact.Fact, decisions map[int]string) *Recorder {
	var r Recorder
	for i, line := range lines {
		seq := i + 1
		r.Event(int64(seq), time.Duration(seq)*time.Millisecond, int64(i), []byte(line))
		if f, ok := facts[seq]; ok {
			r.Fact(f)
		}
		if who, text, ok := strings.Cut(decisions[seq], " "); ok {
			r.Decided(who, text)
		}
	}
	return &r
}

func textOf(chain []result.Link) string {
	var out strings.Builder
	for _, l := range chain {
		fmt.Fprintf(&out, "%d %s: %s\n", l.Event, l.Kind, l.Text)
	}
	return out.String()
}

// Goal: a chain tells of an answer which records it went out on, that it did not wait for them, and that there are
// none. Method: a DEL answered with its record on the disk, before it is, and without a record.
func TestRecordsOfAnswer(t *testing.T) {
	owner := ipam.Owner{ContainerID: "aaaaaaaaaaaaaaaa"}
	deleted := fact.Fact{Node: "node-1", What: fact.Deleted{Pod: "default/web", Owner: owner}}
	known := fact.Fact{Node: "node-1", What: fact.SandboxGone{Pod: "default/web", Owner: owner}}
	for want, lines := range map[string][]string{
		"relies on records 7 (sandbox of default/web gone, event 2), reported to be on disk at event 3":                                                    {"node-1 cni del aaaaaaaaaaaa", "node-1 wake", "node-1 synced 7", "node-1 answer: ok"},
		"does not wait for the journal: records 7 (sandbox of default/web gone, event 2), of which the disk has not reported record 7, only those up to 6": {"node-1 cni del aaaaaaaaaaaa", "node-1 wake", "node-1 synced 6", "node-1 answer: ok"},
	} {
		r := toldOf(lines, map[int]fact.Fact{1: known, 4: deleted}, map[int]string{2: "node-1 writes record 7 to its journal: gone vppdrill/aaaaaaaaaaaaaaaa/eth0"})
		chain := r.Chain(&result.Failure{Law: "told-is-saved", Node: "node-1", What: "the DEL of default/web is answered, and the disk may still hold its lease", Event: 4})
		if text := textOf(chain); !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	r := toldOf([]string{"node-1 cni del aaaaaaaaaaaa", "node-1 answer: ok"}, map[int]fact.Fact{1: known, 2: deleted}, nil)
	chain := r.Chain(&result.Failure{Law: "told-is-saved", Node: "node-1", What: "the DEL of default/web is answered, and the disk may still hold its lease", Event: 2})
	if text := textOf(chain); !strings.Contains(text, "written no record about it") {
		t.Errorf("no record:\n%s", text)
	}
}

// Goal: of a cluster that finds no rest a chain tells who does what again and again, how often, how fast and with what
// answer; what was done before the timeline's last action does not count. Method: a controller that asks in vain, and a
// node that asked as often before the last action.
func TestRepeats(t *testing.T) {
	var lines []string
	for range 20 {
		lines = append(lines, "link node-1>api early 1", "link api>node-1 early 1: ok")
	}
	lines = append(lines, "action wipe-store")
	for range 20 {
		lines = append(lines, "link operator>api tend 10.1.0.0/28", "link api>operator tend 10.1.0.0/28: conflict")
	}
	r := toldOf(lines, nil, nil)
	text := textOf(r.Chain(&result.Failure{Law: result.LawSettles, What: "not quiet within 5m: operator is at work", Event: int64(len(lines))}))
	if want := "operator asks the API server: tend 10.1.0.0/28: repeated 20 times from here until the law breaks, on average every 2ms; the last answer: the API server answers operator: tend 10.1.0.0/28: conflict"; !strings.Contains(text, want) ||
		strings.Contains(text, "early 1: again") {
		t.Errorf("want %q in\n%s", want, text)
	}
}

// Goal: of a run whose start alone is told a chain says what is left out, counts no more than it saw, and leads to the
// law. Method: a controller that asks in vain, 40 lines of a million.
func TestStartAlone(t *testing.T) {
	lines := []string{"action wipe-store"}
	for range 20 {
		lines = append(lines, "link operator>api tend 10.1.0.0/28", "link api>operator tend 10.1.0.0/28: conflict")
	}
	f := result.Failure{Law: result.LawSettles, What: "not quiet within 5m: operator is at work", Event: 1_000_000, AtSeconds: 300}
	chain := toldOf(lines, nil, nil).Chain(&f)
	text := textOf(chain)
	for _, want := range []string{"repeated at least 20 times", "the run continues like this: 999959 more events until the law breaks are left out here"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if n := len(chain); n < 3 || chain[n-1].Event != f.Event || chain[n-1].AtSeconds != 300 || chain[n-2].Leads != f.Event || chain[0].Leads > f.Event {
		t.Errorf("out of place:\n%+v", chain)
	}
}

// Goal: for a run that diverges from the passing one, the chain reports the first difference, the actor's next
// difference and the origin of a wrong value, and reports no difference between equal runs. Method: runs of a few
// lines, one of which is kept.
func TestLeave(t *testing.T) {
	right := []string{"action start", "node-1 call add loop0 12:2b:00:00:00:01", "node-1 call add fib 12:2b:00:00:00:02", "node-1 call end 1", "node-1 call end 2"}
	for name, c := range map[string]struct {
		lines, want []string
	}{
		"wrong value": {[]string{"action start", "node-1 call add loop0 12:2b:00:00:00:01", "node-1 call add fib 12:2b:00:00:00:01", "node-1 call end 1"},
			[]string{"3 unusual: first difference", "in the other run node-1's agent calls add: fib 12:2b:00:00:00:02", "12:2b:00:00:00:01 is first seen here: node-1's agent calls add: loop0"}},
		"left out": {[]string{"action start", "node-1 call add loop0 12:2b:00:00:00:01", "node-1 call end 1", "node-1 call end 2"},
			[]string{"3 unusual: first difference", "in the other run node-1's agent calls add: fib 12:2b:00:00:00:02, which this run never does"}},
		"longer":  {append(right[:5:5], "node-1 call end 3"), []string{"6 unusual: up to here this run equals", "which ends here; this run goes on: node-1's agent calls end: 3"}},
		"nothing": {right[:3], []string{"up to here this run equals the passing run of this scenario and seed"}},
	} {
		var p Precedents
		p.Keep("x", toldOf(right, nil, nil))
		r := toldOf(c.lines, nil, nil)
		if err := r.Beside(&p, "x"); err != nil {
			t.Fatal(err)
		}
		text := textOf(r.Chain(&result.Failure{Law: "reachable", Node: "node-1", What: "node-1 does not reach node-2", Event: int64(len(c.lines))}))
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: want %q in\n%s", name, want, text)
			}
		}
	}
}

// Goal: what an ipamd does and hears is told as of a program. Method: a table of lines, as they are and as steps have
// them.
func TestLinesOfIPAMD(t *testing.T) {
	for line, want := range map[string]string{
		"node-1 ipamd":                       "node-1's ipamd starts",
		"node-1 ipamd wakes":                 "node-1's ipamd wakes",
		"node-1 ec2 1 describe-enis":         "node-1's ipamd calls describe-enis",
		"node-1 ec# # set-up-eni eni#":       "node-1's ipamd calls set-up-eni eni#",
		"node-1 ec2 answers describe-enis":   "node-1's ipamd is answered: describe-enis",
		"node-2: ipamd 12 assign-units: no":  "node-2's ipamd reports for its call assign-units: no",
		"node-2: ipamd eni-0000 is attached": "node-2's ipamd eni-0000 is attached",
	} {
		if text, _ := (&Recorder{}).tellLine(line); text != want {
			t.Errorf("%s: %q, want %q", line, text, want)
		}
	}
}

// Goal: a chain tells where a controller falls silent about a node that has no block, and says that the step is not known
// where the controller never did anything like it. Method: a controller that has given one node a block and has heard of
// the next; the same with a controller that only reads.
func TestSilence(t *testing.T) {
	lines := []string{"link operator-1>api patch-node #1 node-1 10.1.0.0/24", "link api>operator-1 patch-node #1 node-1 10.1.0.0/24: node-1 rv 2", "action add-node",
		"watch api>operator-1 nodes added node-2 rv 3", "node-2 agent up", "link operator-1>api list nodes", "node-2 wake"}
	failure := &result.Failure{Law: "nodes-served", Node: "node-2", What: "2 pods of node-2 wait for an address and node-2 has no block", Event: int64(len(lines))}
	text := textOf(toldOf(lines, nil, nil).Chain(failure))
	if want := "4 missing: missing: operator-1 is notified: nodes added node-2 rv 3: after this event operator takes no step for node-2 until the law breaks, 3ms later; " +
		"its last one for another node is at event 1: operator-1 asks the API server: patch-node #1 node-1 10.1.0.0/24"; !strings.Contains(text, want) || strings.Contains(text, "not known") {
		t.Errorf("want %q in\n%s", want, text)
	}
	lines[0], lines[1] = "link operator-1>api list pods", "link api>operator-1 list pods: 3 rv 2"
	text = textOf(toldOf(lines, nil, nil).Chain(failure))
	if want := "7 missing: not known: this run alone does not show which step is missing; compare with a passing run: --passed FILE"; !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}
