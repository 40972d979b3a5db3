package controllers

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// tender is one life of Calico's controllers: they take back what nodes that are gone had, and blocks that have been empty for long.
type tender struct {
	*leader
	system      *blockSystem
	nodes, feed *cluster.Informer
	view        *blockView
	// alive are the incarnations that have Node objects; nil before they are known.
	alive map[string]bool
	// empty is since when blocks have been empty, by UID.
	empty     map[string]time.Time
	writing   bool
	scheduled bool
	retrying  bool
}

func newTender(s *blockSystem, l *leader) *tender {
	t := &tender{leader: l, system: s, empty: make(map[string]time.Time)}
	t.view = newBlockView(func(bool) { t.soon() })
	// Fresh: who takes an old list for the present gives back what nodes use that it does not show.
	t.feed = s.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: tenderProgram, At: t.at, Kind: cluster.KindResource, Fresh: true, Handler: t.view})
	t.nodes = s.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: tenderProgram, At: t.at, Kind: cluster.KindNode, Fresh: true, Handler: (*tendedNodes)(t)})
	return t
}

func (t *tender) start() {
	t.nodes.Start()
	t.feed.Start()
}

// stop ends the process.
func (t *tender) stop() {
	if !t.dead {
		t.dead = true
		t.nodes.Stop()
		t.feed.Stop()
	}
}

// tendedNodes watches which nodes there are.
type tendedNodes tender

// Listed implements cluster.Handler.
func (n *tendedNodes) Listed(objects []cluster.Object, _ int64) {
	n.alive = make(map[string]bool, len(objects))
	for _, o := range objects {
		n.alive[hostName(o.(*cluster.Node))] = true
	}
	(*tender)(n).soon()
}

// Changed implements cluster.Handler.
func (n *tendedNodes) Changed(ch cluster.Change) {
	host := hostName(ch.Object.(*cluster.Node))
	switch {
	case ch.Type == cluster.Deleted:
		delete(n.alive, host)
		(*tender)(n).soon()
	case !n.alive[host]:
		n.alive[host] = true
	}
}

func (t *tender) soon() {
	if t.scheduled || t.dead {
		return
	}
	t.scheduled = true
	t.env.Clock.After(0, &step{t.name, "looks", func() {
		if t.scheduled = false; !t.dead {
			t.evaluate()
		}
	}})
}

// evaluate writes the first block that should be different.
func (t *tender) evaluate() {
	if t.writing || t.retrying {
		return
	}
	if r, next, ok := t.due(); ok {
		t.write(r, next)
	}
}

// due finds the first block that should be different, and sees to being woken when another one may be.
func (t *tender) due() (*cluster.Resource, calico.Block, bool) {
	if t.alive == nil || !t.view.listed {
		return nil, calico.Block{}, false
	}
	now, grace := t.now(), t.env.Plan.Calico.EmptyBlockGrace
	affine := make(map[string]int)
	for _, b := range t.view.blocks() {
		affine[b.Affinity]++
	}
	var wake time.Time
	for _, name := range sortedNames(t.view.seen) {
		r := t.view.seen[name]
		b, _ := blockOf(r)
		if !b.Empty() {
			delete(t.empty, r.UID)
		} else if t.empty[r.UID].IsZero() {
			t.empty[r.UID] = now
		}
		at := t.empty[r.UID].Add(grace)
		if next, changed := t.system.pools.Tend(b, !at.After(now), affine[b.Affinity]-1, func(host string) bool { return t.alive[host] }); changed {
			return r, next, true
		}
		if b.Empty() && at.After(now) && (wake.IsZero() || at.Before(wake)) {
			wake = at
		}
	}
	t.alarm(wake, t.soon)
	return nil, calico.Block{}, false
}

// write swaps a block. That a node is gone is asked of the API server: what was seen of nodes may be older than what was seen of blocks.
func (t *tender) write(r *cluster.Resource, next calico.Block) {
	t.writing = true
	t.system.requests++
	was, _ := blockOf(r)
	change := swap(r, next)
	call := &cluster.ResourceCall{API: t.env.Cluster.API, What: tenderProgram + " " + blockTend + " " + r.Name,
		Act: func(a *cluster.API) (cluster.Object, error) {
			for i, h := range was.Hosts {
				if h == "" || next.Hosts[i] == h {
					continue
				}
				if n, ok := a.Node(nodeName(h)); ok && hostName(n) == h {
					return nil, cluster.ErrConflict
				}
			}
			return change(a)
		},
		Then: func(o cluster.Object, err error) {
			t.writing = false
			if t.dead {
				return
			}
			if err == nil {
				t.view.wrote(r, o)
				t.soon()
				return
			}
			t.retrying = true
			t.env.Clock.After(retryTime, &step{t.name, "tries again", func() {
				t.retrying = false
				t.soon()
			}})
		}}
	t.env.call(t.api, fault.Op{Node: t.kind, Name: blockTend, Key: r.Name}, call,
		func() { t.send(func() { call.Send(t.at) }) }, t.fail)
}

// fail ends a process that crashed.
func (t *tender) fail() {
	t.env.Note(t.name, "ends: it crashed")
	t.stop()
	t.system.again(t.leader, t.system.lead)
}

func (t *tender) pending() string {
	switch {
	case t.alive == nil || !t.view.listed:
		return t.name + " is starting"
	case t.writing || t.scheduled || t.retrying:
		return t.name + " is at work"
	}
	return ""
}
