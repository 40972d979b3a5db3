package sim

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
	"github.com/vppdrill/vppdrill/sim/internal/observe"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel/apitrace"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// machine is one node: Linux, a disk, and the processes on it. Machines outlive crashes; a re-created node is a new
// one.
type machine struct {
	w    *World
	name string
	// number is the machine's own, for MACs, PIDs and addresses of its management network.
	number uint32
	at     cluster.Endpoint
	host   *hostmodel.Host
	disk   *hostmodel.Disk
	// version is the agent's that starts next, empty the present one; newest is the one that the journal needs, where it
	// is another.
	version, newest scenarios.AgentVersion
	up              bool
	gone            bool

	vpp *vppmodel.VPP
	// trace is what vpp was asked, where the run keeps it.
	trace *apitrace.Trace
	pid   uint32
	// vppLife and agentLife number starts, so that an event meant for an earlier life is recognized.
	vppLife, agentLife int
	vppHeld, agentHeld bool // stays down until an action starts it
	// vppPaused: VPP stands still, since vppPausedAt, when pausedUnder was the agent's process, nil for none.
	vppPaused   bool
	vppPausedAt time.Duration
	// lessees are VPP's DHCP clients by their interfaces.
	lessees     map[uint32]*lessee
	pausedUnder *process
	proc        *process
	alloc       ipam.NodeAllocator // the process's
	// seen reports as facts what the agent does.
	seen *observe.Node
	// management are the addresses of the Linux side, own the interconnect address that an administrator gave the node.
	management []netip.Addr
	own        netip.Prefix
	// recordUntil is until when writes to the dataplane are reported as facts: for a while after a clean stop. Reporting
	// each write of a whole run would cost more than making it.
	recordUntil time.Duration
	// plugins are those that run, oldest first.
	plugins []*plugin
	// past are owners of sandboxes that are gone.
	past []ipam.Owner
	// hitAt is when something was last injected into what the machine does, but that a call was refused, which is
	// refusedAt; ableAt since when both programs have run.
	hitAt, refusedAt, ableAt time.Duration
	// repeatedAt is when an injector last made a call twice.
	repeatedAt time.Duration
	// refusedFull: VPP had no room when the agent gave the answer that is on its way to the runtime.
	refusedFull bool
	// rests holds the time until which each released address cools.
	rests map[netip.Addr]time.Duration
	// wroteAt is when the agent made its last call that changes something.
	wroteAt time.Duration
	clocks  clocks
	reach   reach
	// id is the node's, in clusters without wiring.
	id uint32
}

// recordTime is ample for an agent's start and the dumps of a large node.
const recordTime = 10 * time.Minute

// given reports whether a management address of a machine with this number was given to another one. Without changes of
// such addresses no two machines share one, and nothing is asked.
func (w *World) given(number uint32) bool {
	for k := range w.s.Topology.HostIPs {
		addr := w.s.Management(number, k).Addr()
		if slices.ContainsFunc(w.regiven, func(m *machine) bool { return slices.Contains(m.management, addr) }) {
			return true
		}
	}
	return false
}

func (w *World) newMachine(name string) (*machine, error) {
	w.machinesMade++
	for w.given(w.machinesMade) {
		w.machinesMade++
	}
	m := &machine{w: w, name: name, number: w.machinesMade, at: w.net.Endpoint(name), up: true, disk: &hostmodel.Disk{}, rests: map[netip.Addr]time.Duration{}}
	eth0 := hostmodel.Device{Name: scenarios.HostLink}
	for k := range w.s.Topology.HostIPs {
		a := w.s.Management(m.number, k)
		m.management = append(m.management, a.Addr())
		eth0.Addrs = append(eth0.Addrs, a)
	}
	cfg := hostmodel.Config{ID: uint64(m.number)}
	if w.s.Config.Wiring.StealNIC {
		eth0.MTU, cfg.Routes = w.s.Topology.NICMTU, []vppwire.HostRoute{w.hostRoute()}
	}
	cfg.Devices = []hostmodel.Device{eth0}
	host, err := hostmodel.New(cfg)
	if err != nil {
		return nil, err
	}
	m.host = host
	m.clocks.wall = m.w.drawWall(m.name)
	m.seen = observe.New(observed{m}, w.wiring)
	w.machines[name] = m
	w.order = append(w.order, m)
	return m, nil
}

func (m *machine) dataplane() vppwire.Dataplane {
	return vppwire.Dataplane{VPP: m.vpp, Linux: m.host}
}

// happening is an engine event about one machine: a word for the trail and what to do.
type happening struct {
	m    *machine
	what string
	do   func()
}

// AppendText implements engine.Event.
func (h *happening) AppendText(b []byte) []byte {
	if h.m != nil {
		b = append(b, h.m.name...)
		b = append(b, ' ')
	}
	return append(b, h.what...)
}

