package timeline

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/choice"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// ErrNoTarget: an action names no node, pod or process that it could act on.
var ErrNoTarget = errors.New("nothing to act on")

// Player interprets actions for one World.
type Player struct {
	world   World
	s       *scenarios.Scenario
	chooser choice.Chooser
	// plan is the address plan in force, blocks how many pod CIDRs an external plugin's controller has given out.
	plan   scenarios.IPAM
	blocks uint32
	// named are all nodes that ever joined; podsMade numbers pods that actions create.
	named    map[string]bool
	podsMade int
	// done counts the actions of each verb; turn names the present one, for its draws.
	done   map[string]int
	turn   string
	heals  heals
	healed bool
	// cordoned nodes get no pods from the scheduler. heirs are what evicted pods were made again as.
	cordoned map[string]bool
	heirs    map[string]string
	// leaving are nodes whose objects are deleted and stay behind finalizers, each with the number of the action that deleted it.
	leaving map[string]int
	// unregistered are nodes whose machine lives without a Node object, each with the number of the action that deleted it.
	unregistered map[string]int
	// renamed are nodes whose machine is, or will be, another node, each with the number of the action that renamed it.
	renamed map[string]int
	evicted int
	// paused counts what stands still of each node.
	paused map[string]int
	// services are those that there are.
	services map[string]bool
	// policies are those that there are.
	policies map[string]bool
	// owed counts nodes' collections of garbage that are still to succeed.
	owed map[string]int
	// swept are nodes of which one has succeeded while faults were active: it is done again once all is healed, and nobody waits until then.
	swept map[string]bool
	// setBack is by how much nodes' clocks were set back since they lost sandboxes.
	setBack map[string]time.Duration
	// given are the addresses that nodes were given by the timeline.
	given map[string]netip.Addr
	// damaged is wiring that was broken by hand.
	damaged []damage
	// looks is how often runtimes are still to look for namespaces that went under an ADD.
	looks int
}

// New returns a Player of s, for a world in which nothing has happened. The seed's choices come from c.
func New(w World, s *scenarios.Scenario, c choice.Chooser) *Player {
	return &Player{world: w, s: s, chooser: c, plan: s.Config.IPAM, named: map[string]bool{}, paused: map[string]int{}, cordoned: map[string]bool{}, heirs: map[string]string{}, owed: map[string]int{}, swept: map[string]bool{}, setBack: map[string]time.Duration{}, done: map[string]int{}, services: map[string]bool{}, policies: map[string]bool{}, given: map[string]netip.Addr{}, unregistered: map[string]int{}, renamed: map[string]int{}, leaving: map[string]int{}}
}

// action is one verb: what it needs and how it is done.
type action struct {
	verb string
	need func(scenarios.Action) []Need
	do   func(*Player, context.Context, scenarios.Action) error
}

