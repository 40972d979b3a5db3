package lab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/relay"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/breakage"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/hostlocal"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	"github.com/vppdrill/vppdrill/vppwire/host/linux"
)

// Pods implements timeline.Pods.
func (st stage) Pods(node string) []timeline.Pod {
	st.mu.Lock()
	defer st.mu.Unlock()
	var out []timeline.Pod
	for _, p := range st.pods.byNameOf(node) {
		out = append(out, p.shown())
	}
	return out
}

// CreatePod implements timeline.Pods.
func (st stage) CreatePod(p timeline.Pod) {
	st.createPod(p)
}

// DeletePod implements timeline.Pods.
func (st stage) DeletePod(name string, force bool) {
	switch p := st.findPod(name); {
	case p == nil:
	case force:
		st.removePod(p)
	default:
		st.deletePod(p)
	}
}

// EvictPod implements timeline.Pods: nobody here has a disruption budget.
func (st stage) EvictPod(name string) { st.DeletePod(name, false) }

// ReplaceSandbox implements timeline.Pods.
func (st stage) ReplaceSandbox(name string) bool {
	p := st.findPod(name)
	if p == nil {
		return false
	}
	n := st.node(p.node)
	return n != nil && n.kubelet.replace(p)
}

// LoseSandbox implements timeline.Pods.
func (st stage) LoseSandbox(name string, how scenarios.LoseSandboxes) bool {
	p := st.findPod(name)
	if p == nil {
		return false
	}
	n := st.node(p.node)
	if n == nil || !n.kubelet.lose(p, how) {
		return false
	}
	if how.Gone {
		st.removePod(p)
	}
	return true
}

// Sandboxes implements timeline.Pods.
func (st stage) Sandboxes(name string) []fact.PodState { return st.node(name).kubelet.sandboxes() }

// Past implements timeline.Pods.
func (st stage) Past(name string) []ipam.Owner {
	k := st.node(name).kubelet
	k.Lock()
	defer k.Unlock()
	return slices.Clone(k.past)
}

// Ask implements timeline.Pods: it waits for the answer.
func (st stage) Ask(ctx context.Context, name string, r timeline.Request, done func(timeline.Response)) {
	req := wire.Request{Version: wire.Version, Command: strings.ToUpper(r.Command), Network: r.Owner.Network, Addr: r.Addr, Netns: r.Netns}
	if req.Command != wire.GC && req.Command != wire.Status {
		req.ContainerID, req.IfName = r.Owner.ContainerID, r.Owner.IfName
	}
	for _, o := range r.Valid {
		req.Valid = append(req.Valid, wire.Attachment{ContainerID: o.ContainerID, IfName: o.IfName})
	}
	ctx, cancel := context.WithTimeout(ctx, cniTimeout)
	defer cancel()
	res, err := st.node(name).conversation(ctx, r.Command, r.Owner, req)
	if done != nil {
		done(timeline.Response{Known: err == nil && !st.desk.Any(), Code: res.Code, Message: res.Message})
	}
}

// Break implements timeline.Pods.
func (st stage) Break(ctx context.Context, name string, s fact.PodState, what scenarios.Breakage) error {
	n := st.node(name)
	st.knocks.letGo()
	state, err := n.look(ctx, true)
	if err != nil {
		return err
	}
	if state.VPP == nil || state.Linux == nil {
		return fmt.Errorf("%w: VPP of %s is down", timeline.ErrNoTarget, name)
	}
	c, err := vppproc.Dial(n.machine.VPPDir())
	if err != nil {
		return err
	}
	defer c.Close()
	host, err := linux.New(n.machine.Netns(""))
	if err != nil {
		return err
	}
	defer func() { _ = host.Close() }() // what it was for has been done
	hand := breakage.Node{State: &state, VPP: c, Linux: host, Netns: n.machine.Netns(s.Netns), Remove: func() error { return n.kubelet.strip(s.Owner) }}
	if err := hand.Break(ctx, s, what); !errors.Is(err, breakage.ErrNothing) {
		return err
	}
	return timeline.ErrNoTarget
}

