package controllers

import (
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// leaseTime is how long a leader leads after it renewed its lease last, and how long others wait: client-go's
// leaderelection has 15 s. Its deadline for renewing, 10 s, is what a leader's own certainty ends with.
const (
	leaseTime     = 15 * time.Second
	renewDeadline = 10 * time.Second
	// electionTime is until the next leader acts: client-go's candidates look every 2 s.
	electionTime = 2 * time.Second
)

// leader is one life of a controller: it has an endpoint of its own, so that what it sent can outlive it.
type leader struct {
	env *Env
	// kind is the program, name this life of it.
	kind, name string
	at         cluster.Endpoint
	api        *apiClient
	// wall is its machine's clocks, nil for right ones.
	wall Wall
	// cut: it was cut off; its requests wait in held.
	cut, dead bool
	held      []func()
	// late is the leader before, where its requests arrive in front of this one's.
	late *leader
	// wake numbers its alarms: only the last one counts.
	wake uint64
}

func newLeader(env *Env, name string, life int, late *leader) *leader {
	kind, name := name, name+"-"+strconv.Itoa(life)
	l := &leader{env: env, kind: kind, name: name, at: env.Cluster.Net.Endpoint(name), late: late}
	l.api = env.apiClient(name, func() bool { return l.dead })
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

// lose cuts the leader off for pause. After renewDeadline it knows, and stops. It returns itself where its requests arrive in front
// of its successor's.
func (l *leader) lose(pause time.Duration, within bool, knows func()) (late *leader) {
	l.cut = true
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

// outside is one request to somebody outside of the cluster, such as a cloud, which takes wait. A leader that is cut off hears nothing of it.
func (l *leader) outside(op fault.Op, wait time.Duration, act func() error, then func(error), die func()) {
	answered, muted := false, false
	answer := func(err error) {
		if !answered && !l.dead {
			answered = true
			l.env.tried(op, err)
			then(err)
		}
	}
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

// step is an engine event: who does what.
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
