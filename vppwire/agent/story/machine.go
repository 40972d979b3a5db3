package story

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Machine is one machine: a VPP, a Linux, a disk, and an agent or none. Its fields may be changed between two things
// that happen.
type Machine struct {
	// Name and UID are the Node object's; with an empty UID there is none. Hidden: lists of nodes leave it out.
	Name, UID string
	Hidden    bool
	// Config is what the next life of the agent starts with; PodCIDRs what the Node object says.
	Config   agent.Config
	PodCIDRs []netip.Prefix
	// Agent is nil while none runs; Life counts the lives, and Boot the machine's.
	Agent      *agent.Agent
	Life, Boot int
	Host       *hostmodel.Host
	// VPP is nil while none runs.
	VPP *vppmodel.VPP
	// NICs are VPP's names of its physical interfaces, which have indices from 1.
	NICs []string
	// Journal is the disk, line by line; with DiskBad nothing can be written.
	Journal []string
	DiskBad bool
	// Open are the names of open requests. Errors are the log lines of that level.
	Open   map[uint64]string
	Errors []string
	// Hooked is told of each Hook, where set. Nothing answers it by itself.
	Hooked func(agent.Hook)

	lab      *Lab
	contract *Contract // of Agent
	pid      uint32
	wake     time.Time
	requests uint64
	calls    bool // the last printed line was about calls
	writes   int64
}

// Machine adds a machine with a running VPP and no agent.
func (l *Lab) Machine(name string) *Machine {
	n := len(l.Names) + 1
	host, err := hostmodel.New(hostmodel.Config{ID: uint64(n),
		Devices: []hostmodel.Device{{Name: "eth0", Addrs: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 20, 0, byte(n)}), 24)}}},
		Routes:  []vppwire.HostRoute{{Dst: netip.MustParsePrefix("0.0.0.0/0"), Via: netip.AddrFrom4([4]byte{10, 20, 0, 254}), Link: "eth0", Metric: 100}}})
	if err != nil {
		l.t.Fatalf("%s: %v", name, err)
	}
	b := &Machine{lab: l, Name: name, UID: "uid-" + name, Config: Config(name), Host: host, Open: map[uint64]string{}}
	l.Machines[name] = b
	l.Names = append(l.Names, name)
	b.StartVPP()
	return b
}

// StartVPP starts a VPP that knows nothing, and connects the agent to it.
func (b *Machine) StartVPP() {
	b.pid++
	cfg := vppmodel.Config{PID: b.pid, Host: b.Host, NoNamespace: vppwire.ErrNoNamespace}
	for _, name := range b.NICs {
		cfg.NICs = append(cfg.NICs, vppmodel.NIC{Name: name})
	}
	b.VPP = vppmodel.New(cfg)
	b.writes = 0
	b.Step(b.vppUp())
}

func (b *Machine) vppUp() agent.VPPUp {
	return agent.VPPUp{PID: b.pid, Version: vppmodel.Version, NICs: b.NICs}
}

// KillVPP ends VPP, and the taps with it.
func (b *Machine) KillVPP() {
	b.VPP.Kill()
	b.VPP = nil
	b.Host.DropTaps()
	b.Step(agent.VPPDown{})
}

// Start begins an agent's life with what its journal says, VPP where it runs, and the address ranges.
func (b *Machine) Start() {
	alloc, err := nodeipam.NewNode(nodeipam.NodeConfig{External: b.lab.Pools.External})
	if err != nil {
		b.lab.t.Fatalf("%s: %v", b.Name, err)
	}
	if b.Agent, err = agent.New(b.Config, alloc); err != nil {
		b.lab.t.Fatalf("%s: %v", b.Name, err)
	}
	b.Agent.Validate()
	b.Life++
	var records []agent.Record
	for _, text := range b.Journal {
		r, err := agent.ParseRecord(text)
		if err != nil {
			b.lab.t.Fatalf("%s: %v", b.Name, err)
		}
		records = append(records, r)
	}
	b.Step(agent.Restored{Records: records, Boot: "boot-" + strconv.Itoa(b.Boot)})
	b.tellLinks()
	if b.VPP != nil {
		b.Step(b.vppUp())
	}
	b.Step(agent.PoolsChanged{Pools: b.lab.Pools})
}

