package explore_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// claim is something that lines of chains say beyond their event.
type claim struct {
	pattern *regexp.Regexp
	// untrue says what of it is not so, or nothing.
	untrue func(x *witness, f *result.Failure, l *result.Link, m []string) string
}

var claims = []claim{
	{regexp.MustCompile(`record ([0-9]+) in the store.*; (\S+) (is notified|reads the store) at event ([0-9]+)`), heard},
	{regexp.MustCompile(`record ([0-9]+) in the store.*; (\S+) was not notified before the law breaks`), unheard},
	{regexp.MustCompile(`; (\S+) was not notified before the law breaks`), func(_ *witness, _ *result.Failure, l *result.Link, _ []string) string {
		if !strings.Contains(l.Text, " in the store ") {
			return "of nothing"
		}
		return ""
	}},
	{regexp.MustCompile(`relies on records .*\b([0-9]+) \([^()]*, event ([0-9]+)\), reported to be on disk at event ([0-9]+)`), onDisk},
	{regexp.MustCompile(`the disk has not reported record ([0-9]+)`), notOnDisk},
	{regexp.MustCompile(`has written no record about it to its journal since event ([0-9]+)`), noRecord},
	{regexp.MustCompile(`(\S+) is first seen here`), firstSeen},
	{regexp.MustCompile(`(?:^|; )([^;]*): repeated (?:at least )?([0-9]+) times from here until the law breaks, on average every (\S+?)(?:;|$)`), repeated},
	{regexp.MustCompile(`after this event (\S+) takes no step in this run`), nothingMore},
	{regexp.MustCompile(`probably missing for (\S+) \(.*\): (\S+)'s agent gives IP to POD`), notLeased},
	{regexp.MustCompile(`^([^;]*)'s agent waits: ([^;]*), and waits until the law breaks`), stillWaits},
	{regexp.MustCompile(`without step ([0-9]+) of the timeline, (.*), nothing breaks`), ofTimeline},
	{regexp.MustCompile(`its journal holds ([0-9]+) leases?`), journalHolds},
	{regexp.MustCompile(`after this event (\S+) takes no step for (\S+) until the law breaks, (\S+) later; its last one for another node is at event ([0-9]+)`), silent},
	{regexp.MustCompile(`after this event (\S+) takes no step until the law breaks, (\S+) later`), paused},
	{regexp.MustCompile(`it took ([0-9]+) such steps since the timeline's last action, on average every (\S+)`), paced},
	{regexp.MustCompile(`after this event (\S+)'s agent makes no call for (\S+) until the law breaks, (\S+) later`), uncalled},
	{regexp.MustCompile(`no agent makes a call for (\S+) until the law breaks`), uncalled},
	{regexp.MustCompile(`^missing: (.*?); from here on the other run`), notToldElsewhere},
}

// heard: the node hears of the key at that event, and the record has not changed again before.
func heard(x *witness, _ *result.Failure, l *result.Link, m []string) string {
	at, _ := strconv.Atoi(m[4])
	line, key := x.lines[at-1], regexp.MustCompile(`allocatedIDs/`+m[1]+`\b`)
	if !strings.Contains(line, "store>"+m[2]+" ") || !key.MatchString(line) && !strings.Contains(line, " list ") {
		return "event " + m[4] + " is " + line
	}
	for _, c := range x.changes(m[1]) {
		if c > int(l.Event) && c < at {
			return fmt.Sprintf("the record changes again at event %d", c)
		}
	}
	return ""
}

// unheard: no line tells the node of the key until the end.
func unheard(x *witness, f *result.Failure, l *result.Link, m []string) string {
	for i := int(l.Event); i < int(f.Event); i++ {
		if line := x.lines[i]; strings.Contains(line, "store>"+m[2]+" ") && regexp.MustCompile(`allocatedIDs/`+m[1]+`\b`).MatchString(line) {
			return fmt.Sprintf("event %d is %s", i+1, line)
		}
	}
	return ""
}

