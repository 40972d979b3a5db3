package sim

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// plugin is one run of the CNI plugin: a container runtime started it and waits for what it prints.
type plugin struct {
	m *machine
	// command is Add, Del, Check, GC or Status; owner is its attachment, pod "namespace/name" where the runtime gives it.
	command string
	owner   ipam.Owner
	pod     string
	podUID  string
	// netns is the sandbox's namespace, of an ADD.
	netns string
	// event is the request to the agent under a number.
	event func(number uint64) agent.Event
	// done is called once with what the plugin printed; a plugin that is killed prints nothing.
	done func(cluster.CNIResult)

	since, pause time.Duration
	// asked is when the agent was asked last.
	asked time.Duration
	// leasedAt is when the agent has leased an address for what an ADD asks for; 0 before.
	leasedAt time.Duration
	// prepared: an address for the pod has been seen to.
	prepared bool
	// proc is the agent's life that was asked, under number.
	proc   *process
	number uint64
}

// What the CNI plugin prints when the agent's socket refuses, when the agent has ended with the request open, and when
// it is killed itself: code 11, try again later.
var (
	noAgent     = cluster.CNIResult{Code: 11, Message: "agent is not running"}
	agentEnded  = cluster.CNIResult{Code: 11, Message: "agent ended before it answered"}
	noNamespace = cluster.CNIResult{Code: 3, Message: "the namespace is gone"}
	killed      = cluster.CNIResult{Code: 11, Message: "plugin was killed"}
)

// A plugin waits agentWait, its default, for an agent that is away and asks again, after pauses that double.
const (
	agentWait  = 5 * time.Second
	pauseFirst = 10 * time.Millisecond
	pauseMost  = 500 * time.Millisecond
)

// pluginTimeout is how long a plugin waits for an answer by itself, its default. For ADD and DEL it is applied only
// where kubelets do not kill plugins: it would cost an event for each.
const pluginTimeout = time.Minute

// ask starts a plugin, which asks the agent a hop over its socket later.
func (w *World) ask(x *plugin) {
	x.since, x.pause = w.eng.Now(), pauseFirst
	x.m.plugins = append(x.m.plugins, x)
	w.eng.After(answerTime, x)
	if w.s.Config.Runtime.Orphans || x.command != "Add" && x.command != "Del" {
		w.eng.After(pluginTimeout, &pluginDeadline{x})
	}
}

// AppendText implements engine.Event.
func (x *plugin) AppendText(b []byte) []byte {
	b = append(b, x.m.name...)
	b = append(b, " cni "...)
	b = append(b, x.command...)
	b = append(b, ' ')
	return append(b, x.owner.ContainerID[:min(12, len(x.owner.ContainerID))]...)
}

// Fire implements engine.Event: the request reaches the agent.
func (x *plugin) Fire() {
	w, p := x.m.w, x.m.proc
	if !x.running() {
		return // killed before it had asked
	}
	if p == nil {
		x.again(noAgent)
		return
	}
	if asker, ok := w.system.(controllers.PoolAsker); ok && x.command == "Add" {
		pool := ""
		if pod, ok := w.api.Pod(podKey(strings.TrimPrefix(x.pod, "default/"))); ok {
			pool = pod.Pool
		}
		asker.AsksPool(x.owner, pool)
	}
	if prep, ok := w.system.(controllers.Preparer); ok && x.command == "Add" && !x.prepared {
		x.prepared = true
		x.m.fact(fact.Fact{What: fact.Asked{Owner: x.owner, Pod: x.pod, PodUID: x.podUID, Command: fact.AskedAddress, Netns: x.netns, Addr: netip.Addr{}, Wanted: nil}})
		if w.faulty() && w.judge(fault.CNI(x.m.name, fact.AskedAddress, x.owner.ContainerID)).Action == fault.Vanish {
			// The plugin is killed before it can print its result.
			prep.Prepare(x.m.name, x.asking(), func() {})
			x.end(killed)
			return
		}
		prep.Prepare(x.m.name, x.asking(), func() { w.eng.After(0, x) })
		return
	}
	if x.prepared && !x.m.host.HasNamespace(x.netns) {
		x.end(noNamespace) // its kubelet has given it up meanwhile
		return
	}
	x.asked = w.eng.Now()
	x.proc, x.number = p, p.request(x.attempt(), func(a agent.Answer) {
		x.answered()
		x.end(x.m.cniResult(a))
	})
	ev := x.event(x.number)
	add, _ := ev.(agent.PodAdd)
	x.m.fact(fact.Fact{What: fact.Asked{Owner: x.owner, Pod: x.pod, PodUID: x.podUID, Command: x.command, Netns: x.netns, Addr: add.External, Wanted: add.Wanted}})
	if w.faulty() && w.judge(fault.CNI(x.m.name, x.command, x.owner.ContainerID)).Action == fault.Vanish {
		// The plugin is killed right after it asked: the kubelet sees a failure, the agent an empty socket.
		p.step(ev)
		x.withdraw()
		x.end(killed)
		return
	}
	p.step(ev)
}

// running reports whether the plugin has not ended.
func (x *plugin) running() bool { return slices.Contains(x.m.plugins, x) }

// again asks once more, unless the agent has been away for too long.
func (x *plugin) again(why cluster.CNIResult) {
	x.proc, x.prepared = nil, false
	w := x.m.w
	if w.eng.Now()+x.pause >= x.since+agentWait {
		x.end(why)
		return
	}
	w.eng.After(x.pause, x)
	x.pause = min(2*x.pause, pauseMost)
}

// end prints a result, unless the plugin has ended before.
func (x *plugin) end(r cluster.CNIResult) {
	if x.kill() {
		x.done(r)
	}
}

