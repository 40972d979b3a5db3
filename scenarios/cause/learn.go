package cause

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// Learner learns habits from runs that broke no law.
type Learner struct {
	names   map[string]int32
	texts   []string
	threads []lesson
	run     int32
	// known are numbers by class and step; next counts which own step comes behind which, by scope.
	known map[string][]map[string]int
	next  map[[2]string]map[string]int
}

type lesson struct {
	scope int32
	run   int32
	steps []int32
	// acts: the step is one of those that change something.
	acts []bool
	at   []time.Duration
	end  time.Duration
}

func (l *Learner) name(text string) int32 {
	if l.names == nil {
		l.names = map[string]int32{}
	}
	n, ok := l.names[text]
	if !ok {
		n = int32(len(l.texts))
		l.names[text] = n
		l.texts = append(l.texts, text)
	}
	return n
}

// Learn takes a whole run.
func (l *Learner) Learn(r *Recorder) {
	if len(r.events) == 0 {
		return
	}
	l.run++
	l.take(r.threads(r.first, r.first+int64(len(r.events))-1))
}

func (l *Learner) take(threads []*thread) {
	for _, t := range threads {
		l.follow(t)
		x := lesson{scope: l.name(t.scope), run: l.run, end: t.end}
		for _, s := range t.steps {
			l.know(t, &s)
			x.acts = append(x.acts, acts(t.scope, s.text))
			x.steps, x.at = append(x.steps, l.name(s.text)), append(x.at, s.at)
		}
		l.threads = append(l.threads, x)
	}
}

// nothing stands for what comes behind a step behind which nothing came for long.
const nothing = "nothing"

// quiet is how long nothing must have come for that.
const quiet = 5 * time.Second

// links lists the steps of a thread that are looked at for what comes next: own ones about one thing, of a life those that change something, and of
// a node's life the calls to its dataplane, since its VPP is up: it goes on to answer whatever becomes of them.
func (t *thread) links() (list []taken) {
	life := strings.HasSuffix(t.scope, " life")
	for _, s := range t.steps {
		switch {
		case t.scope == "node life" && s.text == "@ vpp up":
		case t.scope == "node life" && !strings.HasPrefix(s.text, "@ call "), life && !acts(t.scope, s.text), !owned(t.scope, s.text):
			continue
		}
		list = append(list, s)
	}
	if n := len(list); n > 0 && t.end-list[n-1].at >= quiet {
		list = append(list, taken{text: nothing, event: list[n-1].event, at: list[n-1].at})
	}
	return list
}

// follow notes what comes behind each step.
func (l *Learner) follow(t *thread) {
	if l.next == nil {
		l.next = map[[2]string]map[string]int{}
	}
	list := t.links()
	for i, s := range list[min(1, len(list)):] {
		k := [2]string{t.scope, list[i].text}
		if l.next[k] == nil {
			l.next[k] = map[string]int{}
		}
		l.next[k][s.text]++
	}
}

// nexts are what comes behind steps of which enough is known: all that ever did, or in the life of a process, where much happens at a time, what
// does most often, and how often nothing.
func (l *Learner) nexts(least int) (out []Habit) {
	const variety = 16
	for k, n := range l.next { //vppdrill:unordered sorted by the caller
		total := 0
		for _, c := range n { //vppdrill:unordered summed
			total += c
		}
		life := strings.HasSuffix(k[0], " life")
		process, _, _ := strings.Cut(k[0], " ")
		if total < least || len(n) > variety && !life || slices.Contains(simulated, process) {
			continue
		}
		steps := slices.SortedFunc(maps.Keys(n), func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), strings.Compare(a, b)) })
		for i, s := range steps {
			if !life || i == 0 || s == nothing {
				out = append(out, Habit{Scope: k[0], Did: k[1], Other: s, Next: true, Seen: total, Kept: n[s], rank: i})
			}
		}
	}
	return out
}

