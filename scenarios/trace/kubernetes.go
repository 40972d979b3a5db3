package trace

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/kubectl"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
)

// KubernetesOptions are how a cluster becomes a scenario beside Options.
type KubernetesOptions struct {
	Options
	// Anonymous replaces the names of pods and workloads by numbers.
	Anonymous bool
	// Churn lets pods come and go that long, as often as the ages of those that are there tell; 0 is not at all.
	Churn time.Duration
}

// found is what a list amounts to.
type found struct {
	nodes            []kubectl.Node
	instances        []string // types of the nodes that name one
	pods             scenarios.Rows
	addresses, cidrs []netip.Prefix
	created          []time.Time
	system           scenarios.System
	hostNetwork      int
	ended            int
	notes            []string
}

// ImportKubernetes reads a cluster as kubectl get nodes,pods -A -o json prints it: its nodes, the pods that have addresses of their own,
// and the ranges and the system that they come from. Notes say what was left out. Errors are *scenarios.InputError.
func ImportKubernetes(r io.Reader, file string, o KubernetesOptions) (*scenarios.Scenario, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var f found
	err = kubectl.Read(file, data, func(one kubectl.Object) error { return f.take(one, o.Anonymous) })
	if bad := (*kubectl.Error)(nil); errors.As(err, &bad) {
		return nil, &scenarios.InputError{File: file, Line: bad.Line, Column: bad.Column, Message: bad.Message}
	}
	if err == nil && len(f.nodes) == 0 {
		err = errors.New("no Node; give what kubectl get nodes,pods -A -o json prints")
	}
	if err != nil {
		return nil, &scenarios.InputError{File: file, Line: 1, Column: 1, Message: err.Error()}
	}
	if o.Name == "" {
		o.Name = "kubernetes"
	}
	if o.Nodes == 0 {
		o.Nodes = len(f.nodes)
	}
	return f.scenario(file, o)
}

// take takes an object of the cluster.
func (f *found) take(o kubectl.Object, anonymous bool) error {
	wrong := func(err error) error { return fmt.Errorf("%s %s: %w", o.Kind, o.Metadata.Name, err) }
	switch o.Kind {
	case "Node":
		n, err := o.Node()
		if err != nil {
			return wrong(err)
		}
		f.nodes = append(f.nodes, n)
		if t := o.Metadata.Labels["node.kubernetes.io/instance-type"]; t != "" {
			f.instances = append(f.instances, t)
		}
	case "Pod":
		p, err := o.Pod()
		if err != nil {
			return wrong(err)
		}
		f.pod(o.Metadata, p, anonymous)
	default:
		return wrong(errors.New("neither Node nor Pod; get only those"))
	}
	return nil
}

// agents are pods by which a system is known, by the beginning of their names.
var agents = []struct {
	prefix string
	system scenarios.System
}{{"cilium-operator", scenarios.Cilium}, {"aws-node", scenarios.Datastore}, {"contiv-vswitch", scenarios.Contiv}, {"calico-node", scenarios.Calico}}

// pod takes a pod that has, or waits for, an address of its own.
func (f *found) pod(m kubectl.Metadata, p kubectl.Pod, anonymous bool) {
	for _, a := range agents {
		if m.Namespace == "kube-system" && strings.HasPrefix(m.Name, a.prefix) && f.system == "" {
			f.system = a.system
			if a.prefix == "calico-node" {
				f.notes = append(f.notes, "Calico's blocks are not modelled: one block for each node, as Kubernetes' controller gives them, stands in.")
			}
		}
	}
	switch {
	case p.HostNetwork:
		f.hostNetwork++
		return
	case p.Over:
		f.ended++
		return
	}
	row := scenarios.WorkloadPod{Name: m.Namespace + "-" + m.Name, App: m.Namespace + "-" + app(m), Create: scenarios.BeforeStart, Delete: scenarios.AfterEnd}
	if anonymous || !isWord(row.Name) || !isWord(row.App) {
		row.Name, row.App = "pod-"+strconv.Itoa(len(f.pods)+1), "app"
	}
	f.pods, f.created = append(f.pods, row), append(f.created, m.Created)
	for _, a := range p.Addrs {
		if a.Is4() {
			f.addresses = append(f.addresses, netip.PrefixFrom(a, 32))
		}
	}
}

