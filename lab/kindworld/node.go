package kindworld

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam"

	v1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// node is one node of the cluster.
type node struct {
	name, container string
	told            *told
	// last is the last look; vpp is the VPP that was told of, vppUp that it takes connections.
	last  seen
	vpp   spawn.ID
	vppUp bool
	// ended: the VPP of before was killed by an action.
	ended bool
	// before is what the node was when its agent was stopped cleanly, until that is compared with what the next one makes
	// of it.
	before *fact.NodeState
	// held is what is kept down.
	agentHeld, vppHeld bool
	// cordoned nodes get no pods from the scheduler.
	cordoned bool

	// mu guards what follows: a node boots on a goroutine of its own.
	mu         sync.Mutex
	joined, on bool
	// boots counts the boots under way.
	boots      int
	machine    *machine
	uid        string
	management []netip.Addr
}

// up is the machine where it runs, nil elsewhere.
func (n *node) up() *machine {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.on {
		return nil
	}
	return n.machine
}

// boot counts a boot that begins or ends, and returns how many are under way.
func (n *node) boot(more int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.boots += more
	return n.boots
}

// lost lets go of a machine that has ended.
func (n *node) lost() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.on = false
	if n.machine == nil {
		return nil
	}
	err := n.machine.runtime.close()
	n.machine = nil
	return err
}

// bootLimit is how long a node may take to join: its image is loaded meanwhile.
const bootLimit = 5 * time.Minute

// boot makes or starts a machine, and finds its node object.
func (w *World) boot(n *node) error {
	ctx, cancel := context.WithTimeout(context.Background(), bootLimit)
	defer cancel()
	n.mu.Lock()
	joined := n.joined
	n.mu.Unlock()
	var err error
	if joined {
		err = w.machines.On(ctx, n.container)
	} else {
		err = w.machines.Join(ctx, n.name)
	}
	if err != nil {
		return err
	}
	pid, id, err := w.machines.PID(ctx, n.container)
	if err != nil {
		return err
	}
	m, err := newMachine(n.container, pid, id)
	if err != nil {
		return err
	}
	object, err := w.registered(ctx, n.name)
	if err != nil {
		return errors.Join(err, m.runtime.close())
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.joined, n.on, n.machine, n.uid, n.management = true, true, m, string(object.UID), nil
	for _, a := range object.Status.Addresses {
		if addr, err := netip.ParseAddr(a.Address); err == nil && a.Type == v1.NodeInternalIP {
			n.management = append(n.management, addr)
		}
	}
	return nil
}

// registered waits for a Node object with an address: its kubelet makes it a moment after it has joined.
func (w *World) registered(ctx context.Context, name string) (*v1.Node, error) {
	for {
		object, err := w.client.CoreV1().Nodes().Get(ctx, name, meta.GetOptions{})
		if err == nil && len(object.Status.Addresses) > 0 {
			return object, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("node %s has not registered itself: %w", name, errors.Join(ctx.Err(), err))
		case <-time.After(lookPause):
		}
	}
}

// lookAround looks at every node, at the same time, and at objects of the API server, and tells what has changed.
func (w *World) lookAround(ctx context.Context) {
	nodes := w.inOrder()
	found := make([]*seen, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		m := n.up()
		if m == nil {
			continue
		}
		wg.Go(func() {
			n.mu.Lock()
			management := slices.Clone(n.management)
			n.mu.Unlock()
			s, err := m.look(ctx, management, n.told.life)
			if err != nil {
				w.Record.Note(n.name + ": " + err.Error())
				return
			}
			found[i] = &s
		})
	}
	wg.Wait()
	unrecorded := w.lookAtRecords(ctx)
	if unrecorded != nil {
		w.Record.Note(unrecorded.Error())
	}
	ungiven := w.lookAtBlocks(ctx)
	if ungiven != nil {
		w.Record.Note(ungiven.Error())
	}
	for i, n := range nodes {
		m, s := n.up(), found[i]
		if m == nil || s == nil || ungiven != nil { // nobody knows what an agent that uses a block was given
			continue
		}
		s.at, s.unrecorded = w.Now(), unrecorded != nil
		n.last = *s
		n.vppUp = takesConnections(m.root() + vppDir + "/" + vppproc.APISocketFile)
		if w.blocks != nil {
			s.given = w.blocks.of[n.name]
		}
		for _, f := range n.told.look(*s) {
			if _, ok := f.What.(fact.AgentUp); ok {
				w.records.held.Begins()
			}
			w.Record.Tell(f, lineOf(f))
		}
		w.lookAtVPP(n, m.vpp())
		w.compare(ctx, n)
	}
	w.work(ctx)
	w.lookAtPods(ctx)
	bounded, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	for _, look := range [...]func(context.Context) error{w.lookAtServices, w.lookAtPrograms, w.lookAtEvents} {
		if err := look(bounded); err != nil {
			w.Record.Note(err.Error())
		}
	}
	w.looked = time.Now()
}

// lookAtVPP tells of a VPP that is another one than before.
func (w *World) lookAtVPP(n *node, now spawn.ID) {
	if now == n.vpp || now == (spawn.ID{}) || !n.vppUp {
		return
	}
	if n.vpp != (spawn.ID{}) && !n.ended {
		w.Record.Tell(fact.Fact{Node: n.name, What: fact.VPPCrash{Why: "VPP died by itself"}}, n.name+" VPP died by itself")
	}
	n.vpp, n.ended = now, false
	w.Record.Tell(fact.Fact{Node: n.name, What: fact.Disturbed{By: fact.VPPUp, Owner: ipam.Owner{}}}, n.name+" VPP is up")
}

func takesConnections(socket string) bool {
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close() // nothing was said
	return true
}

// lineOf is a fact for people; most have none.
func lineOf(f fact.Fact) string {
	switch x := f.What.(type) {
	case fact.Answered:
		return fmt.Sprintf("%s %s has %s", f.Node, x.Pod, x.Addr)
	case fact.SandboxGone:
		return fmt.Sprintf("%s sandbox %.12s is gone", f.Node, x.Owner.ContainerID)
	case fact.Assigned:
		return fmt.Sprintf("%s assigned %v", f.Node, x.Blocks)
	case fact.NodeID:
		return fmt.Sprintf("%s node ID %d", f.Node, x.ID)
	case fact.AgentUp:
		return fmt.Sprintf("%s agent is up with %d leases", f.Node, len(x.Leases))
	case fact.AgentDown:
		return f.Node + " agent down: " + x.Why
	}
	return ""
}