// actions lists every verb but settle and heal, which result.Run does itself.
var actions = []action{
	onWhere((*Player).createPods, createPodsNeed),
	on((*Player).deletePods),
	on((*Player).replaceSandbox),
	on((*Player).loseSandboxes, ForgetfulRuntimes),
	on((*Player).repeatDel),
	on((*Player).checkPods),
	on((*Player).pollStatus),
	on((*Player).gc),
	onWhere((*Player).breakWiring, append(breakWiringNeeds, always[scenarios.BreakWiring](Dataplane))...),

	on((*Player).killPlugin, PluginPrograms),
	on((*Player).killRuntime, PluginPrograms),
	on((*Player).fillDisk, PluginPrograms),
	on((*Player).loseState, PluginPrograms),

	on((*Player).addNode),
	onWhere((*Player).removeNode, removeNodeNeed),
	on((*Player).unregisterNode, NodeObjects, Dataplane),
	on((*Player).renameNode, NodeNames, Dataplane),
	on((*Player).crashNode),
	on((*Player).crashDisk, UnsyncedWrites),
	on((*Player).rebootNode),
	on((*Player).recreateNode),
	on((*Player).rollNodes),
	on((*Player).cordonNode),
	on((*Player).uncordonNode),
	on((*Player).drainNode),

	on((*Player).killAgent, AgentAndVPP),
	on((*Player).restartAgent, AgentAndVPP),
	on((*Player).changeVersion, AgentAndVPP, OtherVersions),
	on((*Player).killVPP, AgentAndVPP, Dataplane),
	on((*Player).restartVPP, AgentAndVPP, Dataplane),
	on((*Player).restartBoth, AgentAndVPP, Dataplane),
	on((*Player).pauseAgent, AgentAndVPP, PausedPrograms),
	on((*Player).pauseVPP, AgentAndVPP, Dataplane, PausedPrograms),
	on((*Player).pauseKubelet),
	on((*Player).setClock, OwnClocks),

	on((*Player).stopStore, AgentAndVPP),
	on((*Player).stopDHCP, DHCPServer),
	on((*Player).compactStore, AgentAndVPP),
	on((*Player).wipeStore, AgentAndVPP),
	on((*Player).stopAPI),
	on((*Player).staleWatch, WatchDelivery),
	on((*Player).gapWatch, WatchGaps),
	on((*Player).duplicateWatch, WatchDelivery),

	on((*Player).changeCIDR),
	on((*Player).addRange, CIDRControllers),
	on((*Player).removeRange, CIDRControllers, RetiredRanges),
	on((*Player).restartController, LeadingController),
	onWhere((*Player).loseLeader, loseLeaderNeed),
	on((*Player).setPodCIDR, GivenPodCIDRs),
	on((*Player).changeNodeAddress, GivenAddresses, Dataplane),
	on((*Player).changeManagement, GivenAddresses, Dataplane),

	on((*Player).changeService, ServiceFeed, Dataplane),
	on((*Player).removeService, ServiceFeed, Dataplane),
	on((*Player).setReady, ServiceFeed, Dataplane),

	on((*Player).changePolicy, PolicyFeed, Dataplane),
	on((*Player).removePolicy, PolicyFeed, Dataplane),
	on((*Player).labelPods, PolicyFeed, Dataplane),
	on((*Player).labelNamespace, PolicyFeed, Dataplane),

	on((*Player).claimAddress, Strangers, Dataplane),
	onWhere((*Player).partition, partitionNeed, always[scenarios.Partition](CutLinks)),
	onWhere((*Player).slowLink, slowLinkNeed),

	onWhere((*Player).inject, strikes(AgentCalls), strikes(WatchDelivery), strikes(ControllerCalls)),
}

// on is an action that always needs the same; the first need that a world lacks is the reason of its refusal.
func on[A scenarios.Action](do func(*Player, context.Context, A) error, needs ...Need) action {
	var list []func(A) Need
	for _, n := range needs {
		list = append(list, always[A](n))
	}
	return onWhere(do, list...)
}

// always is a need whatever an action's arguments are.
func always[A scenarios.Action](n Need) func(A) Need { return func(A) Need { return n } }

// onWhere is an action whose arguments decide what it needs.
func onWhere[A scenarios.Action](do func(*Player, context.Context, A) error, needs ...func(A) Need) action {
	var zero A
	return action{
		verb: zero.Verb(),
		need: func(a scenarios.Action) (list []Need) {
			for _, need := range needs {
				list = append(list, need(a.(A)))
			}
			return list
		},
		do: func(p *Player, ctx context.Context, a scenarios.Action) error { return do(p, ctx, a.(A)) },
	}
}

// Do performs an action: it returns when it has begun. What the world lacks is result.ErrUnsupported, what makes no sense
// here and now another error.
func (p *Player) Do(ctx context.Context, a scenarios.Action) error {
	i := slices.IndexFunc(actions, func(x action) bool { return x.verb == a.Verb() })
	if i < 0 {
		return fmt.Errorf("%s: %w", a.Verb(), result.ErrUnsupported)
	}
	if why := p.Refusal(a); why != "" {
		return fmt.Errorf("%s: %w: %s", a.Verb(), result.ErrUnsupported, why)
	}
	p.done[a.Verb()]++
	p.turn = "timeline " + a.Verb() + " " + strconv.Itoa(p.done[a.Verb()])
	switch a.(type) {
	case scenarios.RestartAgent, scenarios.ChangeVersion, scenarios.KillAgent: // the agent's end tells whether it was a clean one
	default:
		p.disturbed(a.Verb())
	}
	return actions[i].do(p, ctx, a)
}

