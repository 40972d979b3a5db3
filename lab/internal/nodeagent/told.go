package nodeagent

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
)

// Change is what one step has changed of what the agent holds, at the time of the step.
type Change struct {
	// Number counts the changes of one life from 1.
	Number int64
	// At is a time of Monotonic.
	At int64
	// Released and Leased are in ascending order of addresses; of released ones Owner, Addr and Block are set.
	Released, Leased []ipam.Lease
	// Left is what was found of the addresses among them, at that time.
	Left []Left
	// ID and Blocks are those after the step.
	ID     uint32
	Blocks []ipam.Block
	// Addresses are those after the step, where it has changed them.
	Addresses []netip.Addr
}

// place is what a node's addresses follow from.
type place struct {
	id                 uint32
	address, vxlan     [2]netip.Prefix
	hostVPP, hostLinux [2]netip.Addr
}

func placeOf(a *agent.Agent) place {
	n := a.Node()
	p := place{id: n.ID}
	p.address[0], p.vxlan[0], p.hostVPP[0], p.hostLinux[0] = n.Address, n.VXLAN, n.HostVPP, n.HostLinux
	if s := n.Second; s != nil {
		p.address[1], p.vxlan[1], p.hostVPP[1], p.hostLinux[1] = s.Address, s.VXLAN, s.HostVPP, s.HostLinux
	}
	return p
}

// changesMax bounds the changes that are kept for a lab which does not ask: one that was kept up without its owner.
const changesMax = 1 << 16

// changes collects what the agent's steps change until a lab has heard of it, so that nothing that comes and goes
// between two looks is missed and everything has the time at which it happened.
type changes struct {
	// began is a time of the driver's clock and monotonic the same of Monotonic: differences between steps are exact.
	began     time.Time
	monotonic int64

	mu     sync.Mutex
	leases *agent.LeaseChanges // nil until the journal has been read
	number int64
	id     uint32
	blocks []ipam.Block
	// placed is by what the node was reached after the last step.
	placed place
	list   []Change
	left   *leftovers
	gone   *removals
}

func newChanges(left *leftovers, gone *removals) *changes {
	return &changes{began: time.Now(), monotonic: Monotonic(), left: left, gone: gone}
}

// Monotonic is the machine's monotonic clock in nanoseconds, the same for every process of the machine.
func Monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // Linux has it
	return t.Nano()
}

// restored begins with what the journal held.
func (c *changes) restored(a *agent.Agent) []ipam.Lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	leases := slices.Collect(a.Leases())
	c.leases = agent.NewLeaseChanges(slices.Values(leases))
	c.left.learn(a)
	return leases
}

// stepped is host.Config.Stepped. It waits for VPP where addresses come or go, lookTime at most.
func (c *changes) stepped(now time.Time, a *agent.Agent, effects []agent.Effect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.monotonic + int64(now.Sub(c.began))
	for i := range effects {
		if _, calls := effects[i].(agent.CallDataplane); calls {
			c.gone.decided.Store(at + 1) // after what the step changed
		}
	}
	if c.leases == nil {
		return
	}
	gone, come, wrote := c.leases.Step(effects)
	placed := placeOf(a)
	moved := placed != c.placed
	c.placed = placed
	if !wrote && !moved {
		return
	}
	id, blocks := a.ID(), a.Blocks()
	if !moved && len(gone) == 0 && len(come) == 0 && id == c.id && slices.Equal(blocks, c.blocks) {
		return
	}
	c.number++
	c.id, c.blocks = id, slices.Clone(blocks)
	ch := Change{Number: c.number, At: at, ID: id, Blocks: c.blocks}
	if moved {
		s := rest.StateOf(a)
		ch.Addresses = Reached(&s)
	}
	for _, r := range gone {
		ch.Released = append(ch.Released, ipam.Lease{Owner: r.Owner, Addr: r.Addr, Block: r.Prefix})
	}
	for _, r := range come {
		ch.Leased = append(ch.Leased, ipam.Lease{Owner: r.Owner, Addr: r.Addr, Block: r.Prefix})
	}
	ch.Left = c.left.changed(a, gone, come)
	if len(c.list) == changesMax {
		c.list = c.list[1:]
	}
	c.list = append(c.list, ch)
}

// after forgets the changes up to a number, which the lab has heard of, and returns the others.
func (c *changes) after(number int64) []Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.DeleteFunc(c.list, func(ch Change) bool { return ch.Number <= number })
	return slices.Clone(c.list)
}

// close ends the look at VPP.
func (c *changes) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left.close()
}