// app is the workload that a pod belongs to: a Deployment's ReplicaSets count as one.
func app(m kubectl.Metadata) string {
	if len(m.Owners) == 0 {
		return "none"
	}
	owner := m.Owners[0]
	if i := strings.LastIndexByte(owner.Name, '-'); owner.Kind == "ReplicaSet" && i > 0 {
		return owner.Name[:i]
	}
	return owner.Name
}

// isWord reports whether a row can hold a name.
func isWord(name string) bool {
	return len(name) <= nameMax && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.')
	}) < 0
}

// covering is the longest prefix that has all of them.
func covering(list []netip.Prefix) netip.Prefix {
	if len(list) == 0 {
		return netip.Prefix{}
	}
	all := list[0].Masked()
	for _, p := range list[1:] {
		for all.Bits() > 0 && !(all.Contains(p.Addr()) && all.Bits() <= p.Bits()) {
			all = netip.PrefixFrom(all.Addr(), all.Bits()-1).Masked()
		}
	}
	return all
}

// scenario makes the scenario: the cluster as it is, at rest or with fitted churn.
func (f *found) scenario(file string, o KubernetesOptions) (*scenarios.Scenario, error) {
	s := scenarios.Default()
	s.Name, s.Labels, s.Topology.Nodes = o.Name, []string{"trace"}, o.Nodes
	plan, err := planFor(o.Nodes, max(len(f.pods), 1))
	if err != nil {
		return nil, err
	}
	idBits := 32 - plan.ipam.VXLANCIDR.Bits()
	s.Config.IPAM = scenarios.DefaultConfig().IPAM
	c := &s.Config.IPAM
	// The wiring's own ranges: shared address space, where clusters seldom have pods.
	c.VPPHostSubnetCIDR, c.VPPHostSubnetOneNodePrefixLen = scenarios.CIDR(prefix("100.96.0.0", 30-idBits)), 30
	c.NodeInterconnectCIDR, c.VXLANCIDR = scenarios.CIDR(prefix("100.64.0.0", 32-idBits)), scenarios.CIDR(prefix("100.68.0.0", 32-idBits))
	c.PodSubnetCIDR, c.PodSubnetOneNodePrefixLen = plan.ipam.PodSubnetCIDR, plan.ipam.PodSubnetOneNodePrefixLen
	s.Topology.MaxPodsPerNode = 110
	if most := f.maxPods(); most > 0 {
		s.Topology.MaxPodsPerNode = most
	}
	f.ranges(c)
	if len(f.pods) > 0 {
		s.Workload = scenarios.Workload{Format: "pods/1", Rows: f.pods}
	}
	s.Duration = time.Minute
	f.churn(&s, o.Churn)
	s.Goal = fmt.Sprintf("The cluster of %s: %d nodes and %d pods with addresses of their own, %s's addresses.", file, o.Nodes, len(f.pods), c.System)
	if room := o.Nodes * s.Topology.MaxPodsPerNode; len(f.pods) > room {
		f.notes = append(f.notes, fmt.Sprintf("The pods do not fit: kubelets of %d nodes start %d.", o.Nodes, room))
	}
	if f.hostNetwork+f.ended > 0 {
		f.notes = append(f.notes, fmt.Sprintf("Left out: %d pods of the hosts' own network and %d that have ended, of %d.", f.hostNetwork, f.ended, f.hostNetwork+f.ended+len(f.pods)))
	}
	s.Notes = f.notes
	return &s, s.Validate()
}

// maxPods is what the kubelet of most room says.
func (f *found) maxPods() (most int) {
	for _, n := range f.nodes {
		most = max(most, n.MaxPods)
	}
	return most
}