// Refusal is why this world cannot do an action, "" where it can.
func (p *Player) Refusal(a scenarios.Action) string { return Lacking(a, p.world.Lacks()).String() }

// disturbed tells that something begins which changes what nodes should look like.
func (p *Player) disturbed(by string) {
	p.world.Tell(fact.Fact{What: fact.Disturbed{By: by, Owner: ipam.Owner{}}})
}

// Heal ends every fault: what has an end that is still to come ends now, in the order of the beginnings; then links and
// servers are as usual, everything starts that is down, runtimes notice what was broken by hand, and no node is cordoned.
func (p *Player) Heal() error {
	p.healed = true
	p.heals.all()
	if err := p.world.Restore(); err != nil {
		return err
	}
	for _, m := range p.world.Machines() {
		p.world.Release(m.Name)
	}
	p.Notice()
	return p.uncordonAll()
}

// Healed reports that nothing may be down any more.
func (p *Player) Healed() bool { return p.healed }

// Plan is the address plan in force.
func (p *Player) Plan() scenarios.IPAM { return p.plan }

// SetScenario makes another scenario that of a standing lab: what joins from now on is as it says.
func (p *Player) SetScenario(s *scenarios.Scenario) { p.s = s }

func living(m Machine) bool  { return m.On }
func present(m Machine) bool { return true }

// machines are those for which an action makes sense, node-2 before node-10.
func (p *Player) machines(sensible func(Machine) bool) []Machine {
	list := slices.DeleteFunc(p.world.Machines(), func(m Machine) bool { return !sensible(m) })
	slices.SortFunc(list, func(a, b Machine) int { return fact.CompareNames(a.Name, b.Name) })
	return list
}

// targets resolves a node reference among the machines for which an action makes sense.
func (p *Player) targets(ref scenarios.NodeRef, verb string, sensible func(Machine) bool) ([]string, error) {
	var all []string
	for _, m := range p.machines(sensible) {
		all = append(all, m.Name)
	}
	switch {
	case len(all) == 0:
	case ref == scenarios.AllNodes:
		return all, nil
	case ref == scenarios.AnyNode || ref == "":
		i := p.pick("node", len(all))
		return all[i : i+1], nil
	case slices.Contains(all, string(ref)):
		return []string{string(ref)}, nil
	}
	return nil, fmt.Errorf("%s: %w: node %s", verb, ErrNoTarget, ref)
}

// each does something on every node that ref names, in name order.
func (p *Player) each(ref scenarios.NodeRef, verb string, sensible func(Machine) bool, do func(node string) error) error {
	list, err := p.targets(ref, verb, sensible)
	if err != nil {
		return err
	}
	for _, node := range list {
		if err := do(node); err != nil {
			return fmt.Errorf("%s %s: %w", verb, node, err)
		}
	}
	return nil
}

// pick draws for the action under way. Each action draws from streams of its own, named after its verb and how many of that verb
// came before: what one action draws depends neither on how much others drew nor on what a world draws for itself, and taking an
// action of another verb out of a timeline changes no other.
func (p *Player) pick(label string, n int) int { return p.chooser.Pick(p.turn+" "+label, n) }

// fail ends the run with what a planned thing could not do.
func (p *Player) fail(err error) {
	if err != nil {
		p.world.Fail(err)
	}
}

// later does something d from now, or when everything is healed where that comes first.
func (p *Player) later(d time.Duration, what string, do func()) {
	h := p.heals.add(do, true)
	p.world.After(d, what, func() { p.heals.run(h) })
}

// until ends a fault after d, or when everything is healed when d is 0.
func (p *Player) until(d time.Duration, what string, end func()) {
	if d > 0 {
		p.later(d, what, end)
		return
	}
	p.heals.add(end, false)
}