// know notes that a step is taken in runs that pass, and with which numbers.
func (l *Learner) know(t *thread, s *taken) {
	class, life := strings.CutSuffix(t.scope, " life")
	if !life || !owned(t.scope, s.text) {
		return
	}
	if l.known == nil {
		l.known = map[string][]map[string]int{}
	}
	k := class + " " + s.text
	numbers, ok := l.known[k]
	if !ok {
		numbers = make([]map[string]int, len(s.values))
		l.known[k] = numbers
	}
	for i, v := range s.values[:min(len(s.values), len(numbers))] {
		if numbers[i] == nil {
			numbers[i] = map[string]int{}
		}
		if len(numbers[i]) <= numbersMost {
			numbers[i][v]++
		}
	}
}

// numbersMost is how many different numbers a place of a step has at most for another one to be unusual.
const numbersMost = 6

// Known lists the steps that runs which broke no law take, each with the numbers that stand in each of its places, or "*" for any.
func (l *Learner) Known() string {
	var out strings.Builder
	for _, k := range slices.Sorted(maps.Keys(l.known)) {
		class, _, _ := strings.Cut(k, " ")
		if slices.Contains(simulated, class) {
			continue
		}
		out.WriteString(k)
		for _, n := range l.known[k] {
			total := 0
			for _, c := range n { //vppdrill:unordered summed
				total += c
			}
			if len(n) == 0 || len(n) > numbersMost || total < 30 {
				out.WriteString("\t*")
				continue
			}
			out.WriteString("\t" + strings.Join(slices.Sorted(maps.Keys(n)), ","))
		}
		out.WriteString("\n")
	}
	return out.String()
}

const (
	// nearMost is how many different steps before one, or acts behind it, are looked at for what belongs to it, and farMost how many steps.
	nearMost, farMost = 10, 200
	// patience is how long a run must go on for what was not done in it to count as not done.
	patience = 2 * time.Second
)

type pair struct {
	scope, did, other int32
	earlier           bool
}

type tally struct {
	kept, rank, runs int
	// both is how often both are there.
	both int
	run  int32
	// within counts how far apart the two were, by powers of two of a microsecond.
	within [48]int32
}

// near calls found with the different steps that come next behind the last time, or before the first, of each step.
func (x *lesson) near(each func(did int32, earlier bool), found func(p pair, rank int)) {
	first, last := x.ends()
	for _, earlier := range [...]bool{false, true} {
		from, way := last, 1
		if earlier {
			from, way = first, -1
		}
		for s, i := range from { //vppdrill:unordered counted
			if !earlier && x.end-x.at[i] < patience {
				continue
			}
			each(s, earlier)
			var seen []int32
			for k := i + way; k >= 0 && k < len(x.steps) && len(seen) < nearMost && (k-i)*way < farMost; k += way {
				if o := x.steps[k]; o != s && (earlier || x.acts[k]) && !slices.Contains(seen, o) {
					seen = append(seen, o)
					found(pair{x.scope, s, o, earlier}, len(seen))
				}
			}
		}
	}
}

// whose are the steps of one kind in threads that may be compared.
type whose struct {
	scope, did int32
	earlier    bool
}

// Habits are what was so nearly always: at least share of at least least times, in at least runs runs. They are ordered by scope and by the step
// that was taken, nearest first.
func (l *Learner) Habits(least, runs int, share float64) []Habit {
	seen, likely := l.likely(least)
	l.count(likely)
	var out []Habit
	for p, t := range likely { //vppdrill:unordered sorted below
		n, both := seen[whose{p.scope, p.did, p.earlier}], false
		if p.earlier && float64(t.kept) < share*float64(n) {
			n, both = t.both, true
		}
		if n < least || float64(t.kept) < share*float64(n) || t.runs < runs {
			continue
		}
		h := Habit{Scope: l.texts[p.scope], Did: l.texts[p.did], Other: l.texts[p.other], Earlier: p.earlier, Both: both, Seen: n, Kept: t.kept,
			Within: t.usually(), rank: t.rank}
		process, _, _ := strings.Cut(h.Scope, " ")
		if !slices.Contains(simulated, process) && (acts(h.Scope, h.Other) || h.Earlier && owned(h.Scope, h.Did)) {
			out = append(out, h)
		}
	}
	out = append(out, l.nexts(3*least)...)
	slices.SortFunc(out, func(a, b Habit) int {
		return cmp.Or(strings.Compare(a.Scope, b.Scope), strings.Compare(a.Did, b.Did), strings.Compare(a.way(), b.way()), cmp.Compare(a.rank, b.rank),
			strings.Compare(a.Other, b.Other))
	})
	return fewest(out)
}

