package check

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

const retriesBackOffName = "retries-back-off"

// backOff is how long somebody leaves alone what has failed: first after the first failure, doubled with each further one, at most most.
type backOff struct {
	first, most time.Duration
	// each is how many tries there are for each pause. exact: never are there more.
	each  uint32
	exact bool
}

// backOffs are those that programs document. A spread pause counts as the shortest that it may be.
var backOffs = map[string]backOff{
	// vppwire/agent: a journal that the disk refuses is rewritten after 1 s, doubled to 30 s.
	scenarios.TriedJournal: {first: time.Second, most: 30 * time.Second, each: 1},
	// vppwire/agent/nodeid: 500 ms, doubled to 16 s, for a request and a watch that fail at a time.
	scenarios.TriedStore: {first: 500 * time.Millisecond, most: 16 * time.Second, each: 2},
	// vppwire/agent/nodeid: a conflict says what is there, so that the next write is another one; a few may be under way, or repeated by a link.
	scenarios.TriedConflict: {first: 500 * time.Millisecond, most: 16 * time.Second, each: 4},
	// vppwire: an object that is refused is tried again after 1 s, doubled to 30 s, and a dump after 1 s each time.
	scenarios.TriedWiring: {first: time.Second, most: 30 * time.Second, each: 1},
	scenarios.TriedLook:   {first: time.Second, most: time.Second, each: 1},
	// ipam/nodeipam: three tries, then a pause of 250 ms, doubled to 5 s and spread by half.
	scenarios.TriedNode: {first: 125 * time.Millisecond, most: 2500 * time.Millisecond, each: 3, exact: true},
	// ipam/datastore: 5 s, doubled to 5 min; a request for a prefix where there is none makes one for addresses at once, and a request for more than
	// there is one for less.
	scenarios.TriedCloud: {first: 5 * time.Second, most: 5 * time.Minute, each: 3},
}

// least is how long n failures in a row take at the least. What begins in the middle of a row has a pause less; a machine's clock may run too
// fast.
func (b backOff) least(n uint32) (d time.Duration) {
	pause := b.first
	for n = (n - 1) / b.each; n > 1; n-- {
		d += pause
		pause = min(2*pause, b.most)
	}
	return d - d/100
}

// longest is how long the pause behind n failures in a row takes at the most, with a moment for whoever makes it. A machine's clock may run too slowly.
func (b backOff) longest(n uint32) time.Duration {
	pause := b.first
	for ; n > 1 && pause < b.most; n-- {
		pause = min(2*pause, b.most)
	}
	return pause + pause/100 + dueMost
}

// retriesBackOff: whoever repeats a failing request, write or call leaves what has refused it alone for as long as it documents, and longer
// each time; and a call that VPP or Linux have refused, or a journal whose write has failed, is made or written again when its pause is over, whatever else waits for longer. What brings something new, as a CNI request that waits for the disk, may be tried for at once, and the world tells no failure of
// such a try.
//
// A snapshot has no history.
func retriesBackOff() scenarios.Law {
	return scenarios.Law{
		Name:  retriesBackOffName,
		Why:   "A program that repeats at once what has failed takes the processor, and keeps the store, cloud or disk that is in trouble from ever recovering; one that comes back too late leaves a pod without network.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.Tries},
		Watch: func() scenarios.Watcher { return &triesWatcher{rows: map[row][]time.Duration{}} },
	}
}

type triesWatcher struct {
	checks int64
	// rows are when the last failures of rows were whose number of tries is exact, as many as are tried without a pause.
	rows map[row][]time.Duration
}

// row is what somebody tries.
type row struct{ node, of, what string }

func (w *triesWatcher) Checks() int64 { return w.checks }

func (w *triesWatcher) Observe(f *scenarios.Fact) error {
	if f.Kind != scenarios.FactFailed && f.Kind != scenarios.FactRetried {
		return nil
	}
	b, documented := backOffs[f.Text]
	if !documented {
		return nil
	}
	w.checks++
	if f.Kind == scenarios.FactRetried {
		if most := b.longest(f.Number); f.Rest > most {
			return broken(retriesBackOffName, f.At, f.Node, "%s was refused %d times, and is tried again after %s; %s is the most that it may take: look at what says when it is tried again",
				f.Broken, f.Number, f.Rest, most)
		}
		return nil
	}
	if least := b.least(f.Number); f.Rest < least {
		return broken(retriesBackOffName, f.At, f.Node, "%s has failed %d times within %s, and so many tries are to take %s at least: look at what says when it is tried again",
			f.Broken, f.Number, f.Rest, least)
	}
	if b.exact {
		return w.exact(f, b)
	}
	return nil
}

// exact judges that no more tries than are documented follow each other without a pause.
func (w *triesWatcher) exact(f *scenarios.Fact, b backOff) error {
	key := row{f.Node, f.Text, f.Broken}
	last := w.rows[key]
	if f.Number == 1 {
		last = nil
	}
	tries := append(last, f.At)
	if len(tries) <= int(b.each) {
		w.rows[key] = tries
		return nil
	}
	w.rows[key] = tries[1:]
	if took := f.At - tries[0]; took < b.first-b.first/100 {
		return broken(retriesBackOffName, f.At, f.Node, "%s has failed %d times within %s, and is to be left alone for %s after %d tries: look at what counts them",
			f.Broken, len(tries), took, b.first, b.each)
	}
	return nil
}
