package sim

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// wall is a wall clock, which may be wrong and is set, and the one behind it, which runs a little too fast or too slow.
type wall struct {
	eng *engine.Engine
	// ahead is how far the wall clock is ahead of the true time, without what it has gained by running wrong.
	ahead time.Duration
	// ppm is by how many parts per million time runs too fast.
	ppm int64
}

// million is what a clock's error is a part of.
const million = 1_000_000

// drawWall draws the error of each machine's wall clock, in clusters whose clocks differ.
func (w *World) drawWall(of string) wall {
	t, c := &w.s.Topology, wall{eng: w.eng}
	if spread := int(t.ClockSpread / time.Millisecond); spread > 0 {
		c.ahead = time.Duration(w.eng.Chooser().Pick("clock of "+of, 2*spread+1)-spread) * time.Millisecond
	}
	if most := int(t.ClockDrift * million); most > 0 {
		c.ppm = int64(w.eng.Chooser().Pick("drift of "+of, 2*most+1) - most)
	}
	return c
}

// Now implements controllers.Wall.
func (c *wall) Now() time.Duration { return c.ahead + c.ticked() }

// ticked is how much time has passed since the run's start by the machine's own count.
func (c *wall) ticked() time.Duration { return c.ticks(c.eng.Now()) }

// counted is what the machine has counted since something that is so old: a program that takes the time of both counts
// no more, and no less.
func (c *wall) counted(age time.Duration) time.Duration {
	return c.ticked() - c.ticks(c.eng.Now()-age)
}

// ticks is what the machine counts until a time of the run.
func (c *wall) ticks(now time.Duration) time.Duration {
	if c.ppm == 0 {
		return now
	}
	return now + now/million*time.Duration(c.ppm) + now%million*time.Duration(c.ppm)/million
}

// truly is how long it takes until so much has passed by the machine's own count, to a microsecond.
func (c *wall) truly(d time.Duration) time.Duration {
	rate := million + time.Duration(c.ppm)
	if rate == million || d == 0 { // no rest is none by any clock
		return d
	}
	return d/rate*million + d%rate*million/rate
}

// UntilAfter implements controllers.Wall: the real time, rounded up, because a program that is woken too early would
// sleep indefinitely.
func (c *wall) UntilAfter(d time.Duration) time.Duration {
	if c.ppm == 0 || d == 0 {
		return d
	}
	return c.truly(d) + time.Microsecond
}

// clocks are a machine's, and what has happened by them.
type clocks struct {
	wall
	// boot is which boot began when the clock behind had ticked as much as booted says.
	boot   string
	booted time.Duration
	// own is how far the agent's own time was ahead of the count behind, when its last life began; ownBoot is that life's
	// boot.
	own     time.Duration
	ownBoot string
}

// sinceBoot is how long the machine has run, as agents see it: since the first of this boot.
func (m *machine) sinceBoot() time.Duration {
	if b := m.host.Boot(); b != m.clocks.boot {
		m.clocks.boot, m.clocks.booted = b, m.clocks.ticked()-agentStartTime
	}
	return m.clocks.ticked() - m.clocks.booted
}

// now is the time as the process sees it: what the wall clock said when it started, and what has passed since.
func (p *process) now() time.Time { return epoch.Add(p.ahead + p.m.clocks.ticked()) }

// ownNow is the time that the agent's allocator receives. Cooling is measured by it; counting addresses by another
// clock would end it early.
func (p *process) ownNow() time.Time { return p.agent.Time(p.now()) }

// ownTime notes the clock by which a new life of the agent measures cooling. A new boot takes the wall clock's time. If
// that clock was set back since the boot before, addresses cool for longer, by no more than the difference. An agent
// that loses more has lost it by a fault of its own.
func (m *machine) ownTime(p *process) {
	c := &m.clocks
	own := p.ownNow().Sub(epoch) - m.clocks.ticked()
	if boot := m.host.Boot(); c.ownBoot != boot {
		if c.ownBoot != "" {
			m.restLonger(min(c.own-own, c.own-c.ahead))
		}
		c.ownBoot = boot
	}
	c.own = own
}

// side is an agent as its node's daemons see it; its time is the agent's.
type side struct {
	*agent.Agent
	p *process
}

// Now implements controllers.Side.
func (s side) Now() time.Time { return s.p.ownNow() }

// SetClock implements timeline.Processes.
func (st stage) SetClock(node string, by time.Duration) { st.machines[node].clocks.ahead += by }

// restOfIDs is how long the ID of a removed node stays unused, by the fastest clock of any agent that may wait for it.
func (w *World) restOfIDs() time.Duration {
	d := w.agentConfig.NodeIDQuarantine
	if w.s.Topology.ClockDrift == 0 {
		return d
	}
	return time.Duration(float64(d) / (1 + scenarios.ClockDriftMost))
}

// kubeletClocks are a machine's, as its kubelet and container runtime see them.
type kubeletClocks struct{ m *machine }

// Now implements cluster.Clock: kubelets measure waits and patience by what the machine counts.
func (c kubeletClocks) Now() time.Duration { return c.m.clocks.ticked() }

// After implements cluster.Clock.
func (c kubeletClocks) After(d time.Duration, ev engine.Event) {
	c.m.w.eng.After(c.m.clocks.UntilAfter(d), ev)
}

// Choose implements cluster.Clock.
func (c kubeletClocks) Choose(label string, n int) int { return c.m.w.eng.Choose(label, n) }

// Wall implements cluster.MachineClocks.
func (c kubeletClocks) Wall() time.Duration { return c.m.clocks.Now() }
