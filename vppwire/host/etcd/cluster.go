package etcd

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// Cluster tells one agent about nodes, its own node's pods, the address ranges, services, and what network policies are about.
type Cluster struct {
	c    *Client
	node string
	// again asks for a list.
	again chan struct{}
	// told are the nodes as last told, by name.
	told map[string]agent.NodeSeen
}

// Cluster returns what the agent of a node is told by.
func (c *Client) Cluster(node string) *Cluster {
	return &Cluster{c: c, node: node, again: make(chan struct{}, 1), told: map[string]agent.NodeSeen{}}
}

// Relist has everything listed again, by etcd's leader.
func (f *Cluster) Relist() {
	select {
	case f.again <- struct{}{}:
	default: // asked for already
	}
}

// Watch tells everything that exists, then every change, until ctx ends: see vppwire/host, Cluster.
func (f *Cluster) Watch(ctx context.Context, tell func(agent.Event)) {
	pause, said := retryFirst, false
	for ctx.Err() == nil {
		err := f.round(ctx, tell)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errAgain):
			pause, said = retryFirst, false
			continue
		case !said:
			f.c.log.Warn("etcd does not tell about the cluster", "error", err)
			said = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, retryMost)
	}
}

// errAgain: a list was asked for, or a watch that worked has ended.
var errAgain = errors.New("list again")

// round lists once, and tells changes until something makes another list necessary.
func (f *Cluster) round(ctx context.Context, tell func(agent.Event)) error {
	select {
	case <-f.again: // this list is the one
	default:
	}
	keys := []string{nodesKey, podsKey + f.node + "/", poolsKey, servicesKey, slicesKey, policiesKey, peersKey, namespacesKey}
	var gets []clientv3.Op
	for _, key := range keys {
		if key == poolsKey {
			gets = append(gets, clientv3.OpGet(f.c.prefix+key))
		} else {
			gets = append(gets, clientv3.OpGet(f.c.prefix+key, clientv3.WithPrefix()))
		}
	}
	asked := time.Now()
	list, err := f.c.commit(ctx, nil, gets, nil)
	if err != nil {
		return err
	}
	before := f.told
	f.told = make(map[string]agent.NodeSeen, len(before))
	var uids []string
	whole := true
	for _, kv := range list.Responses[0].GetResponseRange().Kvs {
		_, name := f.c.fact(kv.Key)
		if was, ok := before[name]; ok {
			f.told[name] = was
		}
		whole = f.seen(tell, kv) && whole
	}
	if whole { // otherwise a node that exists would count as gone
		tell(host.NodesListed{Asked: asked})
	}
	for _, kv := range list.Responses[1].GetResponseRange().Kvs {
		if _, rest := f.c.fact(kv.Key); strings.Contains(rest, "/") {
			uids = append(uids, rest[strings.Index(rest, "/")+1:])
		}
	}
	tell(agent.PodsListed{UIDs: uids})
	for _, kv := range list.Responses[2].GetResponseRange().Kvs {
		f.pools(tell, kv)
	}
	tell(agent.ServicesListed{Names: f.services(tell, list.Responses[3].GetResponseRange().Kvs)})
	tell(agent.EndpointsListed{Names: f.services(tell, list.Responses[4].GetResponseRange().Kvs)})
	for k := range selectableKeys {
		f.selectables(tell, policy.Kind(k), list.Responses[5+k].GetResponseRange().Kvs)
	}
	return f.follow(ctx, tell, list)
}

// follow tells the changes after a list. Other keys than those listed, the agents' records among them, are passed over.
func (f *Cluster) follow(ctx context.Context, tell func(agent.Event), list answer) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	from := clientv3.WithRev(list.Header.Revision + 1)
	nodes := f.c.etcd.Watch(ctx, f.c.prefix+nodesKey, clientv3.WithPrefix(), from)
	pools := f.c.etcd.Watch(ctx, f.c.prefix+poolsKey, from)
	services := f.c.etcd.Watch(ctx, f.c.prefix+servicesKey, clientv3.WithPrefix(), from)
	endpoints := f.c.etcd.Watch(ctx, f.c.prefix+slicesKey, clientv3.WithPrefix(), from)
	selected := f.watchSelectables(ctx, from)
	probe := time.NewTicker(probeInterval)
	defer probe.Stop()
	last := list.Header.Revision
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.again:
			f.Relist() // for the round to come
			return errAgain
		case <-probe.C:
			a, err := f.c.commit(ctx, nil, nil, nil)
			if err != nil {
				continue // an outage ends no watch; what it hid is told afterwards
			}
			if a.store != list.store || a.Header.Revision < last {
				return errAgain // the data was lost
			}
			last = a.Header.Revision
		case w, ok := <-nodes:
			if !ok || w.Err() != nil {
				return errAgain
			}
			for _, ev := range w.Events {
				if _, name := f.c.fact(ev.Kv.Key); ev.Type == mvccpb.DELETE {
					tell(agent.NodeGone{Name: name, UID: f.told[name].UID})
					delete(f.told, name)
					continue
				}
				f.seen(tell, ev.Kv)
			}
		case w, ok := <-services:
			if !ok || w.Err() != nil {
				return errAgain
			}
			for _, ev := range w.Events {
				f.service(tell, ev.Kv, ev.Type == mvccpb.DELETE)
			}
		case w, ok := <-endpoints:
			if !ok || w.Err() != nil {
				return errAgain
			}
			for _, ev := range w.Events {
				f.service(tell, ev.Kv, ev.Type == mvccpb.DELETE)
			}
		case w := <-selected:
			if w.Canceled || w.Err() != nil {
				return errAgain
			}
			for _, ev := range w.Events {
				f.selectable(tell, ev.Kv, ev.Type == mvccpb.DELETE)
			}
		case w, ok := <-pools:
			if !ok || w.Err() != nil {
				return errAgain
			}
			for _, ev := range w.Events {
				if ev.Type != mvccpb.DELETE {
					f.pools(tell, ev.Kv)
				}
			}
		}
	}
}

// seen tells one node. One that cannot be read exists all the same: what was told of it before is told again, and where
// nothing was, false is returned.
func (f *Cluster) seen(tell func(agent.Event), kv *mvccpb.KeyValue) bool {
	_, name := f.c.fact(kv.Key)
	was, known := f.told[name]
	n, err := parseNode(name, kv.Value)
	if err != nil {
		f.c.log.Warn("etcd: left alone", "error", err)
		if n = was; !known {
			return false
		}
	}
	if known && was.UID != n.UID {
		tell(agent.NodeGone{Name: name, UID: was.UID})
	}
	f.told[name] = n
	tell(n)
	return true
}

func (f *Cluster) pools(tell func(agent.Event), kv *mvccpb.KeyValue) {
	p, err := agent.ParsePools(kv.Value)
	if err != nil {
		f.c.log.Warn("etcd: left alone", "error", err)
		return
	}
	tell(agent.PoolsChanged{Pools: p})
}
