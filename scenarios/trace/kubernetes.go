package trace

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/ipam/kubectl"
	"github.com/vppdrill/vppdrill/scenarios"
)

// KubernetesOptions are how a cluster becomes a scenario beside Options.
type KubernetesOptions struct {
	Options
	// Anonymous replaces the names of pods and workloads by numbers.
	Anonymous bool
	// AuditLog and Events tell pods' lives: an API server's audit log, and what kubectl get events -A -o json prints. Without Churn the
	// scenario has the lives that they tell. Their names are for errors.
	AuditLog, Events         io.Reader
	AuditLogName, EventsName string
	// More is what else shows the cluster, as vppdrill audit takes it; of an object that comes twice the last one counts.
	More []Input
}

// Input is a text with the name that errors call it by.
type Input struct {
	Name string
	Text io.Reader
}

// found is what a list amounts to.
type found struct {
	nodes     []kubectl.Node
	instances []string // types of the nodes that name one
	pods      scenarios.Rows
	keys      []podKey        // of pods
	notOwn    map[podKey]bool // pods that are there and have no addresses of their own
	// addresses are the pods', each as long as it is.
	addresses []netip.Prefix
	created   []time.Time
	system    scenarios.System
	// shape is what objects show of the ranges, and which objects nobody reads.
	shape       audit.Shape
	names       map[string]int // how often a row's name came
	hostNetwork int
	ended       int
	notes       []string
	// history is what records tell of pods' lives; nil without any.
	history *history
}

// ImportKubernetes reads a cluster as kubectl get nodes,pods -A -o json prints it: its nodes, the pods that have addresses of their own,
// and the ranges and the system that they come from. Notes say what was left out. Errors are *scenarios.InputError.
func ImportKubernetes(r io.Reader, file string, o KubernetesOptions) (*scenarios.Scenario, error) {
	f := found{notOwn: map[podKey]bool{}}
	var objects audit.Objects
	var last latest
	for _, in := range append([]Input{{file, r}}, o.More...) {
		data, err := io.ReadAll(in.Text)
		if err != nil {
			return nil, err
		}
		err = readObjects(in.Name, data, func(one kubectl.Object) error {
			if err := f.take(one, o.Anonymous); err != nil {
				return err
			}
			last.put(one)
			return objects.Add(one)
		})
		if err != nil {
			return nil, err
		}
	}
	if last.repeated { // from the beginning, without those that others replaced
		f = found{notOwn: map[podKey]bool{}}
		for _, one := range last.list {
			if err := f.take(one, o.Anonymous); err != nil {
				return nil, &scenarios.InputError{File: file, Line: 1, Column: 1, Message: err.Error()}
			}
		}
	}
	f.shape = audit.ShapeOf(&objects)
	if len(f.nodes) == 0 {
		return nil, &scenarios.InputError{File: file, Line: 1, Column: 1, Message: "no Node; give what kubectl get nodes,pods -A -o json prints"}
	}
	var h history
	if o.AuditLog != nil {
		if err := h.readAudit(o.AuditLog, o.AuditLogName); err != nil {
			return nil, err
		}
	}
	if o.Events != nil {
		if err := h.readEvents(o.Events, o.EventsName); err != nil {
			return nil, err
		}
	}
	if h.records > 0 {
		f.history = &h
		if h.window() <= 0 {
			name := o.AuditLogName
			if o.AuditLog == nil {
				name = o.EventsName
			}
			return nil, &scenarios.InputError{File: name, Line: 1, Column: 1, Message: "all records are of one instant: they tell of no churn"}
		}
		f.relive(o.Anonymous)
	}
	if o.Name == "" {
		o.Name = "kubernetes"
	}
	if o.Nodes == 0 {
		o.Nodes = len(f.nodes)
	}
	return f.scenario(file, o)
}

// latest keeps of objects that come twice the last one, in the place of the first.
type latest struct {
	list []kubectl.Object
	at   map[objectKey]int
	// repeated: one came twice.
	repeated bool
}

type objectKey struct{ group, kind, namespace, name string }

func (l *latest) put(o kubectl.Object) {
	key := objectKey{o.Group(), o.Kind, o.Metadata.Namespace, o.Metadata.Name}
	if i, known := l.at[key]; known && key.name != "" {
		l.list[i], l.repeated = o, true
		return
	}
	if l.at == nil {
		l.at = map[objectKey]int{}
	}
	l.at[key] = len(l.list)
	l.list = append(l.list, o)
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
	}
	return nil
}

// pod takes a pod that has, or waits for, an address of its own.
func (f *found) pod(m kubectl.Metadata, p kubectl.Pod, anonymous bool) {
	for _, r := range scenarios.Systems() {
		if m.Namespace == "kube-system" && r.Daemon != "" && strings.HasPrefix(m.Name, r.Daemon) && f.system == "" {
			f.system = r.Name
		}
	}
	key := podKey{m.Namespace, m.Name}
	switch {
	case p.HostNetwork:
		f.hostNetwork++
		f.notOwn[key] = true
		return
	case p.Over:
		f.ended++
		return
	}
	f.add(key, app(m), scenarios.WorkloadPod{Create: scenarios.BeforeStart, Delete: scenarios.AfterEnd}, m.Created, anonymous)
	for _, a := range p.Addrs {
		f.addresses = append(f.addresses, netip.PrefixFrom(a, a.BitLen()))
	}
}

