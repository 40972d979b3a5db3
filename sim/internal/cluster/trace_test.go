package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Row is one pod of a trace.
type Row struct {
	// Name is the pod's, in namespace "default"; App groups pods for MaxPerNode.
	Name, App string
	// Create and Delete are times since the trace's start; a negative Delete is never.
	Create, Delete time.Duration
	// MaxPerNode of 0 and below is no bound.
	MaxPerNode int
	Requests   string
}

// trace plays rows. One event waits at a time, however long the trace is.
type trace struct {
	w       *crowd
	start   time.Duration
	rows    []Row
	births  []int32 // indices of rows by Create
	deaths  []int32 // by Delete, those that die
	stopped bool
}

// Trace plays rows from now on, in addition to what else happens. Rows of one time are played in their order, creations
// before deletions. The slice must not be changed. Only one trace can be played at a time.
func (w *crowd) Trace(rows []Row) error {
	if w.trace != nil {
		return fmt.Errorf("trace of %d rows: another is being played", len(rows))
	}
	t := &trace{w: w, start: w.clock.Now(), rows: rows}
	for i, r := range rows {
		if r.Create < 0 || r.Delete >= 0 && r.Delete < r.Create {
			return fmt.Errorf("trace row %d (%s): created at %s and deleted at %s", i, r.Name, r.Create, r.Delete)
		}
		t.births = append(t.births, int32(i))
		if r.Delete >= 0 {
			t.deaths = append(t.deaths, int32(i))
		}
	}
	slices.SortStableFunc(t.births, func(a, b int32) int { return cmp.Compare(rows[a].Create, rows[b].Create) })
	slices.SortStableFunc(t.deaths, func(a, b int32) int { return cmp.Compare(rows[a].Delete, rows[b].Delete) })
	w.trace = t
	t.arm()
	return nil
}

// next is the row that comes next, and when; dies tells a deletion.
func (t *trace) next() (r *Row, at time.Duration, dies, ok bool) {
	if len(t.births) > 0 {
		r = &t.rows[t.births[0]]
		at, ok = r.Create, true
	}
	if len(t.deaths) > 0 {
		if d := &t.rows[t.deaths[0]]; !ok || d.Delete < at {
			return d, d.Delete, true, true
		}
	}
	return r, at, false, ok
}

func (t *trace) arm() {
	if _, at, _, ok := t.next(); ok {
		t.w.clock.After(max(0, t.start+at-t.w.clock.Now()), t)
	} else {
		t.w.trace = nil
	}
}

func (t *trace) AppendText(b []byte) []byte {
	r, _, dies, _ := t.next()
	if dies {
		b = append(b, "workload delete "...)
	} else {
		b = append(b, "workload create "...)
	}
	b = Key{"default", r.Name}.AppendText(b)
	if t.stopped {
		b = append(b, " stopped"...)
	}
	return b
}

// Fire plays one row.
func (t *trace) Fire() {
	if t.stopped {
		return
	}
	r, _, dies, _ := t.next()
	if dies {
		t.deaths = t.deaths[1:]
		t.w.Delete(Key{"default", r.Name})
	} else {
		t.births = t.births[1:]
		t.w.Create(PodSpec{Name: r.Name, App: r.App, MaxPerNode: r.MaxPerNode, Requests: r.Requests})
	}
	t.arm()
}
