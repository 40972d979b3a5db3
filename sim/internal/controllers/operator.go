package controllers

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// ledgerPrefix is where the ledger's entries are in the store, ledgerStart where it says with which it begins.
const (
	ledgerPrefix = "cilium/ledger/"
	ledgerStart  = "cilium/start"
)

// operator is one life of cilium-operator in modes cluster-pool and multi-pool.
type operator struct {
	ciliumTerm
	term   *cilium.PoolTerm
	client *cluster.StoreClient
	// muted is the store request whose answer is lost.
	muted uint64
}

func newOperator(s *poolSystem, l *leader) *operator {
	pools, err := s.newPools()
	Accept(l.name, err)
	if plant := s.env.Plant.Pools; plant != nil {
		pools = plant(s.lives, pools)
	}
	o := &operator{term: cilium.NewPoolTerm(cilium.PoolTermConfig{Pools: pools})}
	o.ciliumTerm = ciliumTerm{leader: l, machine: o.term, also: o.performLedger, requests: &s.requests, again: func() {
		o.stop()
		s.again(l, s.lead)
	}}
	Accept(l.name, s.upsert(o.term))
	return o
}

// newPools is what an operator decides by.
func (s *poolSystem) newPools() (cilium.Pools, error) {
	if s.env.Plan.Cilium.Mode == scenarios.ClusterPool {
		spec := s.spec()
		return cilium.NewClusterPools(cilium.ClusterPoolConfig{IPv4: spec.IPv4, IPv6: spec.IPv6, MaskSize4: spec.MaskSize4, MaskSize6: spec.MaskSize6,
			ReuseDelay: s.env.Plan.ReuseDelay})
	}
	return cilium.NewPoolOperator(cilium.PoolOperatorConfig{ReuseDelay: s.env.Plan.ReuseDelay})
}

// upsert makes the pools what the configuration says.
func (s *poolSystem) upsert(t *cilium.PoolTerm) error {
	for _, p := range s.env.Plan.Cilium.Pools {
		if err := t.Upsert(p.Name, cilium.PoolSpec{IPv4: p.IPv4, MaskSize4: cmp.Or(p.MaskSize, s.plan.PodSubnetOneNodePrefixLen)}); err != nil {
			return err
		}
	}
	return t.Upsert(cilium.DefaultPool, s.spec())
}

func (o *operator) start() {
	o.client = o.env.Cluster.Store.Connect(o.at, o.fromStore)
	o.begin()
}

// stop ends the process.
func (o *operator) stop() {
	if !o.dead {
		o.ciliumTerm.stop()
		o.client.Close()
	}
}

// performLedger makes requests to the store.
func (o *operator) performLedger(e cilium.Effect) {
	switch e := e.(type) {
	case cilium.ReadStart:
		o.store(ledgerCheck, agent.StoreRequest{ID: e.ID, Op: agent.StoreList, Key: ledgerStart})
	case cilium.SetStart:
		r := agent.StoreRequest{ID: e.ID, Op: agent.StoreUpdate, Key: ledgerStart, Value: strconv.FormatUint(e.Version, 10), Revision: e.Revision}
		if e.Revision == 0 {
			r.Op = agent.StoreCreate
		}
		o.store(ledgerBegin, r)
	case cilium.ReadLedger:
		o.store(ledgerRead, agent.StoreRequest{ID: e.ID, Op: agent.StoreList, Key: ledgerPrefix})
	case cilium.AppendEntry:
		*o.requests++
		o.store(ledgerAppend, agent.StoreRequest{ID: e.ID, Op: agent.StoreCreate, Key: ledgerPrefix + cilium.EntryKey(e.Claim.Version), Value: e.Claim.String()})
	case cilium.StrikeEntry:
		o.store(ledgerStrike, agent.StoreRequest{ID: e.ID, Op: agent.StoreDelete, Key: ledgerPrefix + e.Entry.Key, Revision: e.Entry.Revision})
	default:
		panic("controllers: an effect of cilium-operator: " + string(e.AppendText(nil)))
	}
}

func (o *operator) store(name string, r agent.StoreRequest) {
	op := fault.Op{Node: o.kind, Name: name, Key: r.Key}
	o.changes(op)
	o.env.request(request{
		op:     op,
		send:   func() { o.send(func() { o.client.Do(r) }) },
		forget: func() { o.muted = r.ID },
		tell:   func(bool) { o.step(cilium.Stored{ID: r.ID, Why: "no answer"}) },
		die:    o.crash,
	})
}

func (o *operator) fromStore(ev agent.Event) {
	r, ok := ev.(agent.StoreReply)
	if !ok || r.ID == o.muted {
		return
	}
	s := cilium.Stored{ID: r.ID, Revision: r.Revision}
	switch r.Err {
	case agent.StoreOK:
		s.Outcome = ipam.Done
	case agent.StoreConflict:
		s.Outcome = ipam.Conflict
	}
	for _, item := range r.Items {
		if !item.Deleted {
			s.Entries = append(s.Entries, cilium.Entry{Key: strings.TrimPrefix(item.Key, ledgerPrefix), Value: item.Value, Revision: item.ModRevision})
		}
	}
	slices.SortFunc(s.Entries, func(a, b cilium.Entry) int { return strings.Compare(a.Key, b.Key) })
	o.step(s)
}

func (o *operator) pending() string {
	if why := o.term.Pending(); why != "" {
		return o.name + " " + why
	}
	return ""
}