// connections are a node's to a server.
func (w *World) connections(node, server scenarios.Endpoint) (*node, *connection) {
	n := w.node(string(node))
	switch {
	case n == nil:
		return nil, nil
	case server == scenarios.Store:
		return n, &n.relays.store
	}
	return n, &n.relays.api
}

// link changes both directions of a link between a node and a server: there is from its first end to its second. A node
// that has left has none.
func (st stage) link(from, to scenarios.Endpoint, change func(there, back *relay.Link)) {
	name, server, turned := from, to, false
	if from == scenarios.APIServer || from == scenarios.Store {
		name, server, turned = to, from, true
	}
	n, c := st.connections(name, server)
	if n == nil {
		return
	}
	if turned {
		change(&c.back, &c.there)
	} else {
		change(&c.there, &c.back)
	}
	st.control.route(n.relays)
	st.held.Begins()
	st.schedule()
}

// fabric reports that both ends are nodes.
func fabric(a, b scenarios.Endpoint) bool {
	for _, e := range [...]scenarios.Endpoint{a, b} {
		if e == scenarios.APIServer || e == scenarios.Store {
			return false
		}
	}
	return true
}

// Cut implements timeline.Network: in the fabric nothing passes between two nodes.
func (st stage) Cut(from, to scenarios.Endpoint, oneWay bool) error {
	if !fabric(from, to) {
		st.link(from, to, func(there, back *relay.Link) { there.Cut, back.Cut = true, back.Cut || !oneWay })
		return nil
	}
	st.cuts = append(st.cuts, [2]string{string(from), string(to)})
	err := st.fabric.Cut(st.cuts)
	if err != nil {
		st.cuts = st.cuts[:len(st.cuts)-1]
	}
	return err
}

// Mend implements timeline.Network.
func (st stage) Mend(a, b scenarios.Endpoint) error {
	if !fabric(a, b) {
		st.link(a, b, func(there, back *relay.Link) { there.Cut, back.Cut = false, false })
		return nil
	}
	i := slices.Index(st.cuts, [2]string{string(a), string(b)})
	if i < 0 {
		return nil
	}
	st.cuts = slices.Delete(st.cuts, i, i+1)
	return st.fabric.Cut(st.cuts)
}

// Slow implements timeline.Network. Connections are TCP's: nothing is lost or comes twice, a loss costs a
// retransmission, and a duplicate is thrown away.
func (st stage) Slow(a, b scenarios.Endpoint, l timeline.Link) error {
	st.link(a, b, func(there, back *relay.Link) {
		for _, x := range [...]*relay.Link{there, back} {
			x.Delay, x.Loss = st.real(l.Delay), l.Loss
		}
	})
	return nil
}

// Restore implements timeline.World.
func (st stage) Restore() error {
	st.cuts = nil
	for _, n := range st.inOrder() {
		for _, c := range [...]*connection{&n.relays.store, &n.relays.api} {
			c.there, c.back = relay.Link{}, relay.Link{}
		}
	}
	st.stop(&st.control.storeStop, false)
	st.StopAPI(false)
	return st.fabric.Cut(nil)
}

// stop switches a server off or on: nothing gets through to it or from it.
func (st stage) stop(which *bool, stop bool) {
	st.control.mu.Lock()
	*which = stop
	st.control.mu.Unlock()
	st.held.Begins()
	for _, n := range st.inOrder() {
		st.control.route(n.relays)
	}
	st.schedule()
}

// StopDHCP implements timeline.ControlPlane.
func (st stage) StopDHCP(stop bool) {
	if err := st.dhcp.Stop(stop); err != nil {
		st.Fail(err)
	}
}

// StopStore implements timeline.ControlPlane.
func (st stage) StopStore(stop bool) { st.stop(&st.control.storeStop, stop) }

// StopAPI implements timeline.ControlPlane.
func (st stage) StopAPI(stop bool) {
	st.stop(&st.control.apiStop, stop)
	st.source.stop(stop)
}