// Fire implements engine.Event.
func (h *happening) Fire() { h.do() }

// startVPP starts VPP; it answers after a while.
func (m *machine) startVPP() {
	if !m.up || m.gone || m.vpp != nil || m.w.unwired() {
		return
	}
	m.vppLife++
	life := m.vppLife
	m.w.eng.After(vppStartTime, &happening{m, "vpp up", func() {
		if m.vppLife != life || !m.up || m.gone || m.vpp != nil {
			return
		}
		m.w.pids++
		m.pid = m.w.pids
		cfg := vppmodel.Config{PID: m.pid, Host: m.host, NoNamespace: vppwire.ErrNoNamespace, Crash: m.crashes, Leasing: m.dhcpClient}
		for i, nic := range m.w.nics() {
			n := m.number
			cfg.NICs = append(cfg.NICs, vppmodel.NIC{Name: nic, MTU: uint16(m.w.s.Topology.NICMTU),
				MAC: [6]byte{0x02, 0x0a + byte(i), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}})
		}
		m.vpp, m.ableAt = m.w.traced(m, cfg), m.w.eng.Now()
		m.w.answerFor(m.name, m.w.order) // it asks everybody anew, and they learn who asks
		m.lookAtHost()
		m.tellVPP()
	}})
}

// nics are the names of each VPP's physical interfaces, in VPP's order: the first has index mainNIC.
func (w *World) nics() (names []string) {
	if w.s.Topology.NIC != "" {
		names = append(names, string(w.s.Topology.NIC))
	}
	return append(names, w.s.Topology.OtherNICs...)
}

// crashes reports a request that a real VPP dies of.
func (m *machine) crashes(by vppmodel.CrashTrigger, request api.Message) {
	m.fact(fact.Fact{What: fact.VPPCrash{Why: fmt.Sprintf("a VPP 25.10 would die of %s: %s", request.GetMessageName(), by)}})
}

// tellVPP notifies a living agent that a VPP has started.
func (m *machine) tellVPP() {
	m.fact(fact.Fact{What: fact.Disturbed{By: fact.VPPUp, Owner: ipam.Owner{}}})
	m.connectVPP()
}

// connectVPP notifies a living agent that VPP is there.
func (m *machine) connectVPP() {
	if m.proc != nil && m.vpp != nil && !m.vppPaused {
		m.proc.offline = false
		m.proc.step(agent.VPPUp{PID: m.pid, Version: vppmodel.Version, NICs: m.w.nics()})
	}
}

// killVPP ends VPP; with hold it stays down until startVPP.
func (m *machine) killVPP(hold bool) {
	m.vppHeld, m.vppPaused = hold, false
	m.vppLife++
	if m.vpp == nil {
		return
	}
	m.vpp.Kill()
	m.vpp = nil
	for at := range m.lessees { // in any order: each by itself
		m.dhcpClient(at, false)
	}
	m.host.DropTaps()
	m.lookAtHost()
	if m.proc != nil {
		m.proc.call.seq++ // whatever was under way is forgotten with the connection
		if !m.proc.offline {
			m.proc.step(agent.VPPDown{})
		}
	}
}

// crashVPP is a VPP that dies by itself and is started again by its supervisor.
func (m *machine) crashVPP() {
	m.w.note(m, "vpp", "crashed")
	life := m.vppLife + 1
	m.killVPP(m.vppHeld)
	m.w.eng.After(restartDelay, &happening{m, "vpp restarted", func() {
		if m.vppLife == life && !m.vppHeld {
			m.startVPP()
		}
	}})
}

// startAgent starts the agent; it has read its journal after a while.
func (m *machine) startAgent() {
	if !m.up || m.gone || m.proc != nil {
		return
	}
	m.agentLife++
	life := m.agentLife
	m.w.eng.After(agentStartTime, &happening{m, "agent up", func() {
		if m.agentLife == life && m.up && !m.gone && m.proc == nil {
			m.agentUp()
		}
	}})
}

