package podworker_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/podworker"
)

// driver runs a worker whose plugins answer when a test says so, and watches over what kubelets promise.
type driver struct {
	config podworker.Config
	w      podworker.Worker[int]
	now    time.Duration
	made   int
	// owed are sandboxes whose ADD has begun and whose last DEL has not succeeded.
	owed map[int]bool
	// off: the machine has no power, nothing begins.
	off     bool
	removed bool
	wrong   string
}

func newDriver(c podworker.Config) *driver {
	d := &driver{config: c, owed: map[int]bool{}}
	d.w = podworker.New[int](&d.config)
	return d
}

func (d *driver) blame(format string, args ...any) {
	if d.wrong == "" {
		d.wrong = fmt.Sprintf(format, args...)
	}
}

// begin plans and begins what may begin now; with jump the clock moves to where it may.
func (d *driver) begin(jump bool) bool {
	step, _ := d.w.Plan()
	if d.off || d.w.Begun() || step.Do == podworker.Nothing {
		return false
	}
	if step.After > d.now {
		if !jump {
			return false
		}
		d.now = step.After
	}
	if !d.w.Begin(step.Op) {
		d.blame("%s is planned and cannot begin", step.Do)
		return false
	}
	if d.w.Begin(step.Op) {
		d.blame("%s begins twice", step.Do)
	}
	switch step.Do {
	case podworker.Add:
		if d.w.Stopping() {
			d.blame("a pod that stops gets a sandbox")
		}
		d.made++
		d.w.Adding(d.made)
		d.owed[d.made] = true
		if d.w.Attempt() != d.made {
			d.blame("attempt %d of %d", d.w.Attempt(), d.made)
		}
	case podworker.Again:
		if s, runs := d.w.Current(); !runs || s != d.w.Subject() {
			d.blame("ADD again of a sandbox that does not run")
		}
	case podworker.Del:
		if !d.owed[d.w.Subject()] {
			d.blame("DEL of sandbox %d, which is gone", d.w.Subject())
		}
	case podworker.Remove:
		if len(d.owed) > 0 {
			d.blame("the object goes while %d sandboxes owe a DEL", len(d.owed))
		}
		if !d.w.Stopping() {
			d.blame("a pod that is wanted is taken away")
		}
	}
	return true
}

// finish answers what is under way.
func (d *driver) finish(ok, exhausted bool) bool {
	step := d.w.Planned()
	if !d.w.Live(step.Op) {
		return false
	}
	switch step.Do {
	case podworker.Add, podworker.Again:
		d.w.Added(d.now, ok, exhausted)
	case podworker.Del:
		s := d.w.Subject()
		if d.w.Deleted(d.now, ok) {
			delete(d.owed, s)
		}
	case podworker.Remove:
		d.w.Removed(d.now, ok)
		d.removed = ok
	}
	return true
}

// moves are everything that can happen to a worker; a move that makes no sense now reports false.
var moves = []struct {
	name string
	do   func(*driver) bool
}{
	{"begin", func(d *driver) bool { return d.begin(true) }},
	{"ok", func(d *driver) bool { return d.finish(true, false) }},
	{"fail", func(d *driver) bool { return d.finish(false, false) }},
	{"exhausted", func(d *driver) bool {
		return d.w.Planned().Do == podworker.Add && d.finish(false, true)
	}},
	{"replace", func(d *driver) bool { return !d.off && d.w.Replace() }},
	{"delete", func(d *driver) bool { stopping := d.w.Stopping(); d.w.See(true); return !stopping }},
	{"vanish", func(d *driver) bool { d.w.Vanish(); return true }},
	{"forget", func(d *driver) bool { d.w.Forget(); return true }},
	{"off", func(d *driver) bool { was := d.off; d.off = true; d.w.PowerOff(); return !was }},
	{"on", func(d *driver) bool { was := d.off; d.off = false; return was }},
	{"hurry", func(d *driver) bool { d.w.Hurry(); return true }},
}

// check holds between any two moves.
func (d *driver) check() {
	_, runs := d.w.Current()
	_, has := d.w.Has()
	want := len(d.w.Old())
	if has {
		want++
	}
	switch {
	case d.w.Ended():
	case want != len(d.owed):
		d.blame("%d sandboxes are known, %d owe a DEL", want, len(d.owed))
	case d.w.Settled() && (!runs || d.w.Stopping() || len(d.owed) != 1):
		d.blame("settled with %d sandboxes, running %t, stopping %t", len(d.owed), runs, d.w.Stopping())
	case d.w.Starved() && d.w.Begun():
		d.blame("starved while a plugin runs")
	}
	if d.w.Begun() && d.w.Planned().Do == podworker.Nothing {
		d.blame("nothing is under way")
	}
}

// goal brings the worker to its end: power is on and everything succeeds.
func (d *driver) goal() {
	d.off = false
	for range 20 {
		d.w.Plan()
		if d.w.Settled() {
			break
		}
		if !d.w.Begun() {
			d.begin(true)
		}
		d.finish(true, false)
		d.check()
	}
	d.w.Plan()
	switch {
	case !d.w.Settled():
		d.blame("is not settled although everything succeeds")
	case d.w.Stopping() && !d.w.Ended():
		d.blame("a pod that stops never ends")
	case d.w.Ended() && len(d.owed) > 0:
		d.blame("ended while %d sandboxes owe a DEL", len(d.owed))
	}
}

