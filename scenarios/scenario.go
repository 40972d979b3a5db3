package scenarios

import (
	"reflect"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// Scenario is one scenario file: a cluster, what happens to it, and what must hold. Parse reads it, Marshal writes it,
// Default is what an empty file means. A World is built from it; Run then drives that World through Timeline.
//
// A run has two phases. In the break phase the timeline, churn, workload and faults act; it lasts until the timeline's last
// item or BreakEnd, whichever is later. Then everything is healed and the cluster must become quiet within Limits.Settle.
type Scenario struct {
	Name     string        `yaml:"name" required:"true" pattern:"word" doc:"Name in results: lower case words joined by hyphens."`
	Labels   []string      `yaml:"labels" pattern:"word" doc:"Words to select scenarios by, such as cidr, restart or slow."`
	Topology Topology      `yaml:"topology" doc:"Machines and pods at the start."`
	Config   Config        `yaml:"config" doc:"What the cluster's administrator would configure."`
	Services []Service     `yaml:"services" doc:"Services at the start."`
	Policies []Policy      `yaml:"policies" doc:"Network policies at the start."`
	Timeline []Step        `yaml:"timeline" doc:"What happens, in this order. Times never go back."`
	Churn    Churn         `yaml:"churn" doc:"Pods that come and go by themselves."`
	Faults   Faults        `yaml:"faults" doc:"Probabilities of faults during the break phase, and injected faults."`
	Workload Workload      `yaml:"workload" doc:"Pods with recorded times, from a trace."`
	Limits   Limits        `yaml:"limits" doc:"Bounds that a run must keep."`
	Duration time.Duration `yaml:"duration" doc:"The break phase lasts at least until this time; when absent, until the last time in timeline, churn.until and workload and the end of timed faults."`
	Laws     LawNames      `yaml:"laws" doc:"The laws that judge the run: all, or a list of names."`
	Expect   Expect        `yaml:"expect" doc:"What this run must amount to beside the laws."`
	Seeds    int           `yaml:"seeds" min:"1" max:"1000000" doc:"How many seeds a plain run of this scenario takes."`

	// Goal is the first paragraph of the file's opening comment, on one line; Notes are its further paragraphs.
	Goal  string   `yaml:"-"`
	Notes []string `yaml:"-"`
	// File is the path that Load read, as given.
	File string `yaml:"-"`

	// at remembers where fields stand in File, for errors found after parsing.
	at strictyaml.Positions
	// unreadable is why it cannot be read: see Unreadable.
	unreadable error
}

// Unreadable is the panic that reading the scenario ended in, which is no error of its author's: see Recover. nil for what was read.
func (s *Scenario) Unreadable() error { return s.unreadable }

// Topology is the cluster at the start: node-1 to node-N.
type Topology struct {
	Nodes          int `yaml:"nodes" min:"1" max:"100000" doc:"Nodes at the start, named node-1, node-2 and so on; more than 5000 take config.wiring.pod none."`
	PodsPerNode    int `yaml:"podsPerNode" min:"0" max:"10000" doc:"Pods created on each node at the start."`
	MaxPodsPerNode int `yaml:"maxPodsPerNode" min:"1" max:"10000" doc:"The kubelet's limit; the scheduler places no more."`
	// NIC is the name of each node's VPP interface to the interconnect; empty for none (a loopback carries the node address).
	NIC       NIC      `yaml:"nic" doc:"Whether VPP has a physical interface: true, false or its name."`
	OtherNICs []string `yaml:"otherNICs" pattern:"interface" doc:"VPP's names of further physical interfaces that each node's VPP has, on the same network; config.nodes says what is on them."`
	// NICMTU is what the nodes' NICs and the network between them carry. The default is Ethernet's.
	NICMTU uint32 `yaml:"nicMTU" min:"576" max:"9216" doc:"MTU of the nodes' NICs and of the network between them."`
	// HostIPs counts the management addresses of each node's Linux side beside the interconnect: 1 by default.
	HostIPs int `yaml:"hostIPs" min:"0" max:"8" doc:"Management addresses of each node's Linux side."`
	// Zones are for services: see Distribution.
	Zones Zones `yaml:"zones" min:"0" max:"26" doc:"Zones that nodes lie in by turns, zone-a, zone-b and so on; none when absent."`
	// ClockSpread and ClockDrift say how wrong machines' clocks are: each machine draws its own, and so does the one on which a life of a
	// controller runs. Nothing corrects them during a run.
	ClockSpread time.Duration `yaml:"clockSpread" doc:"How far machines' wall clocks are ahead or behind at most, those of controllers too."`
	ClockDrift  float64       `yaml:"clockDrift" min:"0" max:"0.0005" doc:"How much faster or slower machines' clocks run at most, as a share."`
}

// NIC is the name of a VPP interface, empty for none. In YAML true stands for DefaultNIC and false for none.
type NIC string

// DefaultNIC is the name that VPP's dpdk plugin gives an interface at PCI address 0000:00:08.0.
const DefaultNIC NIC = "GigabitEthernet0/8/0"

// Limits are bounds that a run must keep.
type Limits struct {
	// Settle is generous beside a node ID's quarantine because a node that waits for an ID is not quiet.
	Settle time.Duration `yaml:"settle" doc:"The cluster must be quiet this long after everything was healed."`
	Events int64         `yaml:"events" min:"0" doc:"The simulator gives up after this many events; 0 is no bound."`
	// Violations above 1 counts what is broken instead of ending with the first; what a law says behind its first violation is a count.
	Violations int `yaml:"violations" min:"1" max:"1000000" doc:"The run ends when laws were broken so often; the first one is what it reports."`
}

// LawNames are the laws that judge a run; nil means all of them.
type LawNames []string

// Expect is what a run must amount to beside the laws. A nil field expects nothing.
type Expect struct {
	Exhausted *bool `yaml:"exhausted" doc:"Whether some node must run out of addresses (true) or must not (false)."`
	Pods      *int  `yaml:"pods" min:"0" doc:"Attached pods at the end."`
	Nodes     *int  `yaml:"nodes" min:"0" doc:"Nodes at the end."`
	// The next four say how many pods never got an address, by why: see Summary.
	Unscheduled   *int `yaml:"unscheduled" min:"0" doc:"Pods that never got a node."`
	Waiting       *int `yaml:"waiting" min:"0" doc:"Pods that wait for an address at the end."`
	Refused       *int `yaml:"refused" min:"0" doc:"Pods that were refused, and never got an address."`
	NeverAnswered *int `yaml:"neverAnswered" min:"0" doc:"Pods that got a node and no answer."`
	// Violation turns the verdict round: the run passes when this law is broken, so that a known defect stays shown.
	Violation string `yaml:"violation" pattern:"word" doc:"The law that this run must break; it fails when it does not."`
}

// Default is what an empty file means: two nodes without pods, Contiv's default address plan, veth pods over VXLAN.
func Default() Scenario {
	return Scenario{
		Topology: Topology{Nodes: 2, MaxPodsPerNode: 110, NIC: DefaultNIC, NICMTU: 1500, HostIPs: 1},
		Config:   DefaultConfig(),
		Faults:   Faults{DelayReply: Delay{By: time.Second}, DelayStoreReply: Delay{By: time.Second}, SlowDisk: Delay{By: time.Second}},
		Limits:   Limits{Settle: 5 * time.Minute, Violations: 1},
		Seeds:    1,
	}
}

// BreakEnd is when the break phase ends at the earliest: at Duration or, without one, with the last thing that has an
// absolute time, be it of the timeline, the churn or the workload. A timeline that waits for quiet and, without Duration,
// faults with a time of their own can end it later.
func (s *Scenario) BreakEnd() time.Duration {
	if s.Duration != 0 {
		return s.Duration
	}
	end := max(s.lastAt(), s.Churn.Until)
	for _, pod := range s.Workload.Rows {
		end = max(end, pod.Create)
		if pod.Delete != AfterEnd {
			end = max(end, pod.Delete)
		}
	}
	return end
}

// lastAt is the time of the timeline's last item that has an absolute one.
func (s *Scenario) lastAt() time.Duration {
	last := time.Duration(0)
	for _, step := range s.Timeline {
		if step.Trigger == AtTime {
			last = max(last, step.Time)
		}
	}
	return last
}

// NodeNames are the nodes at the start, in order.
func (s *Scenario) NodeNames() []string {
	names := make([]string, s.Topology.Nodes)
	for i := range names {
		names[i] = nodeName(i + 1)
	}
	return names
}

// Equal reports whether two scenarios mean the same; File and where their fields stand do not matter.
func (s *Scenario) Equal(other *Scenario) bool {
	a, b := *s, *other
	a.at, b.at = strictyaml.Positions{}, strictyaml.Positions{}
	a.File, b.File = "", ""
	return reflect.DeepEqual(a, b)
}
