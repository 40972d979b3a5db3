package engine

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
