package kube

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
)

// CalicoConfig says how Calico's IPAM works on one node. Client, Node and Alloc are needed.
type CalicoConfig struct {
	// Client needs what AgentNeeds says with CalicoBlocks.
	Client kubernetes.Interface
	// Node is the agent's own node, Alloc its allocator.
	Node  string
	Alloc calico.Node
	// Pace is as an OperatorConfig's.
	Pace float64
	// RequestTimeout is how long a request may go unanswered; 0 is 10 s.
	RequestTimeout time.Duration
	// Log is for people; nil: nobody.
	Log *slog.Logger
}

// CalicoHost assigns a node addresses of the cluster's blocks as its pods come, and gives them back as they go: it drives a calico.Host,
// which steps on the goroutine that owns the agent, as the allocator does. Its Cluster tells the agent what the node has, and its Agent lets
// an ADD wait for its address. Exported methods may be called from any goroutine but where they say otherwise.
type CalicoHost struct {
	cfg     CalicoConfig
	clock   clock
	pace    pace
	machine *calico.Host // it belongs to the goroutine that owns the agent
	blocks  calicoBlocks
	granted *host.Granted
	alarm   *time.Timer
	// stepped says that the agent may be another one; events are the machine's from other goroutines.
	stepped chan struct{}
	events  chan calico.Event

	mu sync.Mutex
	// waiting are ADDs whose address is being seen to, by number; asked is the last one's.
	waiting map[uint64]chan struct{}
	asked   uint64
}

// NewCalicoHost returns a host that does nothing before Run.
func NewCalicoHost(cfg CalicoConfig) *CalicoHost {
	complete(&cfg.RequestTimeout, &cfg.Log)
	h := &CalicoHost{cfg: cfg, clock: newClock(), machine: calico.NewHost(calico.Pools{}, cfg.Alloc), blocks: newCalicoBlocks(cfg.Client),
		alarm: time.NewTimer(time.Hour), stepped: make(chan struct{}, 1), events: make(chan calico.Event), waiting: make(map[uint64]chan struct{})}
	h.alarm.Stop()
	h.pace = newPace(&h.clock, cfg.Pace)
	return h
}

// Stepped is to be called where vppwire/host calls its Config.Stepped.
func (h *CalicoHost) Stepped() { signal(h.stepped) }

// Cluster is a cluster whose own node has the addresses that the blocks say. It is called once, before Run.
func (h *CalicoHost) Cluster(of host.Cluster) host.Cluster {
	h.granted = host.NewGranted(of, h.cfg.Node, nil)
	return h.granted
}

// CNI is who answers CNI requests.
type CNI interface {
	Request(ctx context.Context, event func(number uint64) agent.Event) (agent.Answer, error)
}

// Agent is an agent that is asked for a pod's address when that is there, or when none is to be had: as Calico's plugin assigns one itself.
func (h *CalicoHost) Agent(of CNI) CNI { return preparing{of, h} }

type preparing struct {
	CNI
	h *CalicoHost
}

// Request implements CNI.
func (p preparing) Request(ctx context.Context, event func(number uint64) agent.Event) (agent.Answer, error) {
	add, ok := event(0).(agent.PodAdd)
	if !ok {
		answer, err := p.CNI.Request(ctx, event)
		if del, is := event(0).(agent.PodDel); is && err == nil {
			p.h.tell(ctx, calico.PodLeft{Owner: del.Owner})
		}
		return answer, err
	}
	want, err := p.h.want(ctx, add.Sandbox, add.Wanted)
	if err != nil {
		return agent.Answer{Code: agent.CodeTryAgain, Message: err.Error()}, nil
	}
	p.h.prepare(ctx, add.Sandbox, want)
	answer, err := p.CNI.Request(ctx, event)
	if err == nil && answer.Exhausted {
		p.h.tell(ctx, calico.PodRefused{Owner: add.Sandbox.Owner})
	}
	return answer, err
}

// prepare waits until the agent may be asked, or ctx ends.
func (h *CalicoHost) prepare(ctx context.Context, s agent.Sandbox, want calico.Want) {
	h.mu.Lock()
	h.asked++
	id, ready := h.asked, make(chan struct{})
	h.waiting[id] = ready
	h.mu.Unlock()
	h.tell(ctx, calico.PodComing{ID: id, Owner: s.Owner, Namespace: s.PodNamespace, Pod: s.PodName, Want: want})
	select {
	case <-ready:
	case <-ctx.Done():
		h.letGo(id)
	}
}

