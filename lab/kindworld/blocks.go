package kindworld

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/controllers"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// blocks are what nodes are given by controllers that run beside the cluster, in this process; nil where each node's follow
// from its ID.
type blocks struct {
	plan scenarios.IPAM
	set  *controllers.Set
	api  *rest.Config
	w    *World
	// listed is as of the last look.
	listed

	// mu guards the Lease's holder and when it was read.
	mu     sync.Mutex
	holder string
	read   time.Time
}

// ipamFlag is the agent's --ipam for a plan; false where no agent of a cluster of ours can be one of the plan's.
func ipamFlag(c scenarios.IPAM) (flag string, ok bool) {
	switch {
	case c.Traits().ByID:
		return "contiv", true
	case c.System == scenarios.NodeIPAM && !c.NodeIPAM.Allocator.InCloud():
		return "nodeipam", true
	case controllers.Pooled(c):
		return "multi-pool", true
	case controllers.Booked(c):
		return "crd", true
	case controllers.Blocked(c):
		return "calico", true
	case c.System == scenarios.Cilium && !controllers.Addressed(c):
		return "cluster-pool", true
	}
	return "", false
}

// lacksOf is what a cluster for a scenario lacks.
func lacksOf(s *scenarios.Scenario) []timeline.Need {
	c := s.Config.IPAM
	list := append(slices.Clone(lacks), timeline.PodAnnotations, timeline.CloudRanges)
	if !lab.HasTaps() { // nodes are privileged: what this machine has they have
		list = append(list, timeline.VhostNet)
	}
	if _, ok := ipamFlag(c); !ok || c.Traits().ByID {
		list = append(list, timeline.CIDRControllers, timeline.LeadingController)
	}
	if !controllers.Asked(c) {
		list = append(list, timeline.NodeDaemons)
	}
	if c.System == scenarios.Cilium && !controllers.Addressed(c) {
		list = append(list, timeline.RetiredRanges)
	}
	return list
}

// control starts a plan's controllers. The control plane's own Node object goes first: no agent runs there, and it would get
// a block of the scenario's.
func (w *World) control(ctx context.Context, kubeconfig string) error {
	plan := w.s.Config.IPAM
	if plan.Traits().ByID {
		return nil
	}
	if err := gone(w.client.CoreV1().Nodes().Delete(ctx, w.machines.Control(), meta.DeleteOptions{})); err != nil {
		return fmt.Errorf("delete node %s: %w", w.machines.Control(), err)
	}
	b := &blocks{plan: plan, w: w}
	var err error
	switch {
	case controllers.Booked(plan):
		err = w.machines.Define(ctx, "crd/ciliumnode.yaml")
	case controllers.Blocked(plan):
		err = w.machines.Define(ctx, "calico/definitions.yaml")
	}
	if err != nil {
		return err
	}
	if b.api, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		return err
	}
	if b.set, err = controllers.New(controllers.Config{Plan: plan, Pace: 1, Way: b.way, Holder: b.holds, Put: b.put, Remove: b.remove,
		Log: lab.ControllerLog(w.Record), Note: w.Record.Note, Fail: w.Fail,
		Ranged: func(r netip.Prefix, closed bool) {
			w.Record.Tell(fact.Fact{What: fact.Range{Range: r, Closed: closed}}, "")
		}}); err != nil {
		return err
	}
	w.blocks = b
	return b.set.Start()
}

func (b *blocks) close() {
	if b != nil {
		b.set.End()
		b.set.Wait()
	}
}

// way leads a controller to the API server as this machine reaches it.
func (b *blocks) way() (http.RoundTripper, string, func(), error) {
	t, err := rest.TransportFor(b.api)
	return t, b.api.Host, func() {}, err
}

// holdsFor is for how long an answer about the Lease is taken for the present.
const holdsFor = 500 * time.Millisecond

// holds is the name that stands in the Lease.
func (b *blocks) holds() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.read) < holdsFor {
		return b.holder
	}
	ctx, cancel := context.WithTimeout(context.Background(), apiTime)
	defer cancel()
	lease, err := b.w.client.CoordinationV1().Leases(controllers.LeaseNamespace).Get(ctx, controllers.LeaseName, meta.GetOptions{})
	b.holder, b.read = "", time.Now()
	if err == nil && lease.Spec.HolderIdentity != nil {
		b.holder = *lease.Spec.HolderIdentity
	}
	return b.holder
}

