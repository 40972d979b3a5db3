package timeline

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/agentconfig"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// bootTime is how long a machine is off that reboots or is replaced; small virtual machines boot in five seconds.
const bootTime = 5 * time.Second

// Start makes the nodes and pods of the topology and starts what happens by itself.
func (p *Player) Start(ctx context.Context) error {
	for _, s := range p.s.Services {
		p.serve(s)
	}
	for _, s := range p.s.Policies {
		p.enforce(s)
	}
	if err := p.Join(ctx, p.s.NodeNames()...); err != nil {
		return err
	}
	p.startWorkload()
	return nil
}

// Join makes nodes of these names join. One that the topology names gets the topology's pods: a re-created node has them
// again, a new one has none.
func (p *Player) Join(ctx context.Context, names ...string) error {
	topology := p.s.NodeNames()
	for _, name := range names {
		p.named[name] = true
		cidrs, err := p.externalBlock()
		if err != nil {
			return err
		}
		p.disturbed("add-node")
		if err := p.world.Join(ctx, name, cidrs); err != nil {
			return err
		}
		if slices.Contains(topology, name) {
			for i := range p.s.Topology.PodsPerNode {
				p.world.CreatePod(Pod{Name: name + "-pod-" + strconv.Itoa(i), App: scenarios.TopologyApp, Node: name, Pinned: true})
			}
		}
	}
	return p.world.PowerOn(ctx, names...)
}

// externalBlock is the next node's pod CIDR where a plugin beside the agent gives the addresses: the next block of the pod
// subnet, block 0 left out, as the controller manager does it.
func (p *Player) externalBlock() ([]netip.Prefix, error) {
	if !p.s.Config.IPAM.UseExternalIPAM {
		return nil, nil
	}
	blocks, err := PodCIDRs(p.plan, p.blocks+1)
	if err != nil {
		return nil, err
	}
	p.blocks++
	return blocks, nil
}

// FreeBlock reports whether there is a pod CIDR for another node.
func (p *Player) FreeBlock() bool {
	_, err := PodCIDRs(p.plan, p.blocks+1)
	return p.s.Config.IPAM.UseExternalIPAM && err == nil
}

// PodCIDRs are the blocks of a plan's pod subnets by their number, one of each family.
func PodCIDRs(of scenarios.IPAM, number uint32) ([]netip.Prefix, error) {
	pools, err := agentconfig.Pools(of)
	if err != nil {
		return nil, err
	}
	plan := contiv.Plan{PodSubnet: pools.PodSubnet, PodSubnetOneNodePrefixLen: pools.PodSubnetOneNodePrefixLen,
		VPPHostSubnet: pools.VPPHostSubnet, VPPHostSubnetOneNodeLen: pools.VPPHostSubnetOneNodeLen}
	if s := pools.Second; pools.Dual() {
		plan.Second = &contiv.Plan{PodSubnet: s.PodSubnet, PodSubnetOneNodePrefixLen: s.PodSubnetOneNodePrefixLen,
			VPPHostSubnet: s.VPPHostSubnet, VPPHostSubnetOneNodeLen: s.VPPHostSubnetOneNodeLen}
	}
	n, err := plan.Node(number)
	if err != nil {
		return nil, fmt.Errorf("pod CIDR of node %d: %w", number, err)
	}
	if n.Second != nil {
		return []netip.Prefix{n.PodSubnet, n.Second.PodSubnet}, nil
	}
	return []netip.Prefix{n.PodSubnet}, nil
}

func (p *Player) addNode(ctx context.Context, a scenarios.AddNode) error {
	if a.Name != "" {
		if p.there(a.Name) {
			return fmt.Errorf("add-node: there is a node %s", a.Name)
		}
		return p.Join(ctx, a.Name)
	}
	var names []string
	for n := 1; len(names) < max(1, a.Count); n++ {
		if name := "node-" + strconv.Itoa(n); !p.named[name] {
			names = append(names, name)
		}
	}
	return p.Join(ctx, names...)
}

func (p *Player) removeNode(ctx context.Context, a scenarios.RemoveNode) error {
	return p.each(a.Node, a.Verb(), present, func(node string) error {
		if a.Finalizer == 0 {
			return p.remove(ctx, node)
		}
		if p.leaving[node] != 0 { // deleting again what is being deleted changes nothing
			return nil
		}
		turn := p.done[a.Verb()]
		p.leaving[node] = turn
		p.world.(Finalizers).DeleteNode(node)
		p.later(a.Finalizer, "finalizer of "+node, func() {
			if p.leaving[node] == turn {
				p.fail(p.remove(context.WithoutCancel(ctx), node))
			}
		})
		return nil
	})
}

func removeNodeNeed(a scenarios.RemoveNode) Need {
	if a.Finalizer > 0 {
		return NodeFinalizers
	}
	return Nothing
}

func (p *Player) unregisterNode(ctx context.Context, a scenarios.UnregisterNode) error {
	return p.each(a.Node, a.Verb(), present, func(node string) error {
		if p.unregistered[node] != 0 || p.leaving[node] != 0 { // there is no object to delete, or a finalizer keeps it
			return nil
		}
		turn := p.done[a.Verb()]
		p.unregistered[node] = turn
		p.world.Tell(fact.Fact{Node: node, What: fact.Unregistered{}}) // first: controllers may act within the deletion
		if err := p.world.(Registrations).Unregister(ctx, node); err != nil {
			return err
		}
		p.until(a.For, "register anew "+node, func() {
			if p.unregistered[node] == turn {
				p.fail(p.register(context.WithoutCancel(ctx), node))
			}
		})
		return nil
	})
}

