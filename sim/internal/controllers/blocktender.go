package controllers

import (
	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// tender drives Calico's controllers for one life of them.
type tender struct {
	*leader
	system      *blockSystem
	machine     *calico.Tender
	events      inTurn[calico.Event]
	nodes, feed *cluster.Informer
	woken       uint64
}

func newTender(s *blockSystem, l *leader) *tender {
	t := &tender{leader: l, system: s, machine: calico.NewTender(s.pools, scenarios.SectionOf[scenarios.CalicoIPAM](s.env.Plan).EmptyBlockGrace)}
	// Fresh: a controller that takes an old list for the present gives back what nodes use that it does not show.
	t.feed = s.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: tenderProgram, At: t.at, Kind: cluster.KindResource, Fresh: true, Handler: blockWatch(t.step)})
	t.nodes = s.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: tenderProgram, At: t.at, Kind: cluster.KindNode, Fresh: true, Handler: nodeWatch{"", t.step}})
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

func (t *tender) step(ev calico.Event) {
	t.events.take(ev, func(ev calico.Event) {
		for _, e := range t.machine.Step(t.env.now(), ev) {
			if t.dead {
				return
			}
			t.perform(e)
		}
	})
}

func (t *tender) perform(e calico.Effect) {
	switch e := e.(type) {
	case calico.WriteBlock:
		t.write(e)
	case calico.WakeAt:
		t.woken++
		n := t.woken
		t.after(e.At.Sub(t.env.now()), "looks", func() {
			if t.woken == n {
				t.step(calico.Woke{})
			}
		})
	}
}

func (t *tender) write(e calico.WriteBlock) {
	t.system.requests++
	name, key := blockRequests[e.For], e.Block.CIDR.String()
	call := &cluster.ResourceCall{API: t.env.Cluster.API, What: tenderProgram + " " + name + " " + key, Act: writeBlock(e), Then: func(o cluster.Object, err error) {
		if !t.dead {
			t.step(wroteBlock(o, err))
		}
	}}
	t.env.call(t.api, fault.Op{Node: t.kind, Name: name, Key: key}, call, func() { t.send(func() { call.Send(t.at) }) }, t.fail)
}

// fail ends a process that crashed.
func (t *tender) fail() {
	t.env.Note(t.name, "ends: it crashed")
	t.stop()
	t.system.again(t.leader, t.system.lead)
}

func (t *tender) pending() string {
	if why := t.machine.Pending(); why != "" {
		return t.name + " " + why
	}
	return ""
}
