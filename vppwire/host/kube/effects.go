package kube

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// perform starts effects, in order.
func (t *term) perform(effects []nodeipam.Effect) {
	for _, e := range effects {
		if t.d.log.Enabled(t.ctx, slog.LevelDebug) {
			t.d.log.Debug("effect", "effect", string(e.AppendText(nil)))
		}
		switch e := e.(type) {
		case nodeipam.ListNodes:
			t.listNodes(e)
		case nodeipam.GetNode:
			t.node(e.ID, func(ctx context.Context) (*v1.Node, error) {
				return t.d.cfg.Client.CoreV1().Nodes().Get(ctx, e.Name, metav1.GetOptions{})
			})
		case nodeipam.TouchNode:
			t.patch(e.ID, e.Name, touchPatch(e))
		case nodeipam.PatchNodeCIDRs:
			t.patch(e.ID, e.Name, cidrPatch(e))
		case nodeipam.SetNetworkAvailable:
			t.patch(e.ID, e.Name, conditionPatch(e.UID, v1.ConditionFalse, "RouteCreated", e.Message, time.Now()), "status")
		case nodeipam.SetNetworkUnavailable:
			t.patch(e.ID, e.Name, conditionPatch(e.UID, v1.ConditionTrue, "NoRouteCreated", e.Message, time.Now()), "status")
		case nodeipam.GetAliases:
			t.aliases(e)
		case nodeipam.AddAlias:
			t.changeCloud(e.ID, "add alias", e.Name, func(ctx context.Context) error { return cloudOf(t.d.cfg).AddAlias(ctx, e.Name, e.ProviderID, e.CIDR) })
		case nodeipam.ListRoutes:
			t.routes(e)
		case nodeipam.CreateRoute:
			t.changeCloud(e.ID, "create route", e.Route.Node, func(ctx context.Context) error { return routesOf(t.d.cfg).CreateRoute(ctx, e.ProviderID, e.Route) })
		case nodeipam.DeleteRoute:
			t.changeCloud(e.ID, "delete route", e.Route.Node, func(ctx context.Context) error { return routesOf(t.d.cfg).DeleteRoute(ctx, e.Route) })
		case nodeipam.RecordEvent:
			t.events.record(e)
		case nodeipam.WakeAt:
			pace{clock: &t.d.clock}.set(t.alarm, e.At)
		case nodeipam.GiveUp:
			t.fatal = e.Why
		default:
			panic(fmt.Sprintf("kube: unknown effect %T", e))
		}
	}
}

// ask makes a request beside the controller. It ends in time for the lease, sent or not: what leaves later than that is
// somebody else's time.
func (t *term) ask(request func(context.Context) nodeipam.Event) {
	limit := t.d.cfg.RequestTimeout
	if !t.until.IsZero() {
		limit = min(limit, t.until.Sub(t.d.clock.now()))
	}
	ctx, cancel := context.WithTimeout(t.ctx, limit)
	t.others.Go(func() {
		defer cancel()
		t.take(request(ctx))
	})
}

// listNodes reads every node; step has changes told from then on.
func (t *term) listNodes(e nodeipam.ListNodes) {
	t.listing = true
	t.ask(func(ctx context.Context) nodeipam.Event {
		nodes, err := t.list(ctx)
		if err != nil {
			t.d.log.Warn("the nodes cannot be listed", "error", err)
		}
		return nodeipam.Listed{ID: e.ID, Outcome: outcome(err), Nodes: nodes}
	})
}

// node makes a request about one node.
func (t *term) node(id uint64, request func(context.Context) (*v1.Node, error)) {
	t.ask(func(ctx context.Context) nodeipam.Event {
		n, err := request(ctx)
		if err != nil {
			t.d.log.Debug("not done", "id", id, "error", err)
			return nodeipam.Answered{ID: id, Outcome: outcome(err), Why: err.Error()}
		}
		k := kubeNode(n)
		return nodeipam.Answered{ID: id, Outcome: ipam.Done, Node: &k}
	})
}

// patch changes a node, once: client-go would repeat a PATCH that a server answers with 5xx and Retry-After, and tell
// what became of the last try alone.
func (t *term) patch(id uint64, name string, p patch, subresource ...string) {
	t.node(id, func(ctx context.Context) (*v1.Node, error) {
		n := new(v1.Node)
		err := t.d.cfg.Client.CoreV1().RESTClient().Patch(p.kind).Resource("nodes").Name(name).SubResource(subresource...).
			Body(p.body).MaxRetries(0).Do(ctx).Into(n)
		return n, err
	})
}

func (t *term) aliases(e nodeipam.GetAliases) {
	t.ask(func(ctx context.Context) nodeipam.Event {
		cidrs, err := cloudOf(t.d.cfg).Aliases(ctx, e.Name, e.ProviderID)
		ev := nodeipam.Aliases{ID: e.ID, Outcome: cloudOutcome(err), CIDRs: cidrs}
		if err != nil {
			ev.Why = err.Error()
			t.d.log.Warn("aliases", "node", e.Name, "error", err)
		}
		return ev
	})
}

func (t *term) routes(e nodeipam.ListRoutes) {
	t.ask(func(ctx context.Context) nodeipam.Event {
		routes, err := routesOf(t.d.cfg).Routes(ctx, e.Cluster)
		ev := nodeipam.Routes{ID: e.ID, Outcome: cloudOutcome(err), Routes: routes}
		if err != nil {
			ev.Why = err.Error()
			t.d.log.Warn("routes", "error", err)
		}
		return ev
	})
}

// changeCloud has the cloud change something of a node.
func (t *term) changeCloud(id uint64, what, node string, change func(context.Context) error) {
	t.ask(func(ctx context.Context) nodeipam.Event {
		err := change(ctx)
		ev := nodeipam.Answered{ID: id, Outcome: cloudOutcome(err)}
		if err != nil {
			ev.Why = err.Error()
			t.d.log.Warn(what, "node", node, "error", err)
		}
		return ev
	})
}

func routesOf(cfg Config) CloudRoutes {
	if cfg.Routes == nil {
		return noCloud{}
	}
	return cfg.Routes
}

func cloudOf(cfg Config) Cloud {
	if cfg.Cloud == nil {
		return noCloud{}
	}
	return cfg.Cloud
}

// noCloud refuses everything.
type noCloud struct{}

func (noCloud) Aliases(context.Context, string, string) ([]string, error) { return nil, ErrNoCloud }

func (noCloud) AddAlias(context.Context, string, string, netip.Prefix) error { return ErrNoCloud }

func (noCloud) Routes(context.Context, string) ([]nodeipam.Route, error) { return nil, ErrNoCloud }

func (noCloud) CreateRoute(context.Context, string, nodeipam.Route) error { return ErrNoCloud }

func (noCloud) DeleteRoute(context.Context, nodeipam.Route) error { return ErrNoCloud }