func (h *CalicoHost) letGo(id uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ready := h.waiting[id]; ready != nil {
		delete(h.waiting, id)
		close(ready)
	}
}

// tell gives the machine an event; not at all when ctx has ended.
func (h *CalicoHost) tell(ctx context.Context, ev calico.Event) {
	select {
	case h.events <- ev:
	case <-ctx.Done():
	}
}

// Pending says what is under way, "" when nothing is. It is for the goroutine that owns the agent.
func (h *CalicoHost) Pending() string {
	if why := h.machine.Pending(); why != "" {
		return why
	}
	if h.machine.Owes(h.pace.now()) {
		return "a pod that was refused will find an address"
	}
	return ""
}

// Run keeps the node's addresses until ctx or the agent ends. It is called once.
func (h *CalicoHost) Run(ctx context.Context, owner Owner) {
	ctx, cancel := context.WithCancel(logged(ctx, h.cfg.Log))
	defer h.alarm.Stop()
	var followers sync.WaitGroup
	defer followers.Wait()
	defer cancel()
	tell := func(ev calico.Event) { h.tell(ctx, ev) }
	followers.Go(func() {
		selector := fields.OneTermEqualSelector("metadata.name", h.cfg.Node).String()
		follow(ctx, h.cfg.Client, h.cfg.Client.CoreV1().Nodes(), selector, &v1.Node{}, calicoNodes(tell, false))
	})
	h.blocks.followWithPools(ctx, &followers, tell, h.cfg.Log)
	if h.step(ctx, owner, nil) != nil {
		return
	}
	for {
		var ev calico.Event
		select {
		case <-ctx.Done():
			return
		case ev = <-h.events:
		case <-h.alarm.C:
			ev = calico.Woke{}
		case <-h.stepped:
		}
		if h.step(ctx, owner, ev) != nil {
			return
		}
	}
}

// step gives the machine the agent as it is and then an event, and the answers to what it asks for; nil is no event.
func (h *CalicoHost) step(ctx context.Context, owner Owner, ev calico.Event) error {
	for queue := []calico.Event{ev}; len(queue) > 0; queue = queue[1:] {
		var effects []calico.Effect
		err := owner(ctx, func(a Holder) {
			effects = append(effects, h.machine.Step(h.pace.now(), calico.AgentSeen{Blocks: a.Blocks(), Idle: a.Idle()})...)
			if queue[0] != nil {
				effects = append(effects, h.machine.Step(h.pace.now(), queue[0])...)
			}
		})
		if err != nil {
			return err
		}
		for _, e := range effects {
			switch e := e.(type) {
			case calico.WriteBlock:
				once, cancel := context.WithTimeout(ctx, h.cfg.RequestTimeout)
				queue = append(queue, h.blocks.write(once, e))
				cancel()
			case calico.TellAgent:
				h.granted.Give(e.Blocks)
			case calico.LetGo:
				h.letGo(e.ID)
			case calico.WakeAt:
				h.pace.set(h.alarm, e.At)
			case calico.Note:
				h.cfg.Log.Info(e.Text, "node", h.cfg.Node)
			default:
				panic(fmt.Sprintf("kube: unknown effect %T", e))
			}
		}
	}
	return nil
}

// calicoNodes tells the incarnations of nodes, and the labels where there is no other. With others, the one that others write without a UID is there as long as any of its name.
func calicoNodes(tell func(calico.Event), others bool) sink[*v1.Node] {
	hosts := func(n *v1.Node) []string {
		if others {
			return []string{hostOf(n.Name, string(n.UID)), hostOf(n.Name, "")}
		}
		return []string{hostOf(n.Name, string(n.UID))}
	}
	return sink[*v1.Node]{
		listed: func(list []*v1.Node) {
			var all []string
			for _, n := range list {
				all = append(all, hosts(n)...)
			}
			if !others && len(list) > 0 { // before it may be decided about
				tell(calico.Labelled{Labels: list[0].Labels})
			}
			tell(calico.NodesListed{Hosts: all})
		},
		put: func(n *v1.Node, _ bool) {
			if !others {
				tell(calico.Labelled{Labels: n.Labels})
			}
			for _, h := range hosts(n) {
				tell(calico.NodeSeen{Host: h})
			}
		},
		gone: func(n *v1.Node) {
			for _, h := range hosts(n) {
				tell(calico.NodeGone{Host: h})
			}
		},
	}
}