// calicoPath is where the API server has Calico's objects.
const calicoPath = "/apis/" + kube.CalicoGroup + "/" + kube.CalicoVersion + "/"

// put makes one of Calico's objects, remove deletes one. The name of a resource that two groups have is followed by its group's.
// A definition that was made this moment is served a little later.
func (b *blocks) put(resource string, o apiserver.Object) error {
	resource, _, _ = strings.Cut(resource, ".")
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		err := b.w.client.CoreV1().RESTClient().Post().AbsPath(calicoPath + resource).Body(text).Do(ctx).Error()
		if err == nil || apierrors.IsAlreadyExists(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("make one of %s: %w", resource, err)
		case <-time.After(lookPause):
		}
	}
}

func (b *blocks) remove(resource, name string) error {
	b.w.ask("delete "+name+" of "+resource, func(ctx context.Context) error {
		return gone(b.w.client.CoreV1().RESTClient().Delete().AbsPath(calicoPath+resource, name).Do(ctx).Error())
	})
	return nil
}

// granted tells what a node is given more than before, ahead of what its agent makes of it; withdrawn what it is given no more,
// behind that, when the agent does not show it, or has shown it for too many looks.
func (t *told) granted(given []netip.Prefix, tell func(fact.Fact)) {
	now := slices.Clone(t.assigned)
	for _, p := range given {
		if b := (ipam.Block{Prefix: p}); !slices.Contains(now, b) {
			now = append(now, b)
		}
	}
	t.assign(now, tell)
}

func (t *told) withdrawn(given []netip.Prefix, tell func(fact.Fact)) {
	t.assign(slices.DeleteFunc(slices.Clone(t.assigned), func(b ipam.Block) bool {
		used := slices.ContainsFunc(t.blocks, func(x ipam.Block) bool { return x.Prefix == b.Prefix })
		return !slices.Contains(given, b.Prefix) && !(used && t.waiting("taken back "+b.Prefix.String()))
	}), tell)
}

func (t *told) assign(now []ipam.Block, tell func(fact.Fact)) {
	if !slices.Equal(now, t.assigned) {
		t.assigned = now
		tell(fact.Fact{What: fact.Assigned{Blocks: slices.Clone(now)}})
	}
}

// blockedBy are the blocks of a node that another one's record keeps it from.
func (w *World) blockedBy(n *fact.NodeState) []netip.Prefix {
	return lab.HeldByOthers(n, maps.Values(w.records.values))
}

// free reports whether there is a block for another node.
func (b *blocks) free() bool { return b != nil && b.set.Free(b.seen) }

// ungiven says what controllers have still to do, "" for nothing. Nodes that wait for a block that is not there do not count.
func (w *World) ungiven() string {
	b := w.blocks
	if b == nil {
		return ""
	}
	if why := cmp.Or(b.set.Electing(), b.set.Operating()); why != "" {
		return why
	}
	free := b.free()
	for _, n := range w.inOrder() {
		if n.up() == nil || !n.vppUp || n.last.agent == nil {
			continue
		}
		given := b.of[n.name]
		for _, p := range given {
			shown := fact.NodeState{Name: n.name, UID: n.uid, Assigned: []ipam.Block{{Prefix: p}}, Blocks: n.last.agent.Blocks}
			has := slices.ContainsFunc(n.last.agent.Blocks, func(x ipam.Block) bool { return x.Prefix == p })
			if !controllers.Asked(b.plan) && !has && len(w.blockedBy(&shown)) == 0 {
				return fmt.Sprintf("the agent of %s has not been told %s", n.name, p)
			}
		}
		switch {
		case !free:
		case len(given) == 0 && !controllers.Asked(b.plan):
			return n.name + " has no block, and there is one"
		case controllers.Asked(b.plan) && w.waiting(n) > 0:
			return "pods of " + n.name + " wait for an address, and there is a block"
		}
	}
	return ""
}