// changes are the events of the changes of a node ID's record.
func (x *witness) changes(id string) (out []int) {
	for _, f := range x.facts {
		if c, ok := f.fact.(fact.RecordChange); ok && strconv.Itoa(int(c.ID)) == id {
			out = append(out, x.eventOf(f))
		}
	}
	return out
}

// eventOf is the event that a fact belongs to.
func (x *witness) eventOf(f noted) int {
	if f.event > 0 && f.at > x.at[f.event-1] {
		return f.event + 1
	}
	return f.event
}

// onDisk: the node's disk reports that record at that event, after it was written, in the same life, and not before.
func onDisk(x *witness, _ *result.Failure, l *result.Link, m []string) string {
	number, _ := strconv.Atoi(m[1])
	from, _ := strconv.Atoi(m[2])
	to, _ := strconv.Atoi(m[3])
	for i := from; i <= to; i++ {
		if synced, ok := strings.CutPrefix(x.lines[i-1], l.Node+" synced "); ok {
			if n, _ := strconv.Atoi(synced); (n >= number) != (i == to) {
				return fmt.Sprintf("event %d is %s", i, x.lines[i-1])
			}
		} else if i == to {
			return fmt.Sprintf("event %d is %s", i, x.lines[i-1])
		}
	}
	for _, f := range x.facts {
		if _, up := f.fact.(fact.AgentUp); up && f.who == l.Node && f.event > from && f.event <= to {
			return fmt.Sprintf("the agent starts anew at event %d", f.event)
		}
	}
	return x.wrote(l.Node, from, m[1])
}

// wrote says that a node wrote no such record at an event.
func (x *witness) wrote(node string, event int, number string) string {
	for _, d := range x.decisions {
		if d.who == node && d.event == event && strings.HasPrefix(d.text, "writes record "+number+" ") {
			return ""
		}
	}
	return fmt.Sprintf("%s writes no record %s at event %d", node, number, event)
}

func notOnDisk(x *witness, _ *result.Failure, l *result.Link, m []string) string {
	number, _ := strconv.Atoi(m[1])
	for i := int(l.Event); i > 0; i-- {
		for _, d := range x.decisions {
			if d.who == l.Node && d.event == i && strings.HasPrefix(d.text, "writes record "+m[1]+" ") {
				return ""
			}
		}
		if synced, ok := strings.CutPrefix(x.lines[i-1], l.Node+" synced "); ok {
			if n, _ := strconv.Atoi(synced); n >= number {
				return fmt.Sprintf("event %d is %s", i, x.lines[i-1])
			}
		}
	}
	return "it was never written"
}

// noRecord: no write since that event names the pod of the answer.
func noRecord(x *witness, _ *result.Failure, l *result.Link, m []string) string {
	since, _ := strconv.Atoi(m[1])
	for _, d := range x.decisions {
		if d.who != l.Node || d.event < since || d.event > int(l.Event) || !strings.HasPrefix(d.text, "writes record ") {
			continue
		}
		for head, pod := range x.names { // in any order: one is enough
			if strings.Contains(d.text, head) && regexp.MustCompile(regexp.QuoteMeta(pod)+`\b`).MatchString(l.Text) {
				return fmt.Sprintf("at event %d it %s", d.event, d.text)
			}
		}
	}
	return ""
}

func firstSeen(x *witness, _ *result.Failure, l *result.Link, m []string) string {
	whole := regexp.MustCompile(`(?:^|[^0-9a-z.-])` + regexp.QuoteMeta(m[1]) + `(?:$|[^0-9a-z.-])`)
	for i := 1; i < int(l.Event); i++ {
		if whole.MatchString(x.lines[i-1]) {
			return fmt.Sprintf("event %d is %s", i, x.lines[i-1])
		}
	}
	for _, f := range x.facts {
		if leased, ok := f.fact.(fact.Leased); ok && f.event < int(l.Event) && leased.Addr.String() == m[1] {
			return fmt.Sprintf("it is given to a pod at event %d", f.event)
		}
	}
	return ""
}

var numberPattern = regexp.MustCompile(`request=[0-9]+|#[0-9]+|\b(?:after|at|rv|version=) ?[0-9]+`)