func (m *machine) agentUp() {
	w := m.w
	alloc, err := w.system.Allocator(m.name)
	controllers.Accept(m.name+"'s allocator", err)
	alloc = w.plantAllocator(m.name, alloc)
	cfg := w.agentConfig
	cfg.NodeName = m.name
	if w.unwired() {
		cfg.ClaimPatience = -1 // the store that it sees is its own record
	}
	if w.plant != nil && w.plant.Config != nil {
		w.plant.Config(&cfg)
	}
	a, err := agent.New(cfg, alloc)
	controllers.Accept(m.name+"'s agent", err)
	a.Share(w.shared)
	if w.plant == nil { // a fault that is planted around an agent is for laws to see
		a.Validate()
	}
	j, records, err := m.restore()
	if err != nil {
		m.refuse(err)
		return
	}
	if w.unwired() {
		var known bool
		if records, known = m.identified(records); !known {
			m.startAgain()
			return
		}
	}
	m.seen.Begin(a, records)
	p := &process{m: m, ahead: m.clocks.ahead, spent: 1, agent: a, journal: j, planted: w.plantAgent(m.name, a)}
	m.proc, m.alloc, m.ableAt = p, alloc, w.eng.Now()
	p.client = w.cluster.NewStoreClient(m.name, p.fromStore)
	p.feed = w.cluster.NewFeed(m.name, p.fromAPI)
	if w.unwired() {
		p.feed.OfOwnNode()
	}
	if w.serving() || w.enforcing() {
		p.feed.WithServices()
	}
	if w.enforcing() {
		p.feed.WithPolicies(peer)
	}
	p.step(agent.Restored{Records: records, Boot: m.host.Boot(), Uptime: m.sinceBoot()})
	if p.dead {
		return
	}
	m.ownTime(p)
	m.seen.Restored()
	m.lookAtHost()
	w.system.AgentUp(m.name, side{a, p})
	p.step(agent.HostAddresses{Addrs: m.management})
	p.tellLinks(&cfg)
	if m.own.IsValid() {
		p.step(agent.OwnAddress{Addr: m.own})
	}
	m.tellVPP()
	if !p.dead {
		p.feed.Start()
	}
}

// killAgent ends the agent's process; with hold it stays down until startAgent. why is the fact's text.
func (m *machine) killAgent(hold bool, why string) {
	m.agentHeld = hold
	m.agentLife++
	p := m.proc
	if p == nil {
		return
	}
	m.proc = nil
	p.dead = true
	m.seen.End()
	p.agentEnded()
	p.client.Close()
	p.feed.Stop()
	m.w.system.AgentDown(m.name)
	if why == fact.CleanStop {
		m.recordUntil = m.w.eng.Now() + recordTime
	}
	m.fact(fact.Fact{What: fact.AgentDown{Why: why}})
	m.lookAtHost()
}

// crashAgent is an agent that dies by itself and is started again by its supervisor.
func (m *machine) crashAgent() {
	m.w.note(m, "agent", "crashed")
	m.killAgent(m.agentHeld, "crash")
	m.startAgain()
}

// startAgain has the supervisor start the agent after a while.
func (m *machine) startAgain() {
	life := m.agentLife
	m.w.eng.After(restartDelay, &happening{m, "agent restarted", func() {
		if m.agentLife == life && !m.agentHeld {
			m.startAgent()
		}
	}})
}

// powerOff stops everything on the machine at once. Whatever was not synced may be lost.
func (m *machine) powerOff() {
	if !m.up {
		return
	}
	m.plugins = nil
	m.seen.Forget()
	m.killAgent(false, "power")
	m.killVPP(false)
	m.up = false
	m.disk.Crash(m.w.eng.Chooser())
}

// rebootTime is how long a machine takes that has lost power for an instant, as one that reboots.
const rebootTime = 5 * time.Second

// losePower is a machine without power for an instant.
func (m *machine) losePower() {
	st, ctx := stage{m.w}, context.Background()
	if err := st.PowerOff(ctx, m.name); err != nil {
		panic("sim: " + err.Error())
	}
	m.w.eng.After(rebootTime, &happening{m, "boots", func() {
		if err := st.PowerOn(ctx, m.name); err != nil {
			panic("sim: " + err.Error())
		}
	}})
}

// powerOn boots the machine: an empty Linux, VPP and the agent start.
func (m *machine) powerOn() {
	if m.up || m.gone {
		return
	}
	m.up = true
	m.host.Reboot()
	m.setManagement(m.management)
	m.startVPP()
	m.startAgent()
}

// setManagement makes addrs the addresses of the machine's management link.
func (m *machine) setManagement(addrs []netip.Addr) {
	m.management = addrs
	link, ok := m.host.Link("", scenarios.HostLink)
	if !ok {
		return
	}
	for _, a := range slices.Clone(link.Addrs) {
		if err := m.host.Apply(vppwire.AddrDel{Link: scenarios.HostLink, Addr: a}); err != nil {
			panic("sim: a listed address cannot be deleted: " + err.Error())
		}
	}
	for _, a := range addrs {
		if err := m.host.Apply(vppwire.AddrAdd{Link: scenarios.HostLink, Addr: netip.PrefixFrom(a, scenarios.ManagementNetwork(a).Bits())}); err != nil {
			panic("sim: a free address cannot be added: " + err.Error())
		}
	}
	m.routeHost()
}
