package kindworld

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vppdrill/vppdrill/lab/internal/kindcluster"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/breakage"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/linux"
)

// gone is the error of a deletion or change of what may have gone already.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// cniTime is how long a plugin waits for its agent.
const cniTime = time.Minute

// Ask implements timeline.Pods: it asks the node's agent as the plugin does, and waits for the answer.
func (st stage) Ask(ctx context.Context, name string, r timeline.Request, done func(timeline.Response)) {
	answer, err := st.conversation(ctx, name, r)
	if done != nil {
		done(timeline.Response{Known: err == nil, Code: answer.Code, Message: answer.Message})
	}
}

func (st stage) conversation(ctx context.Context, name string, r timeline.Request) (wire.Response, error) {
	req := wire.Request{Version: wire.Version, Command: strings.ToUpper(r.Command), Network: r.Owner.Network, Addr: r.Addr, Netns: r.Netns}
	if req.Command != wire.GC && req.Command != wire.Status {
		req.ContainerID, req.IfName = r.Owner.ContainerID, r.Owner.IfName
	}
	for _, o := range r.Valid {
		req.Valid = append(req.Valid, wire.Attachment{ContainerID: o.ContainerID, IfName: o.IfName})
	}
	n := st.node(name)
	if n == nil || n.up() == nil {
		return wire.Response{}, fmt.Errorf("%s is not there", name)
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", n.up().root()+cniSocket)
	if err != nil {
		return wire.Response{}, err
	}
	defer func() { _ = c.Close() }() // the answer is complete by then
	if err := errors.Join(c.SetDeadline(time.Now().Add(cniTime)), wire.Write(c, req)); err != nil {
		return wire.Response{}, err
	}
	return wire.ReadResponse(c)
}

// Break implements timeline.Pods.
func (st stage) Break(ctx context.Context, name string, s fact.PodState, what scenarios.Breakage) error {
	n := st.node(name)
	m := n.up()
	state, err := st.state(ctx, n, true)
	if err != nil {
		return err
	}
	if m == nil || state.VPP == nil || state.Linux == nil {
		return fmt.Errorf("%w: VPP of %s is down", timeline.ErrNoTarget, name)
	}
	c, err := vppproc.Dial(m.root() + vppDir)
	if err != nil {
		return err
	}
	defer c.Close()
	host, err := linux.New(m.netns(""))
	if err != nil {
		return err
	}
	defer func() { _ = host.Close() }() // what it was for has been done
	hand := breakage.Node{State: &state, VPP: c, Linux: host, Netns: m.netns(s.Netns)}
	if err := hand.Break(ctx, s, what); !errors.Is(err, breakage.ErrNothing) {
		return err
	}
	return timeline.ErrNoTarget
}

// cut is one between two ends, with both directions unless it is one way.
type cut struct {
	from, to string
	oneWay   bool
}

func isServer(end string) bool {
	return end == string(scenarios.APIServer) || end == string(scenarios.Store)
}

// Cut implements timeline.Network. The store of a cluster's agents is its API server.
func (st stage) Cut(from, to scenarios.Endpoint, oneWay bool) error {
	st.cuts = append(st.cuts, cut{string(from), string(to), oneWay})
	err := st.route()
	if err != nil {
		st.cuts = st.cuts[:len(st.cuts)-1]
		err = errors.Join(err, st.route())
	}
	return err
}

// Mend implements timeline.Network.
func (st stage) Mend(a, b scenarios.Endpoint) error {
	i := slices.IndexFunc(st.cuts, func(c cut) bool {
		return c.from == string(a) && c.to == string(b) || c.from == string(b) && c.to == string(a)
	})
	if i < 0 {
		return nil
	}
	st.cuts = slices.Delete(st.cuts, i, i+1)
	return st.route()
}

// Slow implements timeline.Network; it is never asked for, as the world lacks its needs.
func (st stage) Slow(scenarios.Endpoint, scenarios.Endpoint, timeline.Link) error {
	return lacking(timeline.SlowServers)
}

// chain is where a node drops what is cut off, in its own netfilter.
const chain = "VPPDRILL-CUT"

// apiPort is where a control plane's API server listens.
const apiPort = "6443"

// route makes exactly the present cuts: between nodes by the flag of bridges' ports by which two isolated ones do not
// reach each other, between a node and the API server by rules of the node.
func (st stage) route() error {
	var cutOff []string
	pairs := map[[2]string]bool{}
	for _, c := range st.cuts {
		if isServer(c.from) || isServer(c.to) {
			continue
		}
		pairs[[2]string{min(c.from, c.to), max(c.from, c.to)}] = true
		for _, name := range []string{c.from, c.to} {
			if !slices.Contains(cutOff, name) {
				cutOff = append(cutOff, name)
			}
		}
	}
	if len(cutOff)*(len(cutOff)-1)/2 != len(pairs) {
		return fmt.Errorf("cut %v: %w: the wire can only cut all pairs of some nodes", cutOff, result.ErrUnsupported)
	}
	var errs []error
	for _, n := range st.inOrder() {
		if m := n.up(); m != nil {
			errs = append(errs, isolate(m, slices.Contains(cutOff, n.name)), st.rules(n, m))
		}
	}
	return errors.Join(errs...)
}

// isolate sets the flag at the other end of a node's uplink.
func isolate(m *machine, on bool) error {
	index := 0
	err := spawn.Inside(m.netns(""), func() error {
		l, err := netlink.LinkByName(uplink)
		if err == nil {
			index = l.Attrs().ParentIndex
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("uplink of %s: %w", m.container, err)
	}
	port, err := netlink.LinkByIndex(index)
	if err == nil {
		err = netlink.LinkSetIsolated(port, on)
	}
	if err != nil {
		return fmt.Errorf("isolate %s: %w", m.container, err)
	}
	return nil
}

// rules fills a node's chain anew.
func (st stage) rules(n *node, m *machine) error {
	script := "iptables -w -N " + chain + " 2>/dev/null; iptables -w -F " + chain +
		"; for c in INPUT OUTPUT; do iptables -w -C $c -j " + chain + " 2>/dev/null || iptables -w -I $c -j " + chain + " || exit 1; done"
	for _, c := range st.cuts {
		if c.from == n.name && isServer(c.to) || isServer(c.from) && c.to == n.name && !c.oneWay {
			script += "; iptables -w -A " + chain + " -p tcp --dport " + apiPort + " -j DROP || exit 1"
		}
		if isServer(c.from) && c.to == n.name || c.from == n.name && isServer(c.to) && !c.oneWay {
			script += "; iptables -w -A " + chain + " -p tcp --sport " + apiPort + " -j DROP || exit 1"
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return st.machines.Run(ctx, m.container, "sh", "-c", script)
}

// Restore implements timeline.World.
func (st stage) Restore() error {
	st.cuts = nil
	st.StopStore(false)
	st.StopAPI(false)
	return st.route()
}

// server stops a process of the control plane where it is, or lets it go on.
func (st stage) server(process string, stop bool) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	_, id, err := st.machines.PID(ctx, st.machines.Control())
	if err != nil {
		st.Fail(err)
		return
	}
	sig := unix.SIGCONT
	if stop {
		sig = unix.SIGSTOP
	}
	if signal(id, process, sig) == 0 {
		st.Fail(fmt.Errorf("no process %s runs on the control plane", process))
	}
	st.api.stops(process, stop)
}

// StopAPI implements timeline.ControlPlane; StopStore stops what the API server stores in.
func (st stage) StopAPI(stop bool) { st.server("kube-apiserver", stop) }

// StopStore implements timeline.ControlPlane.
func (st stage) StopStore(stop bool) { st.server("etcd", stop) }

// WipeStore implements timeline.ControlPlane: all that agents have stored is deleted, what stands for the data's
// identity included.
func (st stage) WipeStore() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := st.machines.Kubectl(ctx, "delete", kube.RecordResource, "--all", "--wait=false")
	return err
}

// SetPools implements timeline.ControlPlane.
func (st stage) SetPools(_ context.Context, plan scenarios.IPAM, _ agent.Pools) error {
	text, err := st.published(plan)
	if err != nil {
		return err
	}
	patch := []byte(`[{"op": "replace", "path": "/data/` + kube.PoolsKey + `", "value": ` + quoted(text) + `}]`)
	st.ask("change pools", func(ctx context.Context) error {
		_, err := st.client.CoreV1().ConfigMaps(kindcluster.Namespace).Patch(ctx, kindcluster.PoolsConfig, types.JSONPatchType, patch, meta.PatchOptions{})
		return err
	})
	return nil
}

// lacking is an operation that a cluster has not: it is never asked for.
func lacking(n timeline.Need) error { return fmt.Errorf("%w: %s", result.ErrUnsupported, n) }

// StopDHCP implements timeline.ControlPlane.
func (st stage) StopDHCP(bool) { st.Fail(lacking(timeline.DHCPServer)) }

// GapWatches implements timeline.ControlPlane.
func (st stage) GapWatches(context.Context, string) error { return lacking(timeline.WatchGaps) }

// AddRange implements timeline.ControlPlane.
func (st stage) AddRange(r netip.Prefix) error { return st.blocks.set.AddRange(r) }

// RemoveRange implements timeline.ControlPlane.
func (st stage) RemoveRange(r netip.Prefix) error { return st.blocks.set.RemoveRange(r) }

// RestartController implements timeline.ControlPlane.
func (st stage) RestartController(a scenarios.RestartController) error {
	return st.blocks.set.Restarted(a)
}

// LoseLeader implements timeline.ControlPlane.
func (st stage) LoseLeader(how scenarios.LoseLeader) error {
	return st.blocks.set.LoseLeader(how, func(d time.Duration, do func()) { st.After(d, "requests arrive late", do) })
}

// SetPodCIDR implements timeline.ControlPlane.
func (st stage) SetPodCIDR(context.Context, string, netip.Prefix) error {
	return lacking(timeline.GivenPodCIDRs)
}

// SetAddress implements timeline.ControlPlane.
func (st stage) SetAddress(context.Context, string, netip.Prefix) error {
	return lacking(timeline.GivenAddresses)
}

// SetManagement implements timeline.ControlPlane.
func (st stage) SetManagement(context.Context, string, []netip.Addr) error {
	return lacking(timeline.GivenAddresses)
}

// LagWatches implements timeline.ControlPlane.
func (st stage) LagWatches(string, time.Duration) { st.Fail(lacking(timeline.WatchDelivery)) }

// RepeatWatches implements timeline.ControlPlane.
func (st stage) RepeatWatches(string, int) { st.Fail(lacking(timeline.WatchDelivery)) }

// Inject implements timeline.ControlPlane.
func (st stage) Inject(string, string) (func(), error) { return nil, lacking(timeline.AgentCalls) }