// Goal: whatever happens in whatever order, a sandbox whose ADD began gets a successful DEL before its pod's object goes, no pod that
// stops gets a sandbox, only one thing is under way, and as soon as everything succeeds the worker comes to its end. Method:
// every sequence of seven moves, with each way of configuring a kubelet; each move that changes nothing cuts its branch.
func TestEveryOrder(t *testing.T) {
	const depth = 7
	runs := 0
	for _, c := range []podworker.Config{
		{}, {RepeatDel: true}, {AddBeforeDel: true}, {RepeatDel: true, AddBeforeDel: true}, {RepeatAdd: true},
	} {
		c.Retry, c.RetryMax = time.Second, 4*time.Second
		var walk func(path []int)
		walk = func(path []int) {
			d := newDriver(c)
			for i, m := range path {
				if !moves[m].do(d) && i == len(path)-1 {
					return // the same as without this move
				}
				d.check()
			}
			if len(path) < depth {
				for m := range moves {
					walk(append(path[:len(path):len(path)], m))
				}
			} else {
				runs++
			}
			d.goal()
			if d.wrong != "" {
				var names []string
				for _, m := range path {
					names = append(names, moves[m].name)
				}
				t.Fatalf("%+v after %s: %s", c, strings.Join(names, " "), d.wrong)
			}
		}
		walk(nil)
	}
	t.Logf("%d sequences", runs)
}

// Goal: each situation has the one next thing that a kubelet would do, and the right wait before it. Method: a table of moves and what is
// planned after them.
func TestPlan(t *testing.T) {
	config := podworker.Config{Retry: time.Second, RetryMax: 3 * time.Second}
	before, repeat := config, config
	before.AddBeforeDel, repeat.RepeatDel = true, true
	again := config
	again.RepeatAdd = true
	for _, c := range []struct {
		config podworker.Config
		moves  string
		do     podworker.Do
		after  time.Duration
		is     string
	}{
		{config, "", podworker.Add, 0, ""},
		{config, "begin", podworker.Add, 0, "begun"},
		{config, "begin ok", podworker.Nothing, 0, "settled"},
		{config, "begin fail", podworker.Del, 0, ""},
		{config, "begin fail begin ok", podworker.Add, time.Second, ""},
		{config, "begin exhausted begin ok", podworker.Add, time.Second, "starved"},
		{config, "begin exhausted begin ok hurry", podworker.Add, 0, "starved"},
		{config, "begin fail begin ok begin fail begin ok begin fail begin ok", podworker.Add, 6 * time.Second, ""},
		{config, "begin ok replace", podworker.Del, 0, ""},
		{before, "begin ok replace", podworker.Add, 0, ""},
		{before, "begin ok replace begin ok", podworker.Del, 0, ""},
		{config, "begin ok delete", podworker.Del, 0, ""},
		{before, "begin ok delete", podworker.Del, 0, ""},
		{before, "begin ok replace begin fail", podworker.Del, 0, ""},
		{before, "begin ok replace begin fail begin ok begin ok", podworker.Add, time.Second, ""},
		{config, "begin ok delete begin fail", podworker.Del, time.Second, ""},
		{config, "begin ok delete begin fail forget", podworker.Del, 0, ""},
		{config, "begin ok delete begin ok", podworker.Remove, 0, ""},
		{repeat, "begin ok delete begin ok", podworker.Del, 0, ""},
		{repeat, "begin ok delete begin ok begin ok", podworker.Remove, 0, ""},
		{config, "begin ok delete begin ok begin fail", podworker.Remove, time.Second, ""},
		{config, "begin ok delete begin ok begin ok", podworker.Nothing, 0, "settled ended"},
		{config, "delete", podworker.Remove, 0, ""},
		{config, "vanish", podworker.Nothing, 0, "settled ended"},
		{config, "begin vanish", podworker.Add, 0, "begun"},
		{config, "begin vanish ok", podworker.Del, 0, ""},
		{config, "begin vanish ok begin ok", podworker.Nothing, 0, "settled ended"},
		{config, "begin off", podworker.Del, 0, ""},
		{config, "begin off ok", podworker.Del, 0, ""},
		{config, "begin ok off on begin ok", podworker.Add, 0, ""},
		{again, "begin ok", podworker.Again, 0, ""},
		{again, "begin ok begin replace", podworker.Again, 0, "begun"},
		{again, "begin ok begin ok", podworker.Nothing, 0, "settled"},
		{again, "begin ok begin fail", podworker.Del, 0, ""},
		{again, "begin ok delete", podworker.Del, 0, ""},
		{again, "begin ok begin ok replace begin ok begin ok", podworker.Again, 0, ""},
		{config, "begin ok delete begin forget", podworker.Del, 0, "begun"},
		{config, "begin ok delete begin ok begin forget", podworker.Remove, 0, ""},
	} {
		d := newDriver(c.config)
		for _, name := range strings.Fields(c.moves) {
			for _, m := range moves {
				if m.name == name {
					m.do(d)
				}
			}
		}
		step, _ := d.w.Plan()
		var is []string
		for _, x := range []struct {
			name string
			on   bool
		}{{"begun", d.w.Begun()}, {"settled", d.w.Settled()}, {"starved", d.w.Starved()}, {"ended", d.w.Ended()}} {
			if x.on {
				is = append(is, x.name)
			}
		}
		if step.Do != c.do || step.After != c.after || strings.Join(is, " ") != c.is {
			t.Errorf("%+v %q: %s after %s, %v; want %s after %s, [%s]", c.config, c.moves, step.Do, step.After, is, c.do, c.after, c.is)
		}
	}
}
