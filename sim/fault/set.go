package fault

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Set are the faults of one run: those of its scenario's fault section, and what is injected while it runs. Every world asks
// one Set about each operation, so that a scenario means the same faults in all of them. It belongs to one goroutine.
type Set struct {
	env   Env
	list  []Injector
	added int
	keyed bool
}

// NewSet reads a scenario's fault section.
func NewSet(f *scenarios.Faults, env Env) (*Set, error) {
	list, err := section(f, env)
	if err != nil {
		return nil, err
	}
	s := &Set{env: env, list: list}
	for _, text := range f.Inject {
		s.keyed = s.keyed || keyed(text)
	}
	return s, nil
}

// Any reports whether an operation may go wrong at all.
func (s *Set) Any() bool { return len(s.list) > 0 }

// Keyed reports whether some injector may ask for an operation's Key.
func (s *Set) Keyed() bool { return s.keyed }

func keyed(text string) bool { return strings.Contains(text, "(Key ") }

// Judge asks every injector about an operation and returns the first verdict that is not Pass. Power is lost by a machine
// that writes to its disk, and by no other.
func (s *Set) Judge(op Op) Verdict {
	v := Judge(s.list, op)
	if v.Action == PowerLoss && op.Kind != KindPersist {
		return Verdict{}
	}
	return v
}

// Inject adds a fault, on one node or everywhere for "", until lift is called. Errors are of Parse.
func (s *Set) Inject(text, node string) (lift func(), err error) {
	i, err := Parse(text, s.env)
	if err != nil {
		return nil, fmt.Errorf("inject %s: %w", text, err)
	}
	if node != "" {
		i = Node(node, i)
	}
	s.added++
	added := &injected{Injector: i, id: s.added}
	s.list = append(s.list, added)
	s.keyed = s.keyed || keyed(text)
	return func() {
		at := slices.IndexFunc(s.list, func(i Injector) bool { x, ok := i.(*injected); return ok && x.id == added.id })
		if at >= 0 {
			s.list = append(s.list[:at:at], s.list[at+1:]...)
		}
	}, nil
}

// injected is a fault that was added to a run.
type injected struct {
	Injector
	id int
}

// Clear ends every fault.
func (s *Set) Clear() { s.list, s.keyed = nil, false }

// section turns a scenario's fault section into injectors, in the order of its fields.
func section(f *scenarios.Faults, env Env) ([]Injector, error) {
	b := builder{env: env, nodes: f.Nodes}
	b.chance(f.DropRequest, KindDataplane, Vanish)
	b.chance(f.DropReply, KindDataplane, Mute)
	b.chance(f.Refuse, KindDataplane, Refuse)
	b.late(f.DelayReply, KindDataplane)
	b.chance(f.CrashVPP/2, KindDataplane, CrashBefore)
	b.chance(f.CrashVPP/2, KindDataplane, CrashAfter)
	b.chance(f.CrashBeforeEffect, KindEffect, CrashBefore)
	b.chance(f.CrashAfterEffect, KindEffect, CrashAfter)
	b.chance(f.CrashAfterPersist, KindPersist, CrashAfter)
	b.chance(f.DiskError, KindPersist, Refuse)
	b.chance(f.StoreUnavailable, KindStore, Refuse)
	b.chance(f.DropStoreReply, KindStore, Mute)
	b.late(f.DelayStoreReply, KindStore)
	b.chance(f.CompactStore, KindStore, Compact)
	b.late(f.SlowDisk, KindPersist)
	for _, kind := range [...]OpKind{KindStoreWatch, KindAPIWatch} {
		b.chance(f.LoseWatch, kind, Vanish)
		b.chance(f.DuplicateWatch, kind, Duplicate)
	}
	b.chance(f.WithdrawCNI, KindCNI, Vanish)
	for _, text := range f.Inject {
		i, err := Parse(text, env)
		if err != nil {
			return nil, fmt.Errorf("faults.inject %s: %w", text, err)
		}
		b.add(i)
	}
	return b.list, nil
}

// builder collects injectors, each limited to the nodes that suffer.
type builder struct {
	env   Env
	nodes []string
	list  []Injector
}

func (b *builder) add(i Injector) {
	if len(b.nodes) == 0 {
		b.list = append(b.list, i)
		return
	}
	for _, node := range b.nodes {
		b.list = append(b.list, Node(node, i))
	}
}

func (b *builder) chance(p float64, kind OpKind, action Action) {
	if p > 0 {
		b.add(Kind(kind, Prob(b.env, p, Always(Verdict{Action: action}))))
	}
}

func (b *builder) late(d scenarios.Delay, kind OpKind) {
	if d.P > 0 && d.By > 0 {
		b.add(Kind(kind, Prob(b.env, d.P, Jitter(b.env, 1, d.By))))
	}
}
