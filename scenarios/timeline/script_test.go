package timeline_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// script is a World that writes down what it is told to do and whose time passes on demand.
type script struct {
	now      time.Duration
	due      []planned
	machines []timeline.Machine
	pods     []timeline.Pod
	past     []ipam.Owner
	quiet    bool
	answer   timeline.Response
	lacks    []timeline.Need
	lines    []string
}

type planned struct {
	at   time.Duration
	what string
	do   func()
}

func (w *script) say(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// advance lets time pass; what is due at one time happens in the order in which it was planned.
func (w *script) advance(d time.Duration) {
	end := w.now + d
	for {
		i := -1
		for k, x := range w.due {
			if x.at <= end && (i < 0 || x.at < w.due[i].at) {
				i = k
			}
		}
		if i < 0 {
			break
		}
		x := w.due[i]
		w.due = slices.Delete(w.due, i, i+1)
		w.now = x.at
		w.say("%s: %s", x.at, x.what)
		x.do()
	}
	w.now = end
}

func (w *script) machine(name string) *timeline.Machine {
	i := slices.IndexFunc(w.machines, func(m timeline.Machine) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &w.machines[i]
}

func (w *script) Now() time.Duration { return w.now }
func (w *script) After(d time.Duration, what string, do func()) {
	w.due = append(w.due, planned{w.now + d, what, do})
}
func (w *script) Tell(f fact.Fact) {
	switch x := f.What.(type) {
	case fact.DelRefused:
		w.say("  %s refused DEL of %s: %s", f.Node, x.Owner.ContainerID, x.Why)
	case fact.Disturbed:
		if x.By != "add-node" {
			w.say("  disturbed by %s", x.By)
		}
	}
}
func (w *script) KillPlugin(node string, k scenarios.KillPlugin) {
	w.say("  kill the plugins of %s's next %s before call %d", node, k.Command, k.Call)
}
func (w *script) FillDisk(node string, full bool) error {
	w.say("  disk of %s full: %t", node, full)
	return nil
}
func (w *script) LoseState(node string, what scenarios.PluginState) error {
	w.say("  lose %s of %s's state", what, node)
	return nil
}
func (w *script) Fail(err error)               { w.say("  the run fails: %v", err) }
func (w *script) Restore() error               { w.say("  restore links and servers"); return nil }
func (w *script) Lacks() []timeline.Need       { return w.lacks }
func (w *script) Machines() []timeline.Machine { return slices.Clone(w.machines) }

func (w *script) Join(_ context.Context, name string, cidrs []netip.Prefix) error {
	w.say("  join %s %v", name, cidrs)
	w.machines = append(w.machines, timeline.Machine{Name: name})
	return nil
}

func (w *script) PowerOn(_ context.Context, names ...string) error {
	w.say("  power on %s", strings.Join(names, " "))
	for _, name := range names {
		if m := w.machine(name); m != nil {
			m.On = true
		}
	}
	return nil
}

func (w *script) PowerOff(_ context.Context, name string) error {
	w.say("  power off %s", name)
	w.machine(name).On = false
	return nil
}

func (w *script) SyncDisk(name string) error {
	w.say("  sync the disk of %s", name)
	return nil
}

func (w *script) Cordon(_ context.Context, name string, cordoned bool) error {
	w.say("  cordon %s %t", name, cordoned)
	return nil
}

func (w *script) Unregister(_ context.Context, name string) error {
	w.say("  delete the object of %s", name)
	return nil
}

func (w *script) Register(_ context.Context, name string, podCIDRs []netip.Prefix) error {
	w.say("  register %s anew %v", name, podCIDRs)
	return nil
}

func (w *script) JoinAs(ctx context.Context, name, former string, cidrs []netip.Prefix) error {
	w.say("  with the disk of %s", former)
	return w.Join(ctx, name, cidrs)
}

func (w *script) DeleteNode(name string) { w.say("  delete the object of %s behind a finalizer", name) }

func (w *script) Remove(_ context.Context, name string) error {
	w.say("  remove %s", name)
	w.machines = slices.DeleteFunc(w.machines, func(m timeline.Machine) bool { return m.Name == name })
	return nil
}

var programs = [...]string{timeline.Agent: "agent", timeline.VPP: "VPP", timeline.Kubelet: "kubelet", timeline.Runtime: "runtime"}

func (w *script) Kill(node string, p timeline.Program, how timeline.Kill) {
	w.say("  kill %s of %s hold=%t %s", programs[p], node, how.Hold, how.Reason)
}
func (w *script) Pause(node string, p timeline.Program, pause bool) error {
	w.say("  pause %s of %s %t", programs[p], node, pause)
	return nil
}
func (w *script) Start(node string, p timeline.Program)  { w.say("  start %s of %s", programs[p], node) }
func (w *script) Release(node string)                    { w.say("  release %s", node) }
func (w *script) Quiet(_ context.Context, _ string) bool { return w.quiet }
func (w *script) Past(string) []ipam.Owner               { return w.past }
func (w *script) Sandboxes(node string) []fact.PodState  { return sandboxes[node] }

// sandboxes of node-1: one pod with an address, one without.
var sandboxes = map[string][]fact.PodState{"node-1": {
	{Owner: ipam.Owner{Network: "vppdrill", ContainerID: "aaa", IfName: "eth0"}, Netns: "/a", Addr: netip.MustParseAddr("10.1.1.2")},
	{Owner: ipam.Owner{Network: "vppdrill", ContainerID: "bbb", IfName: "eth0"}, Netns: "/b"},
}}

func (w *script) Pods(node string) []timeline.Pod {
	return slices.DeleteFunc(slices.Clone(w.pods), func(p timeline.Pod) bool { return node != "" && p.Node != node })
}

func (w *script) CreatePod(p timeline.Pod) {
	w.say("  create pod %s app=%s node=%s max=%d pinned=%t", p.Name, p.App, p.Node, p.MaxPerNode, p.Pinned)
	w.pods = append(w.pods, p)
	slices.SortFunc(w.pods, func(a, b timeline.Pod) int { return strings.Compare(a.Name, b.Name) })
}

func (w *script) DeletePod(name string, force bool) {
	w.say("  delete pod %s%s", name, map[bool]string{true: " at once"}[force])
	w.pods = slices.DeleteFunc(w.pods, func(p timeline.Pod) bool { return p.Name == name })
}

func (w *script) EvictPod(name string) {
	w.say("  evict pod %s", name)
	w.pods = slices.DeleteFunc(w.pods, func(p timeline.Pod) bool { return p.Name == name })
}

// ReplaceSandbox knows one pod without a sandbox.
func (w *script) ReplaceSandbox(pod string) bool {
	w.say("  replace sandbox of %s", pod)
	return pod != "node-1-pod-0"
}

// LoseSandbox knows one pod without a sandbox.
func (w *script) LoseSandbox(pod string, how scenarios.LoseSandboxes) bool {
	w.say("  lose sandbox of %s%s", pod, map[bool]string{true: " with its pod"}[how.Gone])
	return pod != "node-1-pod-0"
}

func (w *script) Ask(_ context.Context, node string, r timeline.Request, done func(timeline.Response)) {
	w.say("  ask %s %s %.12s %s %v", node, r.Command, r.Owner.ContainerID, r.Addr, len(r.Valid))
	if done != nil {
		done(w.answer)
	}
}

func (w *script) Break(_ context.Context, node string, s fact.PodState, what scenarios.Breakage) error {
	w.say("  break %s of %s on %s", what, s.Owner.ContainerID, node)
	return nil
}

// Snapshot shows nothing: answers of CHECK and STATUS prove nothing here.
func (w *script) Snapshot(context.Context) (fact.Snapshot, error) {
	return fact.Snapshot{}, nil
}

func (w *script) Cut(a, b scenarios.Endpoint, oneWay bool) error {
	w.say("  cut %s %s one way=%t", a, b, oneWay)
	return nil
}
func (w *script) Claim(node string) error            { w.say("  claim address of %s", node); return nil }
func (w *script) EndClaim(node string) error         { w.say("  end claim of %s", node); return nil }
func (w *script) Mend(a, b scenarios.Endpoint) error { w.say("  mend %s %s", a, b); return nil }
func (w *script) Slow(a, b scenarios.Endpoint, l timeline.Link) error {
	w.say("  link %s %s %v", a, b, l)
	return nil
}
func (w *script) StopDHCP(stop bool)                     { w.say("  stop dhcp %t", stop) }
func (w *script) StopStore(stop bool)                    { w.say("  stop store %t", stop) }
func (w *script) StopAPI(stop bool)                      { w.say("  stop api %t", stop) }
func (w *script) WipeStore() error                       { w.say("  wipe store"); return nil }
func (w *script) SetClock(node string, by time.Duration) { w.say("  clock of %s by %v", node, by) }
func (w *script) SetVersion(node string, v scenarios.AgentVersion) {
	w.say("  version of %s is %s", node, v)
}
func (w *script) CompactStore(context.Context) error { w.say("  compact store"); return nil }
func (w *script) SetPools(_ context.Context, c scenarios.IPAM, p agent.Pools) error {
	w.say("  pools %s of plan %s", p.PodSubnet, c.PodSubnetCIDR)
	return nil
}
func (w *script) AddRange(r netip.Prefix) error    { w.say("  add range %s", r); return nil }
func (w *script) RemoveRange(r netip.Prefix) error { w.say("  remove range %s", r); return nil }
func (w *script) RestartController(a scenarios.RestartController) error {
	w.say("  restart the controller %v %d", a.Ranges, a.PodSubnetOneNodePrefixLen)
	return nil
}
func (w *script) LoseLeader(a scenarios.LoseLeader) error {
	w.say("  lose leader %s", a.Pause)
	return nil
}
func (w *script) RepeatWatches(node string, n int) { w.say("  repeat %d changes to %s", n, node) }
func (w *script) SetService(s scenarios.Service) {
	w.say("  service %s is served by %s%s", s.Name, s.App, s.Hosts)
}
func (w *script) RemoveService(name string) { w.say("  service %s is gone", name) }
func (w *script) SetReady(pods []string, ready bool) {
	w.say("  %s are ready: %t", strings.Join(pods, " "), ready)
}
func (w *script) SetPolicy(p scenarios.Policy) {
	w.say("  policy %s for %v lets in %v", p.Name, p.Pods, p.Peers)
}
func (w *script) RemovePolicy(name string)           { w.say("  policy %s is gone", name) }
func (w *script) LabelNamespace(l []scenarios.Label) { w.say("  the namespace is labelled %v", l) }
func (w *script) LabelPods(pods []string, l []scenarios.Label) {
	w.say("  %s are labelled %v", strings.Join(pods, " "), l)
}
func (w *script) LagWatches(n string, d time.Duration) { w.say("  watches of %s are %s late", n, d) }
func (w *script) GapWatches(_ context.Context, node string) error {
	w.say("  watches of %s lose their place", node)
	return nil
}
func (w *script) SetPodCIDR(_ context.Context, node string, p netip.Prefix) error {
	w.say("  pod CIDR of %s is %s", node, p)
	return nil
}
func (w *script) SetAddress(_ context.Context, node string, a netip.Prefix) error {
	w.say("  address of %s is %s", node, a)
	return nil
}
func (w *script) SetManagement(_ context.Context, node string, a []netip.Addr) error {
	w.say("  management of %s is %v", node, a)
	return nil
}
func (w *script) Inject(fault, node string) (func(), error) {
	w.say("  inject %s on %q", fault, node)
	return func() { w.say("  end of %s", fault) }, nil
}
