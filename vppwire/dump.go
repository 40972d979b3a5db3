package vppwire

import (
	"slices"
	"time"
)

// dump is one way of looking: a request, and the objects that its answer shows. It is one message, or one of its kind
// per interface, table or namespace.
type dump struct {
	// whole: due when nothing is known. Other dumps ask about what these find, and are queued by them.
	whole bool
	// family: asks about one address family at a time.
	family bool
	// first: goes before whatever is queued.
	first bool
	// rare: due only once something that it shows has been wanted or is expected: few nodes have any.
	rare bool
	// plugin of VPP's without which there is nothing to ask; empty where it has to be loaded.
	plugin string
	reader
}

type reader interface {
	// ask fills r with the request.
	ask(s *Session, st dumpStep, r *request)
	// take observes what an answer without error shows.
	take(s *Session, st dumpStep, res Result)
}

// local is a dump about something that may have gone, and what it would have shown with it.
type local interface {
	// void reports that there is nothing to ask about.
	void(s *Session, st dumpStep) bool
	// gone reports whether a refusal says that what the dump asks about does not exist.
	gone(err error) bool
}

// dumpStep is one dump to make.
type dumpStep struct {
	dump *dump
	// name is an interface or a namespace, num a table or a bridge.
	name string
	num  uint32
	ip6  bool
}

func (st dumpStep) appendText(b []byte) []byte {
	if st.name != "" {
		b = appendWord(append(b, ' '), st.name)
	}
	if st.num != 0 {
		b = appendUint(append(b, ' '), st.num)
	}
	if st.ip6 {
		b = append(b, " ip6"...)
	}
	return b
}

// dumper knows which dumps are due and what they have taught so far beyond objects.
type dumper struct {
	steps []dumpStep
	mark  uint32
	// notBefore is when a refused dump is tried again. Nothing else is done before: what is there is not known.
	notBefore time.Time
	// refused is why the last dump brought nothing, nil when it brought something.
	refused error
	// onReuse are dead interface indexes that something still names, with the dumps to repeat when an interface gets one of
	// them.
	onReuse map[uint32][]*dump
	// sought are the rare dumps that are due.
	sought map[*dump]bool
	// macs and tags of interfaces by name, between the interface dump and the dumps that need them.
	macs map[string]MAC
	tags map[string]string
	// sockets are those that a memif uses, between the dump of memifs and that of sockets.
	sockets map[uint32]bool
}

func (d *dumper) reset() {
	d.onReuse, d.macs, d.tags = map[uint32][]*dump{}, map[string]MAC{}, map[string]string{}
	d.sockets = map[uint32]bool{}
}

// reused has w repeated when an interface gets a dead index.
func (d *dumper) reused(index uint32, w *dump) {
	if !slices.Contains(d.onReuse[index], w) {
		d.onReuse[index] = append(d.onReuse[index], w)
	}
}

// seek makes the rare dumps of a kind due; true where they were not.
func (d *dumper) seek(k Kind) (fresh bool) {
	for _, w := range kinds[k].dumps {
		if w.rare && !d.sought[w] {
			if d.sought == nil {
				d.sought = map[*dump]bool{}
			}
			d.sought[w], fresh = true, true
		}
	}
	return fresh
}

// Expect has things of a kind looked for though nobody wants any: an earlier life may have left some.
func (s *Session) Expect(k Kind) {
	if s.dump.seek(k) && s.connected {
		s.dump.push(dumpStep{dump: kinds[k].dumps[0]})
	}
}

// all queues every dump of a node whose state is not known; what interfaces, tables and bridges there are adds more.
func (d *dumper) all(ip6 bool) {
	d.steps, d.refused = d.steps[:0], nil
	clear(d.onReuse)
	for k := range kinds {
		for _, w := range kinds[k].dumps {
			if !w.whole || w.rare && !d.sought[w] {
				continue
			}
			d.push(dumpStep{dump: w})
			if ip6 && w.family {
				d.push(dumpStep{dump: w, ip6: true})
			}
		}
	}
}

// again puts a step that brought nothing back to where it was: in front.
func (d *dumper) again(st dumpStep) {
	if !slices.Contains(d.steps, st) {
		d.steps = slices.Insert(d.steps, 0, st)
	}
}

