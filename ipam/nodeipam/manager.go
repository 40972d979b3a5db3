package nodeipam

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Manager is an allocator and a RouteController in one process, for one driver: both receive each event about nodes and
// the lease. It is not safe for concurrent use.
type Manager struct {
	Allocator Machine
	Routes    *RouteController
	// wakes are when the two want to be woken, told is what the driver was told.
	wakes [2]time.Time
	told  time.Time
}

var _ Machine = (*Manager)(nil)

// Step implements Machine. Answers go to the one that asked.
func (m *Manager) Step(now time.Time, ev Event) []Effect {
	switch ev := ev.(type) {
	case Answered:
		if ev.ID >= routeIDs {
			return m.join(m.Routes.Step(now, ev), 1, nil)
		}
		return m.join(m.Allocator.Step(now, ev), 0, nil)
	case Routes:
		return m.join(m.Routes.Step(now, ev), 1, nil)
	case Aliases:
		return m.join(m.Allocator.Step(now, ev), 0, nil)
	}
	return m.join(m.Routes.Step(now, ev), 1, m.join(m.Allocator.Step(now, ev), 0, nil))
}

// Run implements Machine.
func (m *Manager) Run(now time.Time) []Effect {
	return m.join(m.Routes.Run(now), 1, m.join(m.Allocator.Run(now), 0, nil))
}

// join appends what one of the two asks for. Both share an alarm, which is that of whoever wants it first.
func (m *Manager) join(effects []Effect, of int, out []Effect) []Effect {
	for _, e := range effects {
		if w, ok := e.(WakeAt); ok {
			m.wakes[of] = w.At
			continue
		}
		out = append(out, e)
	}
	first := m.wakes[0]
	if w := m.wakes[1]; first.IsZero() || !w.IsZero() && w.Before(first) {
		first = w
	}
	if !first.Equal(m.told) {
		m.told = first
		out = append(out, WakeAt{first})
	}
	return out
}

// Due reports whether the allocator wants to be woken. RouteController always does.
func (m *Manager) Due() bool { return !m.wakes[0].IsZero() }

// Ranges are the allocator's.
func (m *Manager) Ranges() []RangeUse {
	if of, ok := m.Allocator.(interface{ Ranges() []RangeUse }); ok {
		return of.Ranges()
	}
	return nil
}

// Figures implements ipam.Figured.
func (m *Manager) Figures() []ipam.Figure {
	if of, ok := m.Allocator.(ipam.Figured); ok {
		return of.Figures()
	}
	return nil
}
