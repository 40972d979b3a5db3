package engine

import "fmt"

// Pick is one decision taken: Value of [0, N).
type Pick struct {
	Label    string
	N, Value int
}

// Recorder is a Chooser that asks another and keeps the answers.
type Recorder struct {
	inner Chooser
	picks []Pick
}

// Recording returns a Recorder that asks c.
func Recording(c Chooser) *Recorder { return &Recorder{inner: c} }

// Pick asks the Chooser beneath and keeps its answer. Decisions with one alternative are not kept.
func (r *Recorder) Pick(label string, n int) int {
	v := r.inner.Pick(label, n)
	if n > 1 {
		r.picks = append(r.picks, Pick{Label: label, N: n, Value: v})
	}
	return v
}

// Picks returns the decisions so far, in order. The slice is the Recorder's own until the next Pick.
func (r *Recorder) Picks() []Pick { return r.picks }

// Replayer is a Chooser that repeats recorded decisions, each label's in their order whatever the order between labels:
// that keeps a recording useful when some decisions have been taken out of it.
type Replayer struct {
	streams  map[string][]Pick
	left     int
	diverged error
}

// Replay returns a Replayer of picks, which it does not change.
func Replay(picks []Pick) *Replayer {
	r := &Replayer{streams: make(map[string][]Pick), left: len(picks)}
	for _, p := range picks {
		r.streams[p.Label] = append(r.streams[p.Label], p)
	}
	return r
}

// Pick repeats the label's next decision. Where the recording has none left, or one between another number of
// alternatives, it is 0, and Diverged says so from then on.
func (r *Replayer) Pick(label string, n int) int {
	if n <= 1 {
		mustWidth(label, n)
		return 0
	}
	stream := r.streams[label]
	if len(stream) == 0 {
		r.diverge(fmt.Errorf("decision %q of %d is not in the recording", label, n))
		return 0
	}
	p := stream[0]
	r.streams[label] = stream[1:]
	r.left--
	if p.N != n || p.Value < 0 || p.Value >= n {
		r.diverge(fmt.Errorf("decision %q is between %d alternatives, recorded was %d of %d", label, n, p.Value, p.N))
		return 0
	}
	return p.Value
}

func (r *Replayer) diverge(err error) {
	if r.diverged == nil {
		r.diverged = err
	}
}

// Diverged is nil while every decision asked for was in the recording, else it describes the first that was not.
func (r *Replayer) Diverged() error { return r.diverged }

// Left counts the recorded decisions that nobody has asked for yet.
func (r *Replayer) Left() int { return r.left }
