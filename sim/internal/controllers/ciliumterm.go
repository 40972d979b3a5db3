package controllers

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// ciliumTerm drives one life of cilium-operator: a cilium.PoolTerm or a cilium.AddressTerm.
type ciliumTerm struct {
	*leader
	machine interface {
		Step(now time.Time, ev cilium.Event) []cilium.Effect
	}
	// also performs what one of the two alone asks for.
	also func(cilium.Effect)
	feed *cluster.Informer
	// requests counts writes; again starts another life when this one has ended by itself.
	requests *int64
	again    func()
}

// begin starts the life. Resources are listed from the server itself, as vppwire/host/kube lists: what the ledger gives
// and no resource shows counts as given back.
func (t *ciliumTerm) begin() {
	t.feed = t.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: "operator", At: t.at, Kind: cluster.KindResource, Fresh: true, Handler: ciliumFeed{t.step}})
	t.step(cilium.Leading{Until: t.now().Add(renewed)})
}

// loses is called with the end of the leader's lease when the lease is no longer renewed.
func (t *ciliumTerm) loses() { t.step(cilium.Leading{Until: t.now().Add(renewDeadline)}) }

func (t *ciliumTerm) step(ev cilium.Event) {
	if t.dead {
		return
	}
	for _, e := range t.machine.Step(t.now(), ev) {
		if t.dead {
			return
		}
		t.env.decidedEffect(t.name, e)
		t.perform(e)
	}
}

func (t *ciliumTerm) perform(e cilium.Effect) {
	switch e := e.(type) {
	case cilium.Follow:
		t.feed.Start()
	case cilium.WriteResource:
		*t.requests++
		name := e.Object.Metadata.Name
		call := &cluster.ResourceCall{API: t.env.Cluster.API, What: "operator writes " + name, Act: writeResource(e.Object),
			Then: func(o cluster.Object, err error) { t.step(wrote(e.ID, o, err)) }}
		t.env.call(t.api, fault.Op{Node: t.kind, Name: resourceWrite, Key: name}, call,
			func() { t.send(func() { call.Send(t.at) }) }, t.crash)
	case cilium.RecordEvent:
		t.env.Note(t.name, string(e.AppendText(nil)))
	case cilium.Note:
		t.env.Note(t.name, e.Text)
	case cilium.WakeAt:
		t.alarm(e.At, func() { t.step(cilium.Woke{}) })
	case cilium.End:
		t.end(e.Why.Error())
	default:
		t.also(e)
	}
}

// stop ends the process.
func (t *ciliumTerm) stop() {
	t.dead = true
	t.feed.Stop()
}

func (t *ciliumTerm) crash() { t.end("it crashed") }

// end is a process that ends by itself; another one follows.
func (t *ciliumTerm) end(why string) {
	t.env.Note(t.name, "ends: "+why)
	t.again()
}

// decidedEffect reports what a machine has decided, where there is a listener.
func (e *Env) decidedEffect(who string, effect cilium.Effect) {
	if e.Decided != nil {
		e.decided(who, "%s", effect.AppendText(nil))
	}
}