// add adds a row of a pod. times has when it is there.
func (f *found) add(key podKey, app string, times scenarios.WorkloadPod, created time.Time, anonymous bool) {
	row := times
	row.Name, row.App = key.namespace+"-"+key.name, key.namespace+"-"+app
	if f.names == nil {
		f.names = map[string]int{}
	}
	if f.names[row.Name]++; f.names[row.Name] > 1 { // a StatefulSet's pods have the names of those before them
		row.Name += "-n" + strconv.Itoa(f.names[row.Name])
	}
	if anonymous || !isWord(row.Name) || !isWord(row.App) {
		row.Name, row.App = "pod-"+strconv.Itoa(len(f.pods)+1), "app"
	}
	f.pods, f.created, f.keys = append(f.pods, row), append(f.created, created), append(f.keys, key)
}

// relive gives pods the lives that records tell, and adds those that the list does not have.
func (f *found) relive(anonymous bool) {
	h := f.history
	lives, notes := h.lives()
	of := map[podKey][]*life{}
	for _, l := range lives {
		of[l.pod] = append(of[l.pod], l)
	}
	inList := map[*life]bool{}
	for i, key := range f.keys {
		var l *life
		if list := of[key]; len(list) > 0 {
			l = list[len(list)-1] // the list shows the pod that came last under the name
		}
		switch {
		case l != nil:
			inList[l] = true
			f.pods[i].Create, f.pods[i].Delete = h.row(l).Create, h.row(l).Delete
			if l.begin.IsZero() && f.created[i].After(h.first) {
				f.pods[i].Create = min(f.created[i].Sub(h.first), h.window())
			}
		case f.created[i].After(h.first) && !f.created[i].After(h.last):
			f.pods[i].Create = f.created[i].Sub(h.first)
		}
	}
	hosts, gone := 0, 0
	for _, l := range lives {
		switch {
		case inList[l]:
		case l.hostNetwork || f.notOwn[l.pod]:
			hosts++
		default:
			if l.end.IsZero() {
				gone++
			}
			name := l.app
			if name == "" {
				name = appOf(l.pod.name)
			}
			f.add(l.pod, name, h.row(l), l.begin, anonymous)
		}
	}
	f.hostNetwork += hosts
	if gone > 0 {
		f.notes = append(f.notes, fmt.Sprintf("%d pods have no recorded end and are not in the list of pods: they stay to the end.", gone))
	}
	f.notes = append(f.notes, notes...)
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

// scenario makes the scenario: the cluster as it is, at rest or with fitted churn.
func (f *found) scenario(file string, o KubernetesOptions) (*scenarios.Scenario, error) {
	s := scenarios.Default()
	s.Name, s.Labels, s.Topology.Nodes = o.Name, []string{"trace"}, o.Nodes
	peak, _ := measure(f.pods)
	plan, err := planFor(o.Nodes, max(peak*max(o.Repeat, 1), 1))
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
	if err := f.ranges(&s, file); err != nil {
		return nil, err
	}
	if over := s.OverHosts(); over != "" {
		s.Topology.HostIPs = 0
		f.notes = append(f.notes, "Hosts have no addresses of their own beside those of the wiring: "+over+" of the model.")
	}
	s.Duration = time.Minute
	switch {
	case f.history != nil && o.Churn == 0:
		s.Duration, s.Limits.Settle = f.history.window().Round(time.Millisecond), settleOfTraces
		f.notes = append([]string{fmt.Sprintf("Pods come and go as recorded within %s, from %s on.", scenarios.FormatDuration(s.Duration.Round(time.Second)),
			f.history.first.UTC().Format(time.RFC3339))}, f.notes...)
	case f.history != nil:
		rest, churn, note := churnOf(f.pods, f.history.window(), o.Churn)
		f.pods, s.Churn = rest, churn
		s.Duration = o.Churn
		f.notes = append([]string{note}, f.notes...)
	default:
		f.churn(&s, o.Churn)
	}
	if f.pods, err = repeat(f.pods, max(o.Repeat, 1)); err != nil {
		return nil, err
	}
	if s.Churn.On() {
		s.Churn.Every = max(s.Churn.Every/time.Duration(max(o.Repeat, 1)), time.Millisecond)
	}
	if len(f.pods) > 0 {
		s.Workload = scenarios.Workload{Format: "pods/1", Rows: f.pods}
	}
	s.Goal = fmt.Sprintf("The cluster of %s: %d nodes and %d pods with addresses of their own, %s's addresses.", file, o.Nodes, len(f.pods), c.System)
	peak, _ = measure(f.pods)
	if room := o.Nodes * s.Topology.MaxPodsPerNode; peak > room {
		f.notes = append(f.notes, fmt.Sprintf("The pods do not fit: there are %d at a time, and kubelets of %d nodes start %d.", peak, o.Nodes, room))
	}
	if f.hostNetwork+f.ended > 0 {
		f.notes = append(f.notes, fmt.Sprintf("Left out: %d pods of the hosts' own network and %d that have ended, of %d.", f.hostNetwork, f.ended, f.hostNetwork+f.ended+len(f.keys)))
	}
	if kinds := f.unread(); kinds != "" {
		f.notes = append(f.notes, "Not read: "+kinds+".")
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
