package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// node is one machine of the cluster with what runs on it. A re-created node is another one.
type node struct {
	w       *World
	name    string
	number  uint32
	dir     string
	machine Machine
	// reach watches whether the host answers; nil while the machine is off, or where it has a NIC to itself. Guarded by mu.
	reach *reach
	// registration is of its Node object.
	registration registration
	kubelet      *kubelet
	relays       *relays
	// judged answers the agent's questions about faults; nil where there are none.
	judged net.Listener

	// cordoned nodes get no pods from the scheduler; it is guarded by World.mu.
	cordoned bool

	// polling makes looks at the agent take turns, publishing writes of the node's object.
	polling, publishing sync.Mutex

	// mu guards what follows.
	mu       sync.Mutex
	up, gone bool
	// falling: its power is being taken, and nothing starts any more.
	falling bool
	// synced: everything that was written has reached the disk, and the machine is about to be switched off.
	synced     bool
	boots      int
	vpp, agent daemon
	management []netip.Addr
	podCIDRs   []netip.Prefix
	// assigned is what the API server has said of the node's blocks: podCIDRs, and those that an administrator has
	// replaced.
	assigned []ipam.Block
	own      netip.Prefix
	// last is what the agent told last; id and blocks what was told of it as facts, changes the number of the last change
	// among them. life is the process that told it.
	last    state
	life    int
	id      uint32
	blocks  []ipam.Block
	changes int64
	// recordUntil is until when writes of a restarted agent are told as facts; writes what it had written when last asked.
	recordUntil time.Time
	writes      int64
	// addressed is what was told last of the node's addresses, removals how much of the file of that name.
	addressed []netip.Addr
	removals  int64
	// rests are its released addresses, kept the changes of its record that were not told yet.
	rests Rests
	// askedPools are the pools that owners' pods ask for by an annotation, by owner.
	askedPools sync.Map
	kept       []keptRecord
}

// daemon is one of the two programs on a node.
type daemon struct {
	// life grows with each start and each kill, so that who waited for an earlier one knows.
	life int
	held bool
	proc Process
	// paused: the lab has stopped it where it is. ailing is why the lab ended it, where it did.
	paused bool
	ailing string
	// samples are how long it has waited for a processor.
	samples []sample
	// starting is closed when the start under way has ended; nil: none is.
	starting chan struct{}
	cancel   context.CancelFunc
}

// restartDelay is a supervisor's first back-off, as kubelet's and systemd's.
const restartDelay = time.Second

// newNode makes a machine that is off.
func (w *World) newNode(name string) (*node, error) {
	w.mu.Lock()
	w.made++
	number := w.made
	w.mu.Unlock()
	n := &node{w: w, name: name, number: number, registration: registration{machine: uuid.NewString()}}
	n.dir = filepath.Join(w.state.dir, "nodes", strconv.FormatUint(uint64(number), 10))
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(n.dir, "name"), []byte(name+"\n"), 0o644); err != nil {
		return nil, err
	}
	for k := range w.scenario().Topology.HostIPs {
		n.management = append(n.management, w.scenario().Management(number, k).Addr())
	}
	var err error
	spec := MachineSpec{Name: name, Number: number, Dir: n.dir, NIC: w.scenario().Topology.NIC != "", OtherNICs: w.scenario().Topology.OtherNICs, NICMTU: w.scenario().Topology.NICMTU,
		Management: n.management}
	if w.scenario().Config.Wiring.StealNIC {
		spec.Gateway = w.scenario().HostGateway(0)
	}
	if n.machine, err = w.fabric.Join(spec); err != nil {
		return nil, err
	}
	if n.relays, err = w.control.connect(n.dir, w.source.kube()); err != nil {
		return nil, err
	}
	if err := n.serveFaults(); err != nil {
		return nil, err
	}
	n.kubelet = newKubelet(n)
	return n, nil
}

// powerOn boots the machine and starts everything on it. It returns before VPP and agent are up.
func (n *node) powerOn() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.up || n.gone {
		return nil
	}
	if err := n.machine.PowerOn(); err != nil {
		return fmt.Errorf("boot %s: %w", n.name, err)
	}
	n.up = true
	n.boots++
	if err := n.machine.SetManagement(n.management); err != nil {
		return fmt.Errorf("boot %s: %w", n.name, err)
	}
	n.w.Record.Note(n.name + " boots")
	if err := n.watchHost(); err != nil {
		return fmt.Errorf("boot %s: %w", n.name, err)
	}
	n.startLocked(&n.vpp, n.launchVPP)
	ready := n.vpp.starting
	n.startLocked(&n.agent, func(ctx context.Context, life int) (Process, error) {
		// As systemd has it on a machine that boots: the agent comes after VPP.
		select {
		case <-ready:
		case <-ctx.Done():
		}
		return n.launchAgent(ctx, life)
	})
	n.kubelet.powerOn()
	return nil
}

// powerOff takes the power: whatever runs dies at once.
func (n *node) powerOff() error {
	n.mu.Lock()
	n.falling = true
	reach := n.reach
	n.reach = nil
	n.mu.Unlock()
	reach.stop()
	n.kubelet.powerOff()
	n.kill(&n.agent, false, "power")
	n.kill(&n.vpp, false, "")
	n.mu.Lock()
	defer n.mu.Unlock()
	n.falling = false
	if !n.up {
		return nil
	}
	n.up = false
	n.w.Record.Tell(fact.Fact{Node: n.name, What: fact.NodeGone{Left: false, Rest: 0}}, n.name+" is off")
	if err := n.machine.PowerOff(); err != nil {
		return fmt.Errorf("switch off %s: %w", n.name, err)
	}
	return nil
}

