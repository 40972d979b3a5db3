package controllers

import (
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// leaseTime is how long a leader leads after it renewed its lease last, and how long others wait: client-go's
// leaderelection has 15 s. Its deadline for renewing, 10 s, is what a leader's own certainty ends with.
const (
	leaseTime     = 15 * time.Second
	renewDeadline = 10 * time.Second
	// electionTime is until the next leader acts: client-go's candidates look every 2 s.
	electionTime = 2 * time.Second
	// retryPeriod is between two renewals: client-go's elector begins to count renewDeadline with the one that fails, so
	// that a leader hears so much later than its certainty ends that it leads no more.
	retryPeriod = 2 * time.Second
	// renewed stands for all renewals of an undisputed lease: no run is so long.
	renewed = 10 * 365 * 24 * time.Hour
)

// leader is one life of a controller: it has an endpoint of its own, so that what it sent can outlive it.
type leader struct {
	env *Env
	// kind is the program, name this life of it, the life-th.
	kind, name string
	life       int
	at         cluster.Endpoint
	api        *apiClient
	// wall is its machine's clocks, nil for right ones.
	wall Wall
	// cut: it was cut off; its requests wait in held.
	cut, dead bool
	held      []func()
	// certain is the end of its lease by its own clock, once that is not renewed any more.
	certain time.Time
	// asleep: its process stands still, and what it would hear waits.
	asleep  bool
	unheard []func()
	// late is the leader before, where its requests arrive in front of this one's.
	late *leader
	// wake numbers its alarms: only the last one counts.
	wake uint64
}

func newLeader(env *Env, name string, life int, late *leader) *leader {
	kind, name := name, name+"-"+strconv.Itoa(life)
	l := &leader{env: env, kind: kind, name: name, life: life, at: env.Cluster.Net.Endpoint(name), late: late}
	l.api = env.apiClient(name, func() bool { return l.dead })
	l.api.changes = l.changes
	if env.Wall != nil {
		l.wall = env.Wall(name)
	}
	return l
}

// now is the time by the wall clock of the leader's machine.
func (l *leader) now() time.Time {
	if l.wall == nil {
		return l.env.now()
	}
	return l.env.Epoch.Add(l.wall.Now())
}

// until is how long it takes until so much has passed by the leader's machine.
func (l *leader) until(d time.Duration) time.Duration {
	if l.wall == nil {
		return d
	}
	return l.wall.UntilAfter(d)
}

// changes reports that the process asks for a change.
func (l *leader) changes(op fault.Op) {
	if l.env.Changing == nil || !slices.Contains(changing, op.Name) {
		return
	}
	var past time.Duration
	if !l.certain.IsZero() {
		past = max(0, l.now().Sub(l.certain))
	}
	l.env.Changing(l.kind, l.life, op.Name+" "+op.Key, past)
}

// hear performs the process' reaction to a notification: when it wakes, where it sleeps.
func (l *leader) hear(do func()) {
	if l.asleep {
		l.unheard = append(l.unheard, do)
		return
	}
	do()
}

// sleep has the process stand still for pause: its lease runs out meanwhile. When it wakes it does first what has
// waited: what an elector waits by does not count a machine's sleep (Linux' CLOCK_MONOTONIC), so that the next renewal
// is the first to be refused.
func (l *leader) sleep(pause time.Duration, knows func()) {
	l.asleep = true
	l.certain = l.now().Add(renewDeadline)
	l.env.Note(l.name, "stands still")
	l.env.Clock.After(pause, &step{l.name, "goes on", func() {
		l.asleep = false
		for len(l.unheard) > 0 {
			do := l.unheard[0]
			l.unheard = l.unheard[1:]
			do()
		}
		knows()
	}})
}

// send starts a request, or keeps it until the cut ends.
func (l *leader) send(call func()) {
	if l.cut {
		l.held = append(l.held, call)
		return
	}
	if l.late != nil {
		l.late.arrive(1)
	}
	call()
}

// lose cuts the leader off for pause. After renewDeadline it knows, and stops. It returns itself where its requests
// arrive in front of its successor's.
func (l *leader) lose(pause time.Duration, within bool, knows func()) (late *leader) {
	l.cut = true
	l.certain = l.now().Add(renewDeadline)
	l.env.Note(l.name, "cut off")
	l.env.Clock.After(l.until(renewDeadline), &step{l.name, "stops leading", func() {
		knows()
	}})
	l.env.Clock.After(pause, &step{l.name, "late requests", func() {
		l.cut = l.dead
		l.arrive(len(l.held))
	}})
	if within {
		return l
	}
	return nil
}

// arrive lets so many of the requests through that were kept, the oldest first.
func (l *leader) arrive(n int) {
	n = min(n, len(l.held))
	held := l.held[:n]
	l.held = l.held[n:]
	for _, call := range held {
		call()
	}
}

// alarm replaces the leader's alarm; the zero time cancels it.
func (l *leader) alarm(at time.Time, ring func()) {
	l.wake++
	if at.IsZero() {
		return
	}
	n := l.wake
	l.env.Clock.After(l.until(max(0, at.Sub(l.now()))), &step{l.name, "wake", func() {
		if l.wake == n && !l.dead {
			ring()
		}
	}})
}

// after lets the leader do something later, if it still lives.
func (l *leader) after(d time.Duration, what string, do func()) {
	l.env.Clock.After(l.until(d), &step{l.name, what, func() {
		if !l.dead {
			do()
		}
	}})
}

// outside is one request to a service outside of the cluster, such as a cloud, which takes wait. A leader that is cut
// off gets no answer.
func (l *leader) outside(op fault.Op, wait time.Duration, act func() error, then func(error), die func()) {
	answered, muted := false, false
	answer := func(err error) {
		if !answered && !l.dead {
			answered = true
			then(err)
		}
	}
	l.changes(op)
	l.env.request(request{
		op: op,
		send: func() {
			if l.cut { // its connection is
				l.after(silence, "hears nothing of "+op.Name, func() { answer(cluster.ErrNoAnswer) })
				return
			}
			// A call under way outlives the process that made it.
			l.env.Clock.After(wait, &step{l.name, op.Name + " " + op.Key, func() {
				if err := act(); !muted {
					answer(err)
				}
			}})
		},
		forget: func() { muted = true },
		tell: func(silent bool) {
			if silent {
				answer(cluster.ErrNoAnswer)
				return
			}
			answer(cluster.ErrUnavailable)
		},
		die: die,
	})
}

// step is an engine event: an actor and its action.
type step struct {
	who, what string
	do        func()
}

// AppendText implements engine.Event.
func (s *step) AppendText(b []byte) []byte {
	b = append(b, s.who...)
	b = append(b, ' ')
	return append(b, s.what...)
}

// Fire implements engine.Event.
func (s *step) Fire() { s.do() }
