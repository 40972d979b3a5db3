package sim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/kubectl"
	"github.com/vppdrill/vppdrill/ipam/plan"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/gen"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// deck is an address management system that the product does not have: blocks are cards of a deck, each node is dealt
// one when it joins, and a node that leaves puts its card under the deck. This part would be its package in ipam.
type deck []netip.Prefix

func newDeck(r netip.Prefix, bits int) (d deck) {
	for p := netip.PrefixFrom(r.Addr(), bits); r.Contains(p.Addr()); p = netip.PrefixFrom(space.Last(p).Next(), bits) {
		d = append(d, p)
	}
	return d
}

func (d *deck) deal() (card netip.Prefix, ok bool) {
	if len(*d) == 0 {
		return card, false
	}
	card, *d = (*d)[0], (*d)[1:]
	return card, true
}

// deckBlocks is what the system decides about an agent's block: so many addresses in front are kept from pods.
type deckBlocks struct{ keep int }

func (deckBlocks) Gateway(p netip.Prefix) (netip.Addr, error) { return p.Addr().Next(), nil }

func (s deckBlocks) Own(b *ipam.AddressBlock) (kept, edges []netip.Addr) {
	kept = append(agent.KeptForNAT(b.Prefix), b.Prefix.Addr(), space.Last(b.Prefix))
	for a := b.Gateway; len(kept) < 4+s.keep; a = a.Next() {
		kept = append(kept, a)
	}
	return kept, nil
}

func (deckBlocks) Fill(b *ipam.AddressBlock) ipam.Addresses {
	p, err := space.NewPool(space.PoolConfig{Prefix: b.Prefix})
	if err != nil {
		panic(err)
	}
	return p
}

// deckSection and deckRules are its row of scenarios' table.
type deckSection struct {
	Keep int `yaml:"keep" min:"0" max:"8" doc:"How many addresses in front of each block no pod gets."`
}

type deckRules struct{}

func deckSystem() *scenarios.AddressSystem {
	return &scenarios.AddressSystem{Name: "deck", Section: deckSection{Keep: 2}, Rules: deckRules{}, Planner: deckRules{}, Draws: deckRules{}}
}

func (deckRules) Traits(scenarios.IPAM) scenarios.Traits { return scenarios.Traits{BlockBits: 26} }

func (deckRules) Check(s *scenarios.Scenario, p contiv.Plan) *scenarios.InputError {
	if n := p.PodSubnetOneNodePrefixLen; n > 28 {
		return &scenarios.InputError{Field: "config.ipam.podSubnetOneNodePrefixLen", Message: fmt.Sprintf("a card of /%d has no room", n)}
	}
	return nil
}

func (deckRules) Source(c scenarios.IPAM, b plan.Base) (plan.Source, error) {
	return deckPlan{b, uint64(scenarios.SectionOf[deckSection](c).Keep)}, nil
}

func (deckRules) Draw(d scenarios.Chooser, c *scenarios.IPAM) (sized bool) {
	c.PodSubnetOneNodePrefixLen = scenarios.One(d, "card", 26, 27)
	scenarios.SetSection(c, deckSection{Keep: d.Pick("kept", 3)})
	return true
}

func (deckRules) Life(*scenarios.IPAM, scenarios.PodWiring) int { return 3 }

// deckPlan is what a configuration of it amounts to.
type deckPlan struct {
	plan.Base
	keep uint64
}

func (deckPlan) System() string { return "deck" }

func (p deckPlan) Draft(d *plan.Draft, _ plan.Cluster) error {
	r := plan.Range{Name: p.Keys.Range, Prefix: p.Ranges[0], Purpose: "pods", OneNode: p.BlockBits, Parts: space.SubnetCount(p.Ranges[0], p.BlockBits)}
	d.Ranges = append(d.Ranges, r)
	size := space.Count(netip.PrefixFrom(r.Prefix.Addr(), p.BlockBits))
	d.Node(r.String(), r.Parts, "a card each")
	d.Pod("a card", size-4-p.keep, "what is kept is nobody's")
	d.Reserve("a card", "kept in front", p.keep, "node")
	p.Fabric.Draft(d)
	return nil
}