// remove ends the machine for good.
func (n *node) remove() {
	err := n.powerOff()
	n.mu.Lock()
	n.gone = true
	n.mu.Unlock()
	n.kubelet.Stop()
	if n.judged != nil {
		err = errors.Join(err, n.judged.Close())
	}
	n.w.Fail(errors.Join(err, n.machine.Remove(), n.relays.close()))
}

// abandon leaves the machine to itself.
func (n *node) abandon() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone = true
	n.vpp.life++
	n.agent.life++
	if n.reach != nil {
		n.reach.cancel()
	}
}

// start starts a daemon where it does not run.
func (n *node) start(d *daemon, launch func(context.Context, int) (Process, error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.startLocked(d, launch)
}

func (n *node) startLocked(d *daemon, launch func(context.Context, int) (Process, error)) {
	if !n.up || n.falling || n.gone || d.proc != nil || d.starting != nil {
		return
	}
	d.life++
	life := d.life
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	d.starting, d.cancel = done, cancel
	d.paused, d.ailing, d.samples = false, "", nil
	go func() {
		defer close(done)
		defer cancel()
		p, err := launch(ctx, life)
		n.mu.Lock()
		current := d.life == life
		if d.starting == done {
			d.starting = nil
		}
		if err == nil && current {
			d.proc = p
		}
		n.mu.Unlock()
		switch {
		case err != nil && current:
			n.w.Fail(fmt.Errorf("%s: %w", n.name, err))
		case err == nil && !current:
			p.Kill()
		case err == nil:
			if d == &n.vpp {
				go n.attend(d, p, life)
			} else {
				go n.listen(p)
			}
			go n.watchHunger(d, p, life)
			go n.supervise(d, p, life, launch)
		}
	}()
}

// supervise starts a daemon again that ends by itself.
func (n *node) supervise(d *daemon, p Process, life int, launch func(context.Context, int) (Process, error)) {
	<-p.Done()
	n.mu.Lock()
	if d.life != life {
		n.mu.Unlock()
		return // it was killed on purpose
	}
	d.life++
	life = d.life
	d.proc = nil
	why := d.ailing
	d.ailing = ""
	n.mu.Unlock()
	n.crashed(d, why)
	time.Sleep(restartDelay)
	n.mu.Lock()
	defer n.mu.Unlock()
	if d.life == life && !d.held {
		n.startLocked(d, launch)
	}
}

// crashed tells of a daemon that nobody has ended but itself, or its lab for being ailing.
func (n *node) crashed(d *daemon, ailing string) {
	n.ended(d, "crash")
	why := cmp.Or(ailing, n.title(d)+" died by itself")
	var crash fact.What = fact.VPPCrash{Why: why}
	if d == &n.agent {
		crash = fact.ProgramCrash{Why: why + ": " + lastPanic(filepath.Join(n.dir, AgentLogFile))}
	}
	n.w.Record.Tell(fact.Fact{Node: n.name, What: crash}, "")
	n.w.Record.Note(n.name + ": " + why + "; it is started again")
}

func (n *node) title(d *daemon) string {
	if d == &n.vpp {
		return "VPP"
	}
	return "agent"
}

// kill ends a daemon with signal 9; with hold it stays down until release. why is told with the fact of an agent's end.
func (n *node) kill(d *daemon, hold bool, why string) {
	n.mu.Lock()
	d.life++
	d.held = hold
	p, starting := d.proc, d.starting
	d.proc = nil
	if starting != nil {
		d.cancel()
	}
	n.mu.Unlock()
	if starting != nil {
		<-starting
	}
	if p == nil {
		return
	}
	p.Kill()
	n.ended(d, why)
}

// ended tells that a daemon has ended.
func (n *node) ended(d *daemon, why string) {
	if d == &n.agent {
		n.mu.Lock()
		n.life = 0
		n.tellKept(len(n.kept))
		n.mu.Unlock()
		n.w.Record.Tell(fact.Fact{Node: n.name, What: fact.AgentDown{Why: why}}, n.name+" agent down: "+why)
		return
	}
	n.w.Record.Note(n.name + " VPP down")
}

// release starts what an action has stopped.
func (n *node) release() {
	n.mu.Lock()
	n.vpp.held, n.agent.held = false, false
	n.mu.Unlock()
	n.start(&n.vpp, n.launchVPP)
	n.start(&n.agent, n.launchAgent)
}

// launchVPP starts VPP and returns when it is ready.
func (n *node) launchVPP(ctx context.Context, _ int) (Process, error) {
	p, err := n.machine.StartVPP(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	n.w.Record.Tell(fact.Fact{Node: n.name, What: fact.Disturbed{By: fact.VPPUp, Owner: ipam.Owner{}}}, n.name+" VPP is up")
	return p, nil
}

// running are the processes of both programs, nil where one is down.
func (n *node) running() (vpp, agent Process) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.vpp.proc, n.agent.proc
}

func (n *node) isUp() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up
}
