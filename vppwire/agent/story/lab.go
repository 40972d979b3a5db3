package story

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// TB is what a Lab needs of a test: *testing.T has it.
type TB interface {
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Lab drives agents with everything they ask for answered in the order in which it was asked: a store, journals,
// modelled VPPs and Linuxes. Time moves only by Pass. What goes wrong is switched on by its owner.
type Lab struct {
	Now   time.Time
	Store *Store
	// Machines are found by their names; Names has these in the order in which machines were added.
	Machines map[string]*Machine
	Names    []string
	// Pools are told to each agent that starts.
	Pools agent.Pools
	// Out has every effect in its order, one line each; runs of dataplane calls are one line "calls".
	Out strings.Builder
	// Answers are the last answers, by node/request.
	Answers map[string]agent.Answer
	// Effects counts performed effects. Crash, where set, is asked before and after each and may kill the agent.
	Effects int
	Crash   func(b *Machine, e agent.Effect, after bool) bool
	// Mishap, where set, is asked about each "call", "dump" and "store" request.
	Mishap func(b *Machine, what string) Mishap
	// CallsFirst answers dataplane calls before anything else that is under way, so that Out does not depend on how
	// many of them there are.
	CallsFirst bool

	t    TB
	jobs []job
}

// Mishap is what happens to one request.
type Mishap uint8

// Mishaps: none; not done and no answer; done and no answer; refused with ErrRefused.
const (
	Fine Mishap = iota
	RequestLost
	ReplyLost
	Refused
)

func (l *Lab) fate(b *Machine, what string) Mishap {
	if l.Mishap == nil {
		return Fine
	}
	return l.Mishap(b, what)
}

// job is one thing under way; it is dropped when the agent that asked for it has died.
type job struct {
	b    *Machine
	life int
	do   func()
}

// New returns a lab without machines. t may be used until the lab is.
func New(t TB) *Lab {
	return &Lab{t: t, Now: time.Unix(1000, 0).UTC(), Store: newStore(), Machines: map[string]*Machine{}, Answers: map[string]agent.Answer{},
		Pools: Pools(1, "10.1.0.0/16", 24)}
}

// Pools are ranges of a generation, with blocks of a length for nodes; Config a node's configuration, which claims an
// ID at once.
func Pools(generation int64, pods string, length int) agent.Pools {
	return agent.Pools{
		Generation: generation,
		PodSubnet:  netip.MustParsePrefix(pods), PodSubnetOneNodePrefixLen: length,
		VPPHostSubnet: netip.MustParsePrefix("172.30.0.0/16"), VPPHostSubnetOneNodeLen: 24,
		NodeInterconnect: netip.MustParsePrefix("192.168.16.0/24"), VXLAN: netip.MustParsePrefix("192.168.30.0/24"),
		Service: netip.MustParsePrefix("10.96.0.0/12"),
	}
}

// Config is a configuration with every part that a story needs.
func Config(name string) agent.Config {
	return agent.Config{NodeName: name, TCPstackDisabled: true, TCPChecksumOffloadDisabled: true, MTUSize: 1450, ClaimPatience: -1}
}

// finish performs what a dying agent has under way; nobody hears of it.
func (l *Lab) finish(b *Machine, life int) {
	b.Agent = nil
	mine := slices.DeleteFunc(slices.Clone(l.jobs), func(j job) bool { return j.b != b || j.life != life })
	l.jobs = slices.DeleteFunc(l.jobs, func(j job) bool { return j.b == b && j.life == life })
	for _, j := range mine {
		j.do()
	}
}

func (b *Machine) later(do func()) { b.lab.jobs = append(b.lab.jobs, job{b, b.Life, do}) }

func (b *Machine) print(text string) {
	b.calls = false
	fmt.Fprintf(&b.lab.Out, "%s %s\n", b.Name, text)
}

// Settle performs everything under way, in order.
func (l *Lab) Settle() {
	for n := 0; len(l.jobs) > 0; n++ {
		if n > 1e6 {
			l.t.Fatalf("does not become quiet:\n%s", l.Out.String()[max(0, l.Out.Len()-4000):])
		}
		j := l.jobs[0]
		l.jobs = l.jobs[1:]
		if j.life == j.b.Life {
			j.do()
		}
	}
}

// Pass lets time go by, alarms included.
func (l *Lab) Pass(d time.Duration) {
	end := l.Now.Add(d)
	for {
		l.Settle()
		var first *Machine
		for _, name := range l.Names {
			if b := l.Machines[name]; !b.wake.IsZero() && !b.wake.After(end) && (first == nil || b.wake.Before(first.wake)) {
				first = b
			}
		}
		if first == nil {
			l.Now = end
			return
		}
		if first.wake.After(l.Now) {
			l.Now = first.wake
		}
		first.wake = time.Time{}
		first.Step(agent.Woke{})
	}
}

// Busy lists the machines with something under way, the one that has waited longest first.
func (l *Lab) Busy() []*Machine {
	var busy []*Machine
	for _, j := range l.jobs {
		if !slices.Contains(busy, j.b) {
			busy = append(busy, j.b)
		}
	}
	return busy
}

// Perform performs the oldest thing under way of one machine: per machine, order is kept, as connections do.
func (l *Lab) Perform(b *Machine) {
	i := slices.IndexFunc(l.jobs, func(j job) bool { return j.b == b })
	if i < 0 {
		return
	}
	j := l.jobs[i]
	l.jobs = slices.Delete(l.jobs, i, i+1)
	if j.life == b.Life {
		j.do()
	}
}

// Forget drops everything under way.
func (l *Lab) Forget() { l.jobs = nil }
