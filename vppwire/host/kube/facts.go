package kube

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
)

// FactsConfig says what an agent is told about.
type FactsConfig struct {
	// Client needs what AgentNeeds says.
	Client kubernetes.Interface
	// Node is the agent's own node.
	Node string
	// PoolsNamespace and PoolsName name the ConfigMap with the address ranges, PoolsName alone the IPAMConfig. Both empty:
	// there is none.
	PoolsNamespace, PoolsName string
	// Services: services and their slices are told too.
	Services bool
	// Policies: so are network policies, and all pods and namespaces for them.
	Policies bool
	// Events is told what operators should see: ranges that are refused; nil: nobody.
	Events func(agent.Log)
	// RequestTimeout is how long a list of pods may take; 0 is 10 s.
	RequestTimeout time.Duration
	// Log is for people; nil: nobody.
	Log *slog.Logger
}

// Facts is vppwire/host's Cluster on Kubernetes.
type Facts struct {
	cfg FactsConfig
	// again asks for a list of nodes, pods for one of pods.
	again, pods chan struct{}
	// mu keeps told, and the order in which it is told. told are the nodes as last told, by name.
	mu   sync.Mutex
	told map[string]agent.NodeSeen
	// short is what users are told that agents do not do; known is closed when the nodes have been listed once.
	short *shortcomings
	known chan struct{}
	once  sync.Once
}

// Pauses between tries to list pods.
const (
	listRetryFirst = 250 * time.Millisecond
	listRetryMost  = 2 * time.Second
)

// NewFacts returns Facts that do nothing before Watch.
func NewFacts(cfg FactsConfig) *Facts {
	complete(&cfg.RequestTimeout, &cfg.Log)
	return &Facts{cfg: cfg, again: make(chan struct{}, 1), pods: make(chan struct{}, 1), told: map[string]agent.NodeSeen{},
		short: newShortcomings(cfg), known: make(chan struct{})}
}

// Relist has nodes and pods listed again, from no cache.
func (f *Facts) Relist() { signal(f.again) }

// signal asks for something, unless that was asked for already.
func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// Watch tells everything that exists, then every change, until ctx ends: see vppwire/host, Cluster. It is called once.
func (f *Facts) Watch(ctx context.Context, tell func(agent.Event)) {
	ctx = logged(ctx, f.cfg.Log)
	news := make(chan []agent.Event)
	say := func(events ...agent.Event) {
		select {
		case news <- events:
		case <-ctx.Done():
		}
	}
	var others sync.WaitGroup
	defer others.Wait()
	others.Go(func() { f.followNodes(ctx, say) })
	others.Go(func() { f.listPods(ctx, say) })
	if f.cfg.PoolsName != "" {
		others.Go(func() { f.followPools(ctx, say) })
	}
	others.Go(func() { f.followPolicies(ctx, say) })
	others.Go(func() {
		select {
		case <-ctx.Done():
		case <-f.known:
			f.short.run(ctx, f.speaks)
		}
	})
	if f.cfg.Services {
		others.Go(func() { f.followServices(ctx, say) })
	}
	for {
		select {
		case <-ctx.Done():
			return
		case events := <-news:
			for _, ev := range events {
				tell(ev)
			}
		}
	}
}

// followNodes begins anew whenever a list is asked for, but not before the last one was told.
func (f *Facts) followNodes(ctx context.Context, say func(...agent.Event)) {
	for ctx.Err() == nil {
		round, end := context.WithCancel(ctx)
		listed := make(chan struct{}, 1)
		var asked time.Time
		to := sink[*v1.Node]{
			asked: func() { asked = time.Now() },
			listed: func(nodes []*v1.Node) {
				f.listed(nodes, asked, say)
				signal(f.pods)
				signal(listed)
				f.once.Do(func() { close(f.known) })
			},
			put: func(n *v1.Node, _ bool) {
				if agentless(n) {
					f.gone(n, say)
				} else {
					f.seen(n, say)
				}
			},
			gone: func(n *v1.Node) { f.gone(n, say) },
		}
		var follower sync.WaitGroup
		follower.Go(func() { followNodes(round, f.cfg.Client, to) })
		for _, next := range []chan struct{}{listed, f.again} {
			select {
			case <-ctx.Done():
			case <-next:
			}
		}
		end()
		follower.Wait()
	}
}