// likely are the pairs of steps that stand near each other at least every second time, and how often each step is there.
func (l *Learner) likely(least int) (seen map[whose]int, likely map[pair]*tally) {
	seen, likely = map[whose]int{}, map[pair]*tally{}
	for i := range l.threads {
		x := &l.threads[i]
		x.near(func(did int32, earlier bool) { seen[whose{x.scope, did, earlier}]++ }, func(p pair, rank int) {
			if likely[p] == nil {
				likely[p] = &tally{}
			}
			likely[p].kept++
			likely[p].rank += rank
		})
	}
	for p, t := range likely { //vppdrill:unordered each by itself
		if n := seen[whose{p.scope, p.did, p.earlier}]; n < least || 2*t.kept < n {
			delete(likely, p)
			continue
		}
		t.rank = t.rank * 100 / t.kept
		t.kept = 0
	}
	return seen, likely
}

// count counts how often pairs are there, wherever in a thread.
func (l *Learner) count(likely map[pair]*tally) {
	others := map[whose][]int32{}
	for p := range likely { //vppdrill:unordered each by itself
		w := whose{p.scope, p.did, p.earlier}
		others[w] = append(others[w], p.other)
	}
	for i := range l.threads {
		x := &l.threads[i]
		first, last := x.ends()
		for s, at := range last { //vppdrill:unordered counted
			if x.end-x.at[at] >= patience {
				for _, o := range others[whose{x.scope, s, false}] {
					if k, ok := last[o]; ok && k >= at {
						likely[pair{x.scope, s, o, false}].was(x, at, o, 1)
					}
				}
			}
		}
		for s, at := range first { //vppdrill:unordered counted
			for _, o := range others[whose{x.scope, s, true}] {
				if k, ok := first[o]; ok {
					t := likely[pair{x.scope, s, o, true}]
					t.both++
					if k <= at {
						t.was(x, at, o, -1)
					}
				}
			}
		}
	}
}

// was counts a pair whose other step is the next one of its kind from at on, this way.
func (t *tally) was(x *lesson, at int, other int32, way int) {
	t.kept++
	if t.run != x.run {
		t.run = x.run
		t.runs++
	}
	k := at
	for x.steps[k] != other {
		k += way
	}
	t.within[bits.Len64(uint64((x.at[k]-x.at[at]).Abs().Microseconds()))]++
}

// usually is a time within which all but one of fifty were.
func (t *tally) usually() time.Duration {
	left := t.kept - t.kept/50
	for i, n := range t.within {
		if left -= int(n); left <= 0 {
			return time.Microsecond << i
		}
	}
	return 0
}

// ends are where each step is taken first and last.
func (x *lesson) ends() (first, last map[int32]int) {
	first, last = map[int32]int{}, map[int32]int{}
	for i, s := range x.steps {
		if _, ok := first[s]; !ok {
			first[s] = i
		}
		last[s] = i
	}
	return first, last
}

// habitsMost is how many other steps one has on either side.
const habitsMost = 5

// fewest leaves each step those that are nearest to it. Habits are in the order of Habits.
func fewest(list []Habit) (out []Habit) {
	n := 0
	for i, h := range list {
		if i > 0 && h.Scope == list[i-1].Scope && h.Did == list[i-1].Did && h.way() == list[i-1].way() {
			n++
		} else {
			n = 0
		}
		if n < habitsMost || h.Next {
			out = append(out, h)
		}
	}
	return out
}