// push queues a step unless it is queued already. Whole dumps go before the others, which they queue: one that was made
// before would be made twice.
func (d *dumper) push(st dumpStep) {
	switch {
	case slices.Contains(d.steps, st):
	case st.dump.first:
		d.steps = slices.Insert(d.steps, 0, st)
	case st.dump.whole:
		i := slices.IndexFunc(d.steps, func(o dumpStep) bool { return !o.dump.whole })
		if i < 0 {
			i = len(d.steps)
		}
		d.steps = slices.Insert(d.steps, i, st)
	default:
		d.steps = append(d.steps, st)
	}
}

// doubtObject queues the dumps that tell what became of o.
func (s *Session) doubtObject(o Object) {
	if kinds[o.Key().Kind].creates.prefix != "" {
		s.dump.push(dumpStep{dump: interfaceDump})
	}
	s.dump.push(o.shown())
	if v, ok := o.(spanning); ok && v.farNetns() != "" {
		s.dump.push(dumpStep{dump: linuxDump, name: v.farNetns()})
	}
	if l, ok := o.(lowering); ok {
		if k, down := l.lowers(); down {
			s.dump.push(dumpStep{dump: linuxDump, name: k.Netns})
		}
	}
}

// nextDump fills the call with the next dump that is due.
func (s *Session) nextDump() bool {
	d := &s.dump
	for len(d.steps) > 0 {
		st := d.steps[0]
		d.steps = d.steps[1:]
		if l, ok := st.dump.reader.(local); ok && l.void(s, st) || s.lacks(st.dump.plugin) {
			s.reconcile(st, d.mark+1) // what it asks about is gone, and with it what it would have shown
			d.mark++
			continue
		}
		s.call.verb, s.call.step = VerbDump, st
		st.dump.ask(s, st, &s.call)
		return true
	}
	return false
}

// feedDump takes a dump's answer: what it shows is there, and what it would show and does not, is not.
func (s *Session) feedDump(r Result, now time.Time) {
	st := s.call.step
	if r.Err != nil && !st.gone(r.Err) {
		s.dump.again(st)
		s.dump.notBefore, s.dump.refused = now.Add(retryFirst), r.Err
		return
	}
	s.dump.refused = nil
	s.dump.mark++
	mark := s.dump.mark
	if r.Err == nil {
		st.dump.take(s, st, r)
	} else if st.dump == linuxDump {
		s.explain(st.name, r.Err)
	}
	if _, asked := s.netnsGone[st.name]; asked && st.dump == linuxDump {
		s.netnsGone[st.name] = r.Err != nil
	}
	s.reconcile(st, mark)
	if len(s.dump.steps) == 0 {
		clear(s.dump.macs)
		clear(s.dump.tags)
	}
}

// gone reports whether a refused dump says that what it asks about does not exist: then nothing on it does.
func (st dumpStep) gone(err error) bool {
	l, ok := st.dump.reader.(local)
	return ok && l.gone(err)
}

// observe notes that a dump showed o. What we neither want nor own is none of our business.
func (s *Session) observe(o Object) {
	k := o.Key()
	id := s.ident(&k)
	n := s.find(id)
	if n == 0 || s.at(n).want() == nil && s.at(n).have() == nil {
		if !o.ours() {
			return
		}
		if n == 0 {
			n = s.add(id)
		}
	}
	s.at(n).mark = s.dump.mark
	s.setHave(n, o)
}

// reconcile forgets what step st would have shown, had it been there.
func (s *Session) reconcile(st dumpStep, mark uint32) {
	if st.dump == linuxDump && st.name != "" {
		if s.inNetns[s.names.number(st.name)] == 0 {
			return // a new pod's namespace: nothing to forget, and a node has thousands of entries to look through
		}
	}
	var tells [1 << 8]bool
	for k := range kinds {
		tells[k] = slices.Contains(kinds[k].dumps, st.dump)
	}
	for n := uint32(1); n <= s.used; n++ {
		e := s.at(n)
		if tells[e.kind] && e.have() != nil && e.mark != mark && st.tells(s, e.have()) {
			s.forget(n)
		}
	}
}

// tells reports whether the step would have shown o, had it been there.
func (st dumpStep) tells(s *Session, o Object) bool {
	if st == o.shown() {
		return true
	}
	l, ok := o.(lapsing)
	return ok && l.lapses(s, st)
}
