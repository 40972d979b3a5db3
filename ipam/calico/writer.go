package calico

import "time"

// retryTime is until a machine goes on behind a write that was not answered.
const retryTime = 5 * time.Second

// conflictsMost doublings of conflictTime are more than retryTime.
const conflictsMost = 8

// writer has one write under way at a time, and pauses behind one that failed.
type writer struct {
	writing *WriteBlock
	until   time.Time
	// conflicts is how many writes in a row found another version of their block, without news of any.
	conflicts int
}

// busy reports whether a write is under way, or one that failed must wait.
func (w *writer) busy(now time.Time) bool { return w.writing != nil || now.Before(w.until) }

// begin notes that a write is under way.
func (w *writer) begin(e WriteBlock) WriteBlock {
	w.writing = &e
	return e
}

// end is the write that was under way; false where there was none.
func (w *writer) end() (WriteBlock, bool) {
	if w.writing == nil {
		return WriteBlock{}, false
	}
	e := *w.writing
	w.writing = nil
	return e, true
}

// pause begins no write before until.
func (w *writer) pause(until time.Time) { w.until = until }