// readCard reads the system's records of a running cluster, which are objects of a kind of its own.
func readCard(o *audit.Objects, one kubectl.Object) error {
	var spec struct {
		Node, Card string
		Used       map[string]string // pods by address
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	cards, err := kubectl.Prefixes([]string{spec.Card})
	for _, p := range cards {
		o.Hold(spec.Node, p, "card")
	}
	for text, pod := range spec.Used {
		namespace, name, _ := strings.Cut(pod, "/")
		for _, a := range kubectl.Addrs(text) {
			o.Use(a, namespace, name, spec.Node, "card")
		}
	}
	return err
}

// deckDriver has the simulator deal cards. marked puts each card back on top as it is dealt.
type deckDriver struct {
	sim.Still
	env    sim.Env
	deck   deck
	cards  map[string]netip.Prefix
	marked bool
}

func driveDeck(marked bool) map[scenarios.System]sim.Driver {
	return map[scenarios.System]sim.Driver{"deck": func(env sim.Env) (sim.System, error) {
		p, err := env.Plan.Plan()
		return &deckDriver{env: env, deck: newDeck(p.PodSubnet, p.PodSubnetOneNodePrefixLen), cards: map[string]netip.Prefix{}, marked: marked}, err
	}}
}

func (d *deckDriver) Allocator(string) (ipam.NodeAllocator, error) {
	keep := scenarios.SectionOf[deckSection](d.env.Plan).Keep
	return ipam.NewBlockLedger(ipam.BlockLedgerConfig{System: deckBlocks{keep}}), nil
}

func (d *deckDriver) Join(node string) error {
	card, ok := d.deck.deal()
	if !ok {
		return errors.New("no card is left")
	}
	if d.marked {
		d.deck = slices.Insert(d.deck, 0, card)
	}
	d.cards[node] = card
	d.env.Assigned(node, []netip.Prefix{card})
	return nil
}

func (d *deckDriver) Leave(node string) {
	d.deck = append(d.deck, d.cards[node])
	delete(d.cards, node)
}

func (d *deckDriver) Blocks(node string) ([]netip.Prefix, bool) {
	return []netip.Prefix{d.cards[node]}, d.cards[node].IsValid()
}

func (d *deckDriver) FreeBlock() bool { return len(d.deck) > 0 }

const deckScenario = `# Nodes are dealt cards, come and go, and restart.
name: dealt
topology: {nodes: 3, podsPerNode: 2}
config:
  ipam: {podSubnetCIDR: 10.1.0.0/22, system: deck, deck: {keep: 3}}
timeline:
  - {at: 5s, do: create-pods, count: 9}
  - {at: 20s, do: restart-agent, node: node-1}
  - {at: 30s, do: add-node}
  - {at: 40s, do: remove-node, node: node-2}
  - {when: settled, do: restart-vpp, node: node-3}
  - {do: create-pods, count: 3}
`

// Goal: an address management system is a package, a row of scenarios' table, a driver of the simulator and a reader of
// its records, and nothing else knows its name. Method: one that the tree does not have, which stands in this file
// alone: its settings are read as strictly as any, it is planned, drawn, run, and its records are audited; and a driver
// that deals a card twice is caught.
func TestNewSystem(t *testing.T) {
	reader := scenarios.Reader{Systems: []*scenarios.AddressSystem{deckSystem()}}
	s, err := reader.Parse("dealt.yaml", []byte(deckScenario))
	if err != nil {
		t.Fatal(err)
	}
	var last fact.Snapshot
	run := func(t *testing.T, s *scenarios.Scenario, marked bool) result.Result {
		r, err := sim.Run(context.Background(), s, sim.Options{Seed: 1, Laws: check.All(), Systems: driveDeck(marked), AtEnd: func(at fact.Snapshot) { last = at }})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}

	t.Run("file", func(t *testing.T) {
		again, err := reader.Parse("dealt.yaml", s.Marshal())
		if err != nil || !s.Equal(again) || !bytes.Contains(s.Marshal(), []byte("keep: 3")) {
			t.Errorf("%v, written as\n%s", err, s.Marshal())
		}
		for _, wrong := range [][3]string{
			{"keep: 3", "keeps: 3", `dealt.yaml:5:59: config.ipam.deck: unknown field "keeps"; did you mean "keep"?`},
			{"keep: 3", "keep: 9", "dealt.yaml:5:65: config.ipam.deck.keep: 9 is more than 8"},
			{"deck: {", "dek: {", `dealt.yaml:5:52: config.ipam: unknown field "dek"; did you mean "deck"?`},
			{"system: deck", "system: deckk", `dealt.yaml:5:46: config.ipam.system: "deckk" is not one of contiv, nodeipam, cilium, datastore, calico, deck; did you mean "deck"?`},
			{"system: deck", "system: contiv", "dealt.yaml:5:67: config.ipam.deck.keep: is of deck, and changes nothing here: remove it"},
			{"system: deck", "system: deck, podSubnetOneNodePrefixLen: 29", "dealt.yaml:5:79: config.ipam.podSubnetOneNodePrefixLen: a card of /29 has no room"},
			{"{do: create-pods", "{do: add-range, cidr: 10.1.0.0/24}\n  - {do: create-pods", "dealt.yaml:12:10: timeline[5].do: deck keeps the ranges that it starts with"},
		} {
			if _, err := reader.Parse("dealt.yaml", []byte(strings.Replace(deckScenario, wrong[0], wrong[1], 1))); err == nil || err.Error() != wrong[2] {
				t.Errorf("%s: %v, want %s", wrong[1], err, wrong[2])
			}
		}
	})
	t.Run("plan", func(t *testing.T) {
		source, err := s.Config.IPAM.PlanSource(plan.Base{Ranges: []netip.Prefix{s.Config.IPAM.PodSubnetCIDR.Prefix}, BlockBits: 26, Keys: plan.Keys{Range: "podSubnetCIDR"}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Make(source, plan.Cluster{Nodes: 17})
		if err != nil || p.Nodes != 16 || p.PodsPerNode != 64-4-3 || p.Worst() != plan.Error {
			t.Errorf("%v, %+v", err, p)
		}
	})
	t.Run("run and audit", func(t *testing.T) {
		if r := run(t, s, false); r.Verdict != result.Pass || len(last.Nodes) != 3 {
			t.Fatalf("%s: %s", r.Verdict, r.Error)
		}
		if r := auditDeck(t, last); r.Broken() || r.Judged[audit.LawLeak] != r.Pods || r.Pods < 9 || r.Judged[audit.LawOverlap] == 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("dealt twice", func(t *testing.T) {
		r := run(t, s, true)
		if r.Failure == nil || r.Failure.Law != "grants-disjoint" {
			t.Fatalf("%s: %s", r.Verdict, r.Error)
		}
		if r := auditDeck(t, last); !slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return f.Law == audit.LawOverlap }) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("random", func(t *testing.T) {
		profile, err := gen.Tiny().Of(deckSystem())
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(20) {
			s := gen.Draw(engine.Seeded(seed), profile, fmt.Sprint("deck-", seed))
			if r := run(t, s, false); r.Verdict != result.Pass || s.Config.IPAM.System != "deck" {
				t.Errorf("seed %d: %s: %s\n%s", seed, r.Verdict, r.Error, s.Marshal())
			}
		}
	})
	t.Run("what it has not", func(t *testing.T) {
		bare := &scenarios.AddressSystem{Name: "bare", Rules: deckRules{}}
		_, err := gen.Tiny().Of(bare)
		c := scenarios.DefaultConfig().IPAM
		c.Use(bare)
		_, noPlan := c.PlanSource(plan.Base{})
		bareScenario := scenarios.Default()
		bareScenario.Config.IPAM.Use(bare)
		_, noDriver := sim.New(&bareScenario, sim.Options{Seed: 1})
		for _, e := range [][2]any{{err, `random scenarios have no system "bare"`}, {noPlan, `no address plan is made of system "bare"`}, {noDriver, `the simulator drives no system "bare"`}} {
			if fmt.Sprint(e[0]) != e[1] {
				t.Errorf("%v, want %v", e[0], e[1])
			}
		}
	})
}

// auditDeck audits what the cluster shows: its nodes, its pods and its cards.
func auditDeck(t *testing.T, s fact.Snapshot) audit.Report {
	o := audit.Objects{Readers: map[string]audit.Reader{"Card": readCard}}
	show := func(format string, args ...any) {
		if err := o.Parse("cluster", fmt.Appendf(nil, format, args...)); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range s.Nodes {
		var used []string
		show(`{"kind": "Node", "metadata": {"name": %q}}`, n.Name)
		if n.Leases != nil {
			for l := range n.Leases() {
				used = append(used, fmt.Sprintf("%q: %q", l.Addr, "default/"+l.Owner.ContainerID))
				show(`{"kind": "Pod", "metadata": {"namespace": "default", "name": %q}, "spec": {"nodeName": %q}, "status": {"podIP": %q}}`, l.Owner.ContainerID, n.Name, l.Addr)
			}
		}
		for _, b := range n.Assigned {
			show(`{"kind": "Card", "metadata": {"name": %q}, "spec": {"node": %q, "card": %q, "used": {%s}}}`, n.Name, n.Name, b.Prefix, strings.Join(used, ", "))
		}
	}
	return audit.Judge(&o)
}