// tellLinks tells an agent that takes a NIC what the host has.
func (b *Machine) tellLinks() {
	if b.Agent == nil || !b.Config.Steals() {
		return
	}
	state, err := b.Host.Dump("")
	if err != nil {
		b.lab.t.Fatalf("%s: %v", b.Name, err)
	}
	b.Step(agent.HostLinks{State: state})
}

// Tell tells the agent the cluster's nodes and this node's pods.
func (b *Machine) Tell(podUIDs ...string) {
	b.listNodes()
	b.Step(agent.PodsListed{UIDs: podUIDs})
}

// listNodes tells of every machine that has a Node object, except where the API server has a stale cache.
func (b *Machine) listNodes() {
	for _, name := range b.lab.Names {
		if other := b.lab.Machines[name]; other.UID != "" && !other.Hidden {
			b.Step(other.Seen())
		}
	}
	b.Step(agent.NodesListed{})
}

// Seen is what the Node object says.
func (b *Machine) Seen() agent.NodeSeen {
	n := slices.Index(b.lab.Names, b.Name) + 1
	return agent.NodeSeen{Name: b.Name, UID: b.UID, PodCIDRs: b.PodCIDRs, Addresses: []netip.Addr{netip.AddrFrom4([4]byte{10, 20, 0, byte(n)})}}
}

// Kill ends the agent; nobody hears of what it had under way.
func (b *Machine) Kill() {
	b.Agent = nil
	b.Life++
	b.wake = time.Time{}
}

// Step tells the agent an event and queues what it asks for.
func (b *Machine) Step(ev agent.Event) {
	if b.Agent == nil {
		return
	}
	ev.AppendText(nil)
	if b.contract == nil || b.contract.agent != b.Agent {
		b.contract = Watched(b.Agent)
	}
	life := b.Life
	for _, e := range slices.Clone(b.contract.Step(b.lab.Now, ev)) {
		if b.lab.Crash != nil && b.lab.Crash(b, e, false) {
			b.Kill()
			return
		}
		b.lab.Effects++
		b.perform(e)
		if b.lab.Crash != nil && b.lab.Crash(b, e, true) {
			// The effect has been started, and with it everything that does not need the agent is done.
			b.lab.finish(b, life)
			b.Kill()
			return
		}
	}
}

// Request opens a request under a name that answers are printed with.
func (b *Machine) Request(name string) uint64 {
	b.requests++
	b.Open[b.requests] = name
	return b.requests
}

// Owner is the CNI attachment of a container in these stories; Netns its namespace.
func Owner(container string) ipam.Owner {
	return ipam.Owner{Network: "k8s", ContainerID: container, IfName: "eth0"}
}

// Netns is the path of a container's namespace.
func Netns(container string) string { return "/run/netns/" + container }

// Add asks for a pod's sandbox; the runtime makes its namespace first.
func (b *Machine) Add(pod, container string) { b.add(pod, container, agent.PodAdd{}) }

// AddAt is Add with an address that somebody else chose.
func (b *Machine) AddAt(pod, container string, external netip.Addr) {
	b.add(pod, container, agent.PodAdd{External: external})
}

// AddWants is Add of a pod that asks for addresses.
func (b *Machine) AddWants(pod, container string, wanted []netip.Addr) {
	b.add(pod, container, agent.PodAdd{Wanted: wanted})
}

// AddMemif is Add of a pod that brings a program for a memif.
func (b *Machine) AddMemif(pod, container string, m mode.Memif) {
	b.add(pod, container, agent.PodAdd{Sandbox: agent.Sandbox{Memif: m}})
}

func (b *Machine) add(pod, container string, e agent.PodAdd) {
	_ = b.Host.CreateNamespace(Netns(container)) // a repeated ADD finds it there
	e.Request = b.Request("add " + container)
	e.Sandbox = agent.Sandbox{Owner: Owner(container), Netns: Netns(container), PodNamespace: "default", PodName: pod, PodUID: "uid-" + pod, Memif: e.Sandbox.Memif}
	b.Step(e)
}

// Del asks for the removal of a sandbox.
func (b *Machine) Del(container string) {
	b.Step(agent.PodDel{Request: b.Request("del " + container), Owner: Owner(container)})
}
