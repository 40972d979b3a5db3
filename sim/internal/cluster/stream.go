package cluster

import (
	"slices"
	"time"
)

// StreamFaults are the hooks of one stream. They belong to the receiver and outlive the stream.
type StreamFaults struct {
	// Lag is added to the delay of everything sent from now on.
	Lag time.Duration
	// Drop items are lost; the receiver notices at the next item, or after the network's StreamTimeout, that the stream is
	// broken.
	Drop int
	// Duplicate items arrive twice.
	Duplicate int
}

// receiver is the far end of a stream.
type receiver[T any] interface {
	// appendItems appends the canonical text of items that arrive together.
	appendItems(b []byte, items []T) []byte
	// receive takes them. It may close the stream.
	receive(items []T)
	// lost is the last call: the stream broke, and what was on its way is lost.
	lost()
}

// stream carries items in order, as a TCP connection does. What is sent at one instant arrives in one event. A stream
// is itself the event of its next arrival; at most one is scheduled.
type stream[T any] struct {
	n        *Network
	from, to Endpoint
	rcv      receiver[T]
	faults   *StreamFaults
	queue    []T
	due      []time.Duration // of queue, each waits for those before it too
	head     int             // what lies before it in both has been delivered
	one      [1]T            // of slip
	end      time.Duration   // when the receiver learns that the stream broke
	ending   bool
	gapped   bool
	late     time.Duration // of what deliver sends
	armed    bool
	closed   bool
	// onClose notifies the sender.
	onClose func()
}

// openStream opens a stream from one endpoint to another; faults may be nil.
func openStream[T any](n *Network, from, to Endpoint, rcv receiver[T], faults *StreamFaults, onClose func()) *stream[T] {
	s := &stream[T]{n: n, from: from, to: to, rcv: rcv, faults: faults, onClose: onClose}
	d := undirected(from, to)
	n.streams[d] = append(n.streams[d], s)
	return s
}

// send puts item on its way.
func (s *stream[T]) send(item T) {
	if s.closed || s.ending {
		return
	}
	copies := 1
	if f := s.faults; f != nil {
		switch {
		case f.Drop > 0:
			f.Drop--
			s.drop()
			return
		case f.Duplicate > 0:
			f.Duplicate--
			copies = 2
		}
	}
	due := s.next()
	if s.gapped {
		s.terminate(due)
		return
	}
	for range copies {
		s.queue = append(s.queue, item)
		s.due = append(s.due, due)
		s.n.busy.Streamed++
	}
	s.arm()
}

// Delivery is what becomes of one item of a stream: the zero Delivery is as usual.
type Delivery struct {
	// Late is how much longer than usual it takes; what comes behind it in its stream waits, other streams overtake it.
	Late time.Duration
	// Lost items break their stream, Twice ones come again at once.
	Lost, Twice bool
}

// deliver puts item on its way as d says.
func (s *stream[T]) deliver(item T, d Delivery) {
	if d.Lost {
		if !s.closed && !s.ending {
			s.drop()
		}
		return
	}
	s.late = d.Late
	s.send(item)
	if d.Twice {
		s.send(item)
	}
	s.late = 0
}

// slip delivers item without an event of its own where the stream is idle, else like send. It is for bookmarks.
func (s *stream[T]) slip(item T) {
	if s.closed || s.ending {
		return
	}
	lagging := s.faults != nil && *s.faults != StreamFaults{}
	if s.waiting() > 0 || s.gapped || lagging || s.standing() {
		s.send(item)
		return
	}
	s.one[0] = item
	s.rcv.receive(s.one[:])
}

// finish breaks the stream from the sender's side; the receiver learns of it after what has been sent.
func (s *stream[T]) finish() {
	if !s.closed && !s.ending {
		s.terminate(s.next())
	}
}

// abandon breaks a stream that stands still, with what is on its way.
func (s *stream[T]) abandon() {
	if s.closed || s.ending || !s.standing() || s.waiting() == 0 {
		return
	}
	s.n.busy.Streamed -= s.waiting()
	clear(s.queue[s.head:])
	s.queue, s.due = s.queue[:s.head], s.due[:s.head]
	s.terminate(s.next())
}

// drop loses one item: the stream is broken from here on, but neither side knows yet.
func (s *stream[T]) drop() {
	if !s.gapped {
		s.gapped = true
		s.n.busy.Streamed++
		s.n.clock.After(s.n.cfg.StreamTimeout, &gapTimeout[T]{s})
	}
}

func (s *stream[T]) terminate(due time.Duration) {
	s.ending, s.end = true, due
	s.n.busy.Streamed++
	s.arm()
}

// next is when something sent now arrives, unless it has to wait for what was sent earlier.
func (s *stream[T]) next() time.Duration {
	due := s.n.clock.Now() + s.n.segmentDelay(s.from, s.to) + s.late
	if s.faults != nil {
		due += s.faults.Lag
	}
	return due
}