// repeated: as many lines like the event's, without what numbers them, from it on, and as long apart.
func repeated(x *witness, f *result.Failure, l *result.Link, m []string) string {
	want, _ := strconv.Atoi(m[2])
	bare := func(line string) string {
		return strings.Join(strings.Fields(numberPattern.ReplaceAllString(line, "")), " ")
	}
	times, last := 0, l.Event
	for i := int(l.Event); i <= int(f.Event) && i <= len(x.lines); i++ {
		if bare(x.lines[i-1]) == bare(x.lines[l.Event-1]) {
			times, last = times+1, int64(i)
		}
	}
	every, err := scenarios.ParseDuration(m[3])
	apart := time.Duration(0)
	if times > 1 {
		apart = (x.at[last-1] - x.at[l.Event-1]) / time.Duration(times-1)
	}
	if times != want || err != nil || (apart-every).Abs() > 100*time.Microsecond {
		return fmt.Sprintf("%d times, %s apart: %v", times, apart, err)
	}
	return ""
}

// nothingMore: no call, request or answer of the program after the event.
func nothingMore(x *witness, f *result.Failure, l *result.Link, m []string) string {
	own := regexp.MustCompile(`^` + m[1] + `(?: call |: answer |: event )|^link ` + m[1] + `>`)
	for i := int(l.Event); i < int(f.Event) && i < len(x.lines); i++ {
		if line := x.lines[i]; own.MatchString(line) && !regexp.MustCompile(` dump| list | watch | looks$`).MatchString(line) {
			return fmt.Sprintf("event %d is %s", i+1, line)
		}
	}
	return ""
}

// notLeased: the node gives nobody the address until the end.
func notLeased(x *witness, f *result.Failure, _ *result.Link, m []string) string {
	for _, seen := range x.facts {
		if leased, ok := seen.fact.(fact.Leased); ok && seen.who == m[2] && seen.event <= int(f.Event) &&
			strings.TrimSuffix(m[1], "/32") == leased.Addr.String() {
			return fmt.Sprintf("it is given to a pod at event %d", seen.event)
		}
	}
	return ""
}

func stillWaits(x *witness, f *result.Failure, _ *result.Link, m []string) string {
	last := ""
	for _, d := range x.decisions {
		if d.who == m[1] && d.event <= int(f.Event) && strings.HasPrefix(d.text, "waits: ") {
			last = d.text
		}
	}
	if !strings.HasPrefix(last, "waits: ") || last == "waits: for nothing" {
		return "at last it " + last
	}
	return ""
}

// ofTimeline: the timeline has that step, and the run without it breaks nothing.
func ofTimeline(x *witness, _ *result.Failure, l *result.Link, m []string) string {
	n, _ := strconv.Atoi(m[1])
	if n < 1 || n > len(x.s.Timeline) || x.s.Timeline[n-1].String() != m[2] {
		return "the timeline has no such step"
	}
	line := "action " + x.s.Timeline[n-1].Action.String()
	if x.lines[l.Event-1] != line {
		for i := range x.lines {
			if x.lines[i] == line && i >= int(l.Event) {
				return fmt.Sprintf("it is done at event %d", i+1)
			}
		}
	}
	return ""
}

func journalHolds(x *witness, _ *result.Failure, l *result.Link, m []string) string {
	for _, f := range x.facts {
		if up, ok := f.fact.(fact.AgentUp); ok && f.event == int(l.Event) && strconv.Itoa(len(up.Leases)) == m[1] {
			return ""
		}
	}
	if strings.Contains(l.Text, "the other run") {
		return ""
	}
	return "no agent starts with as many"
}

// notToldElsewhere: what is said not to happen from an event on is no other line of the chain from there on.
func notToldElsewhere(_ *witness, f *result.Failure, l *result.Link, m []string) string {
	for _, o := range f.Chain {
		if o.Event > l.Event && o.Kind != "missing" && strings.HasPrefix(o.Text, m[1]) {
			return fmt.Sprintf("event %d tells it", o.Event)
		}
	}
	return ""
}