// WipeStore implements timeline.ControlPlane.
func (st stage) WipeStore() error {
	st.held.Wiped()
	return st.control.store.Wipe()
}

// CompactStore implements timeline.ControlPlane.
func (st stage) CompactStore(ctx context.Context) error { return st.control.store.Compact(ctx) }

// SetPools implements timeline.ControlPlane.
func (st stage) SetPools(ctx context.Context, plan scenarios.IPAM, _ agent.Pools) error {
	if st.dhcp != nil && plan.Interconnect() != st.scenario().Config.IPAM.Interconnect() {
		if err := st.dhcp.Serve(plan.Interconnect()); err != nil {
			return err
		}
	}
	return st.control.setPools(ctx, plan)
}

// SetPodCIDR implements timeline.ControlPlane.
func (st stage) SetPodCIDR(ctx context.Context, name string, p netip.Prefix) error {
	st.returned(p)
	n := st.node(name)
	n.mu.Lock()
	cidrs := []netip.Prefix{p}
	for i, old := range n.podCIDRs {
		if old.Addr().Is4() != p.Addr().Is4() { // in a cluster of two families the other one's stays, where it was
			cidrs = slices.Insert(cidrs, min(i, len(cidrs)), old)
		}
	}
	n.podCIDRs = cidrs
	n.mu.Unlock()
	return st.publishNode(ctx, n)
}

// GapWatches implements timeline.ControlPlane: while the node's connections are down, the history that its watches
// would go on from is compacted. Both servers get a change first, so that there is something to have missed.
func (st stage) GapWatches(ctx context.Context, name string) error {
	n := st.node(name)
	for _, c := range [...]*connection{&n.relays.api, &n.relays.store} {
		c.route(true)
		c.reset()
	}
	defer st.control.route(n.relays)
	if err := st.publishNode(ctx, n); err != nil {
		return err
	}
	st.source.gap()
	return errors.Join(st.control.api.Compact(ctx), st.control.store.Compact(ctx))
}

// AddRange implements timeline.ControlPlane.
func (st stage) AddRange(r netip.Prefix) error {
	if st.cloud != nil {
		st.cloud.AddRange(r)
		return nil
	}
	return st.source.set.AddRange(r)
}

// RemoveRange implements timeline.ControlPlane.
func (st stage) RemoveRange(r netip.Prefix) error {
	if st.cloud != nil {
		st.cloud.RemoveRange(r)
		return nil
	}
	return st.source.set.RemoveRange(r)
}

// RestartController implements timeline.ControlPlane.
func (st stage) RestartController(a scenarios.RestartController) error {
	return st.source.set.Restarted(a)
}

// LoseLeader implements timeline.ControlPlane.
func (st stage) LoseLeader(how scenarios.LoseLeader) error {
	return st.source.set.LoseLeader(how, func(d time.Duration, do func()) { st.After(d, "requests arrive late", do) })
}

// LagWatches implements timeline.ControlPlane.
func (st stage) LagWatches(node string, lag time.Duration) { st.Fail(st.desk.Lag(node, lag)) }

// RepeatWatches implements timeline.ControlPlane.
func (st stage) RepeatWatches(node string, count int) { st.Fail(st.desk.Repeat(node, count)) }

// Inject implements timeline.ControlPlane.
func (st stage) Inject(text, node string) (func(), error) { return st.desk.Inject(text, node) }

// external is the IPAM plugin beside the agents; kubelets ask it from goroutines of their own.
type external struct {
	mu     sync.Mutex
	plugin hostlocal.Plugin
}

func (x *external) pick(n *node, owner ipam.Owner) (first, second netip.Addr) {
	n.mu.Lock()
	cidrs := n.podCIDRs
	n.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.plugin.Pick(n.number, cidrs, owner)
}

func (x *external) release(n *node, owner ipam.Owner) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.plugin.Release(n.number, owner)
}

func (x *external) forget(machine uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.plugin.Forget(machine)
}