// ranges are the system's and its blocks', by what nodes and pods show.
func (f *found) ranges(c *scenarios.IPAM) {
	for _, n := range f.nodes {
		if i := slices.IndexFunc(n.PodCIDRs, func(p netip.Prefix) bool { return p.Addr().Is4() }); i >= 0 {
			f.cidrs = append(f.cidrs, n.PodCIDRs[i])
		}
	}
	if f.system == "" {
		f.system = scenarios.NodeIPAM
	}
	c.System = f.system
	switch {
	case f.system == scenarios.Datastore:
		c.PodSubnetOneNodePrefixLen, c.Datastore.PrefixDelegation = 0, false
		if all := covering(f.addresses); all.IsValid() {
			c.PodSubnetCIDR = scenarios.CIDR(netip.PrefixFrom(all.Addr(), min(max(all.Bits(), 16), 24)).Masked())
			f.notes = append(f.notes, fmt.Sprintf("The subnet %s is what the pods' addresses tell; a larger one may be there.", c.PodSubnetCIDR))
		}
		for _, t := range f.instances {
			if _, ok := datastore.LimitsOf(t); ok {
				c.Datastore.InstanceType = t
				break
			}
		}
	case f.system == scenarios.Calico: // whatever CIDRs its nodes show, it does not use them
		c.PodSubnetOneNodePrefixLen = calico.DefaultBlockBits
		if all := covering(f.addresses); all.IsValid() {
			c.PodSubnetCIDR = scenarios.CIDR(netip.PrefixFrom(all.Addr(), min(all.Bits(), 16)).Masked())
			f.notes = append(f.notes, fmt.Sprintf("The pool %s is what the pods' addresses tell, and its blocks of /%d Calico's default; others may be there.", c.PodSubnetCIDR, calico.DefaultBlockBits))
		}
	case len(f.cidrs) > 0:
		c.PodSubnetCIDR, c.PodSubnetOneNodePrefixLen = scenarios.CIDR(covering(f.cidrs)), f.cidrs[0].Bits()
		if i := slices.IndexFunc(f.cidrs, func(p netip.Prefix) bool { return p.Bits() != f.cidrs[0].Bits() }); i >= 0 {
			f.notes = append(f.notes, fmt.Sprintf("Nodes have blocks of different lengths, such as %s and %s: the first is taken for all.", f.cidrs[0], f.cidrs[i]))
		}
		// A cluster that has used each block yet has room for those of nodes that come and go.
		for space.SubnetCount(c.PodSubnetCIDR.Prefix, c.PodSubnetOneNodePrefixLen) < uint64(2*len(f.nodes)) && c.PodSubnetCIDR.Bits() > 8 {
			c.PodSubnetCIDR = scenarios.CIDR(netip.PrefixFrom(c.PodSubnetCIDR.Addr(), c.PodSubnetCIDR.Bits()-1).Masked())
		}
		if c.System == scenarios.Cilium {
			c.Cilium.Mode = scenarios.ClusterPool
		}
		f.notes = append(f.notes, fmt.Sprintf("The range %s is the shortest with the nodes' blocks of /%d and room for as many more; the cluster's own may be wider.", c.PodSubnetCIDR, c.PodSubnetOneNodePrefixLen))
	default:
		f.notes = append(f.notes, fmt.Sprintf("No node shows a podCIDR: the range %s and blocks of /%d are made up.", c.PodSubnetCIDR, c.PodSubnetOneNodePrefixLen))
	}
}

// churnYoung is how long ago pods count as the present rate of creations.
const churnYoung = 24 * time.Hour

// churn fits creations to the ages of the pods: as many as came within a day of the youngest, and lives as long as that keeps their
// number.
func (f *found) churn(s *scenarios.Scenario, lasts time.Duration) {
	if lasts == 0 || len(f.created) == 0 {
		return
	}
	youngest := slices.MaxFunc(f.created, time.Time.Compare)
	young := 0
	for _, at := range f.created {
		if youngest.Sub(at) < churnYoung {
			young++
		}
	}
	every := churnYoung / time.Duration(young)
	s.Churn.Every, s.Churn.Lifetime, s.Churn.Until = every, every*time.Duration(young), lasts
	s.Duration = lasts
	f.notes = append(f.notes, fmt.Sprintf("Churn: %d of %d pods are less than a day older than the youngest, so one comes each %s and lives %s on average.",
		young, len(f.pods), scenarios.FormatDuration(every.Round(time.Second)), scenarios.FormatDuration(s.Churn.Lifetime.Round(time.Second))))
}