// AgentLabel with the value AgentNone says of a node that no agent runs on it: a control plane, or a machine without
// VPP. Other nodes neither wait for its record nor count it among their peers. A node that had an agent and gets the
// label counts as gone. Of a Service it says that agents leave it to kube-proxy.
const (
	AgentLabel = "vppdrill.github.io/agent"
	AgentNone  = "none"
)

func agentless(n *v1.Node) bool { return n.Labels[AgentLabel] == AgentNone }

// listed tells every node, changed or not, of a list that was asked for at a time.
func (f *Facts) listed(nodes []*v1.Node, asked time.Time, say func(...agent.Event)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.told
	f.told = make(map[string]agent.NodeSeen, len(nodes))
	var events []agent.Event
	uids := make([]string, 0, len(nodes))
	for _, n := range nodes {
		if agentless(n) {
			continue
		}
		now := f.read(n)
		if was, ok := before[n.Name]; ok && was.UID != now.UID {
			events = append(events, agent.NodeGone{Name: was.Name, UID: was.UID})
		}
		f.told[n.Name] = now
		events, uids = append(events, now), append(uids, now.UID)
	}
	say(append(events, host.NodesListed{NodesListed: agent.NodesListed{UIDs: uids}, Asked: asked})...)
}

// seen tells of a node that may have changed: kubelets report themselves all the time, mostly with nothing new.
func (f *Facts) seen(n *v1.Node, say func(...agent.Event)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed(f.read(n), say)
}

// changed tells what is new of a node.
func (f *Facts) changed(now agent.NodeSeen, say func(...agent.Event)) {
	was, known := f.told[now.Name]
	f.told[now.Name] = now
	switch {
	case known && was.UID != now.UID:
		say(agent.NodeGone{Name: was.Name, UID: was.UID}, now)
	case !known || !slices.Equal(was.PodCIDRs, now.PodCIDRs) || !slices.Equal(was.Addresses, now.Addresses) || was.Zone != now.Zone:
		say(now)
	}
}

func (f *Facts) gone(n *v1.Node, say func(...agent.Event)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told[n.Name].UID == string(n.UID) {
		delete(f.told, n.Name)
	}
	say(agent.NodeGone{Name: n.Name, UID: string(n.UID)})
}

// read is what an agent looks at of a Node. A pod CIDR or address that cannot be read is left out: the node exists all
// the same.
func (f *Facts) read(n *v1.Node) agent.NodeSeen {
	seen := agent.NodeSeen{Name: n.Name, UID: string(n.UID), Zone: n.Labels[v1.LabelTopologyZone]}
	k := kubeNode(n)
	texts := k.PodCIDRs
	if len(texts) == 0 && k.PodCIDR != "" {
		texts = []string{k.PodCIDR}
	}
	for _, text := range texts {
		p, err := space.ParsePrefix(text)
		if err != nil {
			f.cfg.Log.Warn("left out", "node", n.Name, "podCIDR", text, "error", err)
			continue
		}
		seen.PodCIDRs = append(seen.PodCIDRs, p)
	}
	for _, a := range n.Status.Addresses {
		if a.Type != v1.NodeInternalIP && a.Type != v1.NodeExternalIP {
			continue
		}
		addr, err := netip.ParseAddr(a.Address)
		if err != nil || addr.Zone() != "" {
			f.cfg.Log.Warn("left out", "node", n.Name, "address", a.Address)
			continue
		}
		seen.Addresses = append(seen.Addresses, addr.Unmap())
	}
	return seen
}

// listPods lists the node's pods whenever the nodes were listed, until that succeeds.
func (f *Facts) listPods(ctx context.Context, say func(...agent.Event)) {
	opts := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", f.cfg.Node).String()}
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.pods:
		}
		for pause := listRetryFirst; ; pause = min(2*pause, listRetryMost) {
			limited, cancel := context.WithTimeout(ctx, f.cfg.RequestTimeout)
			list, err := f.cfg.Client.CoreV1().Pods(metav1.NamespaceAll).List(limited, opts)
			cancel()
			if err == nil {
				var uids []string
				for i := range list.Items {
					uids = append(uids, string(list.Items[i].UID))
				}
				slices.Sort(uids)
				say(agent.PodsListed{UIDs: uids})
				break
			}
			f.cfg.Log.Warn("the node's pods cannot be listed", "error", err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
		}
	}
}