// kill ends a plugin without a word; false when it had ended.
func (x *plugin) kill() bool {
	i := slices.Index(x.m.plugins, x)
	if i < 0 {
		return false
	}
	x.m.plugins = slices.Delete(x.m.plugins, i, i+1)
	return true
}

// withdraw closes the plugin's end of the agent's socket.
func (x *plugin) withdraw() {
	if x.proc != nil {
		x.proc.withdraw(x.number)
	}
}

// unknown reports that the result of the request cannot be known.
func unknown(r cluster.CNIResult) bool { return r == noAgent || r == agentEnded || r == killed }

// pluginDeadline is when a plugin gives up by itself.
type pluginDeadline struct{ *plugin }

// AppendText implements engine.Event.
func (d *pluginDeadline) AppendText(b []byte) []byte {
	if b = d.plugin.AppendText(b); !d.running() {
		return append(b, " answered in time"...)
	}
	return append(b, " timeout"...)
}

// Fire implements engine.Event.
func (d *pluginDeadline) Fire() {
	if d.running() {
		d.abandoned()
		d.withdraw()
		d.end(killed)
	}
}

// abandoned reports an answer that its caller has given up, although the node was able to give it since its agent was
// asked; before that a plugin may have waited for an address from elsewhere. Refused calls explain a removal that
// fails, also that of an older sandbox that an ADD waits for. They do not explain an ADD that has its address and is
// neither wired nor refused.
func (x *plugin) abandoned() {
	m := x.m
	since := max(x.asked, m.ableAt, m.hitAt, m.refusedAt)
	if x.command == "Add" && x.leasedAt > 0 {
		since = max(x.leasedAt, m.ableAt, m.hitAt)
	}
	least := max(abandonedLeast, m.w.agentConfig.AddPatience+abandonedLeast/2)
	if waited := m.w.eng.Now() - since; x.proc != nil && m.able() && waited >= least {
		m.fact(fact.Fact{What: fact.Abandoned{Owner: x.owner, Pod: x.pod, Command: x.command, Took: waited}})
	}
}

// attempt is the plugin's search for an address.
func (x *plugin) attempt() controllers.Attempt {
	return controllers.Attempt{Pod: x.pod, Owner: x.owner}
}

// asking is the same with what the pod asks for.
func (x *plugin) asking() controllers.Attempt {
	a := x.attempt()
	add, _ := x.event(0).(agent.PodAdd)
	a.Wanted = add.Wanted
	return a
}

// addLeased notes that the agent has leased an address for an ADD that is open.
func (m *machine) addLeased(owner ipam.Owner) {
	for _, x := range m.plugins {
		if x.owner == owner && x.command == "Add" {
			x.leasedAt = m.w.eng.Now()
		}
	}
}

// What is injected into a node may explain slowness for undisturbedLeast behind it: longer than the patience with a lost
// answer and the tries after it. slowLeast is what is worth telling.
const (
	undisturbedLeast = 5 * time.Second
	slowLeast        = 100 * time.Millisecond
)

// answered reports how long the agent took where nothing explains it.
func (x *plugin) answered() {
	m := x.m
	took := m.w.eng.Now() - x.asked
	if took < slowLeast || !m.able() || x.asked-max(m.ableAt, m.hitAt) < undisturbedLeast || m.refusedAt != 0 && x.asked-m.refusedAt < hitLasts {
		return // what was refused again and again waits for up to half a minute
	}
	m.fact(fact.Fact{What: fact.Slow{Owner: x.owner, Pod: x.pod, Command: x.command, Took: took}})
}

// String says what the plugin was started for and since when it has been silent.
func (x *plugin) String() string {
	about := "sandbox " + x.owner.ContainerID[:min(12, len(x.owner.ContainerID))]
	switch {
	case x.command == "GC":
		about = "the node"
	case x.pod != "":
		about = "pod " + x.pod + ", " + about
	}
	return fmt.Sprintf("%s of %s is open since %s", strings.ToUpper(x.command), about, scenarios.FormatDuration(x.since))
}

// Withdraw implements cluster.Withdrawer: a kubelet gave up on a plugin.
func (r runtime) Withdraw(node string, owner ipam.Owner) {
	for _, x := range slices.Clone(r.w.machines[node].plugins) {
		if x.owner == owner && (x.command == "Add" || x.command == "Del") {
			x.kill()
			x.abandoned()
			x.withdraw()
		}
	}
}

// agentEnded notifies the plugins that wait for an agent's answer that its socket has closed. Answers that the agent
// has given before are in the socket.
func (p *process) agentEnded() {
	for _, x := range slices.Clone(p.m.plugins) {
		if x.proc != p {
			continue
		}
		if _, open := p.close(x.number); open {
			p.m.w.eng.After(answerTime, &happening{p.m, "cni socket closed", func() {
				if x.running() && x.proc == p {
					x.again(agentEnded)
				}
			}})
		}
	}
}

func (m *machine) cniResult(a agent.Answer) cluster.CNIResult {
	return cluster.CNIResult{
		Code: uint32(a.Code), Message: a.Message, Addr: a.Result.Addr, Gateway: a.Result.Gateway,
		Second: a.Result.Second, SecondGateway: a.Result.SecondGateway,
		Exhausted: a.Exhausted, Unmet: strings.HasPrefix(a.Message, agent.WantedRefused),
		Crowded: a.Code == agent.CodeTryAgain && !a.Exhausted && (m.refusedFull || m.crowded() || m.numberless()) || a.Code == agent.CodeInvalidConfig && m.misfit(),
	}
}