// own matches the requests and events of a program, or of each replica of a kind of them.
func own(who string) *regexp.Regexp {
	who = regexp.QuoteMeta(who) + `(?:-[0-9]+)?`
	return regexp.MustCompile(`^(?:link ` + who + `>\S+ (?:patch|touch|update|create|delete|get|append|grant|take)|` + who + `: event )`)
}

// after is an event behind a link, until the law breaks, whose line both patterns match; 0 if there is none.
func (x *witness) after(f *result.Failure, l *result.Link, who, what *regexp.Regexp) string {
	for i := int(l.Event); i < int(f.Event) && i < len(x.lines); i++ {
		if who.MatchString(x.lines[i]) && what.MatchString(x.lines[i]) {
			return fmt.Sprintf("event %d is %s", i+1, x.lines[i])
		}
	}
	return ""
}

// later: the law breaks that long after the event.
func (x *witness) later(f *result.Failure, l *result.Link, text string) string {
	d, err := scenarios.ParseDuration(text)
	if wrong := f.AtSeconds - x.at[l.Event-1].Seconds() - d.Seconds(); err != nil || max(wrong, -wrong) > 1e-4 {
		return fmt.Sprintf("the law breaks at %gs, the event is at %s", f.AtSeconds, x.at[l.Event-1])
	}
	return ""
}

// silent: no request or event of a kind of programs has the node behind the event, which has it; and the other event is
// one for another node.
func silent(x *witness, f *result.Failure, l *result.Link, m []string) string {
	node := regexp.MustCompile(`\b` + regexp.QuoteMeta(m[2]) + `\b`)
	other, _ := strconv.Atoi(m[4])
	switch line := x.lines[other-1]; {
	case !node.MatchString(x.lines[l.Event-1]):
		return "the event has nothing of " + m[2]
	case !own(m[1]).MatchString(line) || node.MatchString(line):
		return fmt.Sprintf("event %d is %s", other, line)
	}
	for i := other; i < int(f.Event) && i < len(x.lines); i++ {
		if line := x.lines[i]; own(m[1]).MatchString(line) && !strings.Contains(line, " touch-") && !strings.Contains(line, ": event ") &&
			strings.Contains(line, " node-") && !node.MatchString(line) {
			return fmt.Sprintf("event %d is a later one for another node", i+1)
		}
	}
	return x.after(f, l, own(m[1]), node) + x.later(f, l, m[3])
}

// paused: no request or event of the program behind the event.
func paused(x *witness, f *result.Failure, l *result.Link, m []string) string {
	return x.after(f, l, own(m[1]), regexp.MustCompile("")) + x.later(f, l, m[2])
}

// paced: as many lines that begin like the event's, up to it from the last action on, and as far apart.
func paced(x *witness, _ *result.Failure, l *result.Link, m []string) string {
	head := regexp.MustCompile(`^link \S+ \S+`).FindString(x.lines[l.Event-1])
	times, first := 0, int(l.Event)
	for i := int(l.Event); i > 0 && !strings.HasPrefix(x.lines[i-1], "action "); i-- {
		if strings.HasPrefix(x.lines[i-1], head+" ") {
			times, first = times+1, i
		}
	}
	every, err := scenarios.ParseDuration(m[2])
	if err != nil || strconv.Itoa(times) != m[1] || ((x.at[l.Event-1]-x.at[first-1])/time.Duration(max(times-1, 1))-every).Abs() > time.Millisecond {
		return fmt.Sprintf("%d times from event %d on", times, first)
	}
	return ""
}

// uncalled: no call, of the agent or of all, has the service's address and port behind the event, or at all.
func uncalled(x *witness, f *result.Failure, l *result.Link, m []string) string {
	address := regexp.MustCompile(`service ` + regexp.QuoteMeta(m[len(m)-1]) + ` `)
	if len(m) == 4 {
		address = regexp.MustCompile(`service ` + regexp.QuoteMeta(m[2]) + ` `)
		if !address.MatchString(x.lines[l.Event-1]) {
			return "the event has none"
		}
		return x.after(f, l, regexp.MustCompile(`^`+m[1]+` call nat44_`), address) + x.later(f, l, m[3])
	}
	return x.after(f, &result.Link{}, regexp.MustCompile(` call nat44_`), address)
}