// register has a living machine's kubelet make its Node object again.
func (p *Player) register(ctx context.Context, node string) error {
	delete(p.unregistered, node)
	delete(p.cordoned, node)
	cidrs, err := p.externalBlock()
	if err != nil {
		return err
	}
	return p.world.(Registrations).Register(ctx, node, cidrs)
}

// renameNode switches a machine off, which boots as another node. Whoever takes it away meanwhile has taken it away.
func (p *Player) renameNode(ctx context.Context, a scenarios.RenameNode) error {
	if p.named[a.As] {
		return fmt.Errorf("%s: there is or was a node %s", a.Verb(), a.As)
	}
	return p.each(a.Node, a.Verb(), living, func(node string) error {
		p.named[a.As] = true
		if err := p.world.PowerOff(ctx, node); err != nil {
			return err
		}
		turn := p.done[a.Verb()]
		p.renamed[node] = turn
		p.later(bootTime, "boot "+node+" as "+a.As, func() {
			if p.renamed[node] == turn {
				p.fail(p.bootAs(context.WithoutCancel(ctx), node, a))
			}
		})
		return nil
	})
}

// bootAs has a machine that is off come back as another node, and the node that it was leave.
func (p *Player) bootAs(ctx context.Context, node string, a scenarios.RenameNode) error {
	cidrs, err := p.externalBlock()
	if err != nil {
		return err
	}
	p.disturbed(a.Verb())
	if err := p.world.(Renames).JoinAs(ctx, a.As, node, cidrs); err != nil {
		return err
	}
	turn := p.renamed[node]
	leave := func() {
		if p.renamed[node] == turn {
			p.fail(p.remove(ctx, node))
		}
	}
	if a.Leaves == 0 {
		leave()
	} else {
		p.later(a.Leaves, "delete Node "+node, leave)
	}
	return p.world.PowerOn(ctx, a.As)
}

// there reports whether a node has joined and has not left.
func (p *Player) there(node string) bool {
	return slices.ContainsFunc(p.world.Machines(), func(m Machine) bool { return m.Name == node })
}

// remove takes a node away; whoever joins under its name later is not cordoned.
func (p *Player) remove(ctx context.Context, node string) error {
	delete(p.cordoned, node)
	delete(p.unregistered, node)
	delete(p.leaving, node)
	delete(p.renamed, node)
	return p.world.Remove(ctx, node)
}

func (p *Player) crashNode(ctx context.Context, a scenarios.CrashNode) error {
	return p.crash(ctx, a.Node, a.Verb(), a.For, p.world.PowerOff)
}

func (p *Player) crashDisk(ctx context.Context, a scenarios.CrashDisk) error {
	return p.crash(ctx, a.Node, a.Verb(), bootTime, p.world.PowerOff)
}

func (p *Player) rebootNode(ctx context.Context, a scenarios.RebootNode) error {
	return p.crash(ctx, a.Node, a.Verb(), bootTime, func(ctx context.Context, node string) error {
		if err := p.world.SyncDisk(node); err != nil {
			return err
		}
		return p.world.PowerOff(ctx, node)
	})
}

// crash switches machines off as off does; after d, or when everything is healed when d is 0, they boot.
func (p *Player) crash(ctx context.Context, ref scenarios.NodeRef, verb string, d time.Duration, off func(context.Context, string) error) error {
	return p.each(ref, verb, living, func(node string) error {
		if err := off(ctx, node); err != nil {
			return err
		}
		p.until(d, "boot "+node, func() { p.fail(p.world.PowerOn(context.WithoutCancel(ctx), node)) })
		return nil
	})
}

func (p *Player) recreateNode(ctx context.Context, a scenarios.RecreateNode) error {
	return p.each(a.Node, a.Verb(), present, func(node string) error { return p.recreate(ctx, node) })
}

// recreate replaces a node by a new machine of the same name.
func (p *Player) recreate(ctx context.Context, node string) error {
	if err := p.remove(ctx, node); err != nil {
		return err
	}
	p.later(bootTime, "join again "+node, func() { p.joinAgain(context.WithoutCancel(ctx), node) })
	return nil
}

// launchPause is how long whoever replaces machines waits where the cloud has none.
const launchPause = 30 * time.Second

// joinAgain has a machine join in the place of one that was taken away, as soon as there is one.
func (p *Player) joinAgain(ctx context.Context, node string) {
	err := p.Join(ctx, node)
	if !errors.Is(err, result.ErrNoMachine) {
		p.fail(err)
		return
	}
	p.world.After(launchPause, "launch again "+node, func() { p.joinAgain(ctx, node) })
}

// rollNodes replaces every node that is there now, Count at a time.
func (p *Player) rollNodes(ctx context.Context, a scenarios.RollNodes) error {
	list, err := p.targets(scenarios.AllNodes, a.Verb(), present)
	if err != nil {
		return err
	}
	for i, node := range list {
		roll := func() {
			if p.there(node) {
				p.fail(p.recreate(context.WithoutCancel(ctx), node))
			}
		}
		if wait := time.Duration(i/max(1, a.Count)) * a.Every; wait > 0 {
			p.later(wait, "roll "+node, roll)
		} else {
			roll()
		}
	}
	return nil
}