// standing reports that the stream makes no progress.
func (s *stream[T]) standing() bool {
	return s.n.cuts > 0 && (s.n.IsCut(s.from, s.to) || s.n.IsCut(s.to, s.from))
}

// arm schedules the next arrival.
func (s *stream[T]) arm() {
	if s.armed || s.closed || s.standing() || s.waiting() == 0 && !s.ending {
		return
	}
	at := s.end
	if s.waiting() > 0 {
		at = s.due[s.head]
	}
	s.armed = true
	s.n.clock.After(max(0, at-s.n.clock.Now()), s)
}

// waiting counts the items on their way.
func (s *stream[T]) waiting() int { return len(s.queue) - s.head }

// ready counts the items that have arrived, after all before them.
func (s *stream[T]) ready() int {
	now, k := s.n.clock.Now(), 0
	for s.head+k < len(s.due) && s.due[s.head+k] <= now {
		k++
	}
	return k
}

func (s *stream[T]) AppendText(b []byte) []byte {
	b = append(b, "watch "...)
	b = s.n.appendWay(b, s.from, s.to)
	b = append(b, ' ')
	switch {
	case s.closed:
		return append(b, "closed"...)
	case s.standing():
		return append(b, "stands still"...)
	}
	k := s.ready()
	if k == 0 && s.waiting() == 0 {
		b = s.rcv.appendItems(b, nil)
		return append(b, " broken"...)
	}
	return s.rcv.appendItems(b, s.queue[s.head:s.head+k])
}

// Fire delivers everything that is due.
func (s *stream[T]) Fire() {
	s.armed = false
	if s.closed || s.standing() {
		return
	}
	k := s.ready()
	if k == 0 && s.waiting() == 0 && s.ending && s.end <= s.n.clock.Now() {
		s.breakOff()
		return
	}
	items := s.queue[s.head : s.head+k]
	s.head += k
	s.n.busy.Streamed -= k
	// The receiver may make the sender send more; that lands behind items, which stay untouched.
	s.rcv.receive(items)
	clear(items)
	s.trim()
	s.arm()
}

// queueKept is how many items' memory an idle stream keeps: thousands of streams may have carried a thousand once.
const queueKept = 64

// trim reuses the queue's memory once most of it has been delivered.
func (s *stream[T]) trim() {
	switch {
	case s.waiting() == 0:
		s.queue, s.due, s.head = s.queue[:0], s.due[:0], 0
		if cap(s.queue) > queueKept {
			s.queue, s.due = nil, nil
		}
	case s.head > 64 && s.head > s.waiting():
		n := copy(s.queue, s.queue[s.head:])
		clear(s.queue[n:])
		s.queue, s.due, s.head = s.queue[:n], append(s.due[:0], s.due[s.head:]...), 0
	}
}

// resume goes on after a cut.
func (s *stream[T]) resume() { s.arm() }

// breakOff ends the stream at the receiver's side now.
func (s *stream[T]) breakOff() {
	if s.closed {
		return
	}
	s.close()
	s.rcv.lost()
}

// close ends the stream and notifies the sender but not the receiver. A closed stream may be closed again.
func (s *stream[T]) close() {
	if s.closed {
		return
	}
	s.closed = true
	s.n.busy.Streamed -= s.waiting()
	if s.ending {
		s.n.busy.Streamed--
	}
	if s.gapped {
		s.n.busy.Streamed--
	}
	s.queue, s.due, s.head = nil, nil, 0
	d := undirected(s.from, s.to)
	streams := s.n.streams[d]
	for i, other := range streams {
		if other == breakable(s) {
			s.n.streams[d] = slices.Delete(streams, i, i+1)
			break
		}
	}
	if s.onClose != nil {
		s.onClose()
	}
}

// gapTimeout breaks a stream on which an item was dropped and nothing else came.
type gapTimeout[T any] struct{ s *stream[T] }

func (t *gapTimeout[T]) AppendText(b []byte) []byte {
	b = append(b, "watch "...)
	b = t.s.n.appendWay(b, t.s.from, t.s.to)
	if t.s.closed {
		return append(b, " gap was found in time"...)
	}
	return append(b, " gap timeout"...)
}

func (t *gapTimeout[T]) Fire() { t.s.breakOff() }

// streamTimeout ends the streams of a pair that has been cut since.
type streamTimeout struct {
	n        *Network
	from, to Endpoint
	since    time.Duration
}

func (t *streamTimeout) AppendText(b []byte) []byte {
	b = append(b, "link "...)
	b = t.n.appendWay(b, t.from, t.to)
	if !t.due() {
		return append(b, " mended in time"...)
	}
	return append(b, " streams time out"...)
}

func (t *streamTimeout) due() bool {
	l := t.n.own(t.from, t.to)
	return l.cut && l.cutSince == t.since
}

func (t *streamTimeout) Fire() {
	if !t.due() {
		return
	}
	// A broken stream's receiver may close others of the pair, so the list is taken first.
	for _, s := range slices.Clone(t.n.streams[undirected(t.from, t.to)]) {
		s.breakOff()
	}
}
