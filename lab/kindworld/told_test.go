package kindworld

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
)

// lookOf is a look written down: sandboxes as "a=10.1.1.2" or "a=10.1.1.2,fd00::2", "a-" for one that ended, "a" for
// one without an address yet, before a bar, and the agent's leases behind it, "a:2=fd00::2" for a second address, ""
// for no agent; "life2" is another life of the agent.
func lookOf(t *testing.T, text string) seen {
	t.Helper()
	boxes, agent, there := strings.Cut(text, "|")
	var s seen
	for _, word := range strings.Fields(boxes) {
		id, addr, _ := strings.Cut(word, "=")
		x := sandbox{id: strings.TrimSuffix(id, "-"), ready: !strings.HasSuffix(id, "-"), netns: "/run/netns/" + id}
		x.pod, x.uid = "default/"+x.id, "uid-"+x.id
		for _, one := range strings.FieldsFunc(addr, func(r rune) bool { return r == ',' }) {
			x.addrs = append(x.addrs, netip.MustParseAddr(one))
		}
		s.sandboxes = append(s.sandboxes, x)
	}
	if !there {
		return s
	}
	four, six := netip.MustParsePrefix("10.1.1.0/24"), netip.MustParsePrefix("fd00::/64")
	s.agent = &rest.State{ID: 1, Address: netip.MustParsePrefix("192.168.16.1/24"), Life: time.Unix(1, 0), Blocks: []ipam.Block{{Prefix: four}, {Prefix: six}}}
	for _, word := range strings.Fields(agent) {
		if n := 0; strings.HasPrefix(word, "life") {
			_, _ = fmt.Sscanf(word, "life%d", &n)
			s.agent.Life = time.Unix(int64(n), 0)
			continue
		}
		id, addr, _ := strings.Cut(word, "=")
		owner, block := ownerOf(strings.TrimSuffix(id, ":2")), four
		if strings.HasSuffix(id, ":2") {
			owner, block = owner.Second(), six
		}
		s.agent.Leases = append(s.agent.Leases, ipam.Lease{Owner: owner, Addr: netip.MustParseAddr(addr), Block: block})
	}
	return s
}

var words = map[reflect.Type]string{
	reflect.TypeFor[fact.Leased](): "leased", reflect.TypeFor[fact.Released](): "released", reflect.TypeFor[fact.Answered](): "answered",
	reflect.TypeFor[fact.Deleted](): "deleted", reflect.TypeFor[fact.SandboxGone](): "gone", reflect.TypeFor[fact.AgentUp](): "up",
	reflect.TypeFor[fact.AgentDown](): "down", reflect.TypeFor[fact.Asked](): "asked", reflect.TypeFor[fact.NodeID](): "id",
	reflect.TypeFor[fact.NodeBlocks](): "blocks", reflect.TypeFor[fact.Addressed](): "addressed",
}

// Goal: looks become facts in an order in which they can have happened, what a later look explains is waited for, and
// what no look explains is told in the end. Method: stories of looks with the facts of each; laws watch the ones that
// are whole.
func TestLooksBecomeFacts(t *testing.T) {
	for name, story := range map[string]struct {
		looks  []string // a look, and behind "->" the facts
		broken string
	}{
		"a pod comes and goes": {looks: []string{
			"| -> up id blocks addressed", "a| -> ", "a|a=10.1.1.2 -> asked a leased a", "a=10.1.1.2|a=10.1.1.2 -> answered a", "a-=10.1.1.2|a=10.1.1.2 -> gone a", "| -> released a"}},
		"all of it between two looks": {looks: []string{
			"| -> up id blocks addressed", "a=10.1.1.2|a=10.1.1.2 -> asked a leased a answered a", "b=10.1.1.2|b=10.1.1.2 -> released a deleted a gone a asked b leased b answered b"}},
		"the runtime was looked at a moment too early": {looks: []string{
			"a=10.1.1.2|a=10.1.1.2 -> up id blocks addressed asked a answered a", "a=10.1.1.2| -> ", "| -> released a deleted a gone a"}},
		"a pod of two families, told in another order than leased": {looks: []string{
			"| -> up id blocks addressed", "a=fd00::2,10.1.1.2|a=10.1.1.2 a:2=fd00::2 -> asked a leased a leased a:2 answered a answered a:2",
			"a-|a=10.1.1.2 a:2=fd00::2 -> gone a gone a:2", "| -> released a released a:2"}},
		"the same, of which a second address is given back that is used": {looks: []string{
			"a=fd00::2,10.1.1.2|a=10.1.1.2 a:2=fd00::2 -> up id blocks addressed asked a answered a answered a:2", "a=fd00::2,10.1.1.2|a=10.1.1.2 -> ",
			"a=fd00::2,10.1.1.2|a=10.1.1.2 -> ", "a=fd00::2,10.1.1.2|a=10.1.1.2 -> ", "a=fd00::2,10.1.1.2|a=10.1.1.2 -> released a:2",
			"a=fd00::2,10.1.1.2 b=10.1.1.3,fd00::2|a=10.1.1.2 b=10.1.1.3 b:2=fd00::2 -> asked b leased b leased b:2 answered b answered b:2"}, broken: "one-owner"},
		"a second address is given back that is used": {looks: []string{
			"a=10.1.1.2,fd00::2|a=10.1.1.2 a:2=fd00::2 -> up id blocks addressed asked a answered a answered a:2", "a=10.1.1.2,fd00::2|a=10.1.1.2 -> ",
			"a=10.1.1.2,fd00::2|a=10.1.1.2 -> ", "a=10.1.1.2,fd00::2|a=10.1.1.2 -> ", "a=10.1.1.2,fd00::2|a=10.1.1.2 -> released a:2",
			"a=10.1.1.2,fd00::2 b=10.1.1.3,fd00::2|a=10.1.1.2 b=10.1.1.3 b:2=fd00::2 -> asked b leased b leased b:2 answered b answered b:2"}, broken: "one-owner"},
		"an agent restarts": {looks: []string{
			"a=10.1.1.2 b=10.1.1.3|a=10.1.1.2 b=10.1.1.3 -> up id blocks addressed asked a answered a asked b answered b", "a=10.1.1.2 b=10.1.1.3 -> ",
			"a=10.1.1.2|life2 a=10.1.1.2 -> deleted b gone b down released b up id blocks"}},
		"an agent forgets": {looks: []string{
			"a=10.1.1.2|a=10.1.1.2 -> up id blocks addressed asked a answered a", "a=10.1.1.2|life2 -> down up id blocks"}, broken: "add-not-forgotten"},
		"an agent gives an address back that is used": {looks: []string{
			"a=10.1.1.2|a=10.1.1.2 -> up id blocks addressed asked a answered a", "a=10.1.1.2| -> ", "a=10.1.1.2| -> ", "a=10.1.1.2| -> ", "a=10.1.1.2| -> released a",
			"a=10.1.1.2|b=10.1.1.2 -> leased b", "a=10.1.1.2 b=10.1.1.2|b=10.1.1.2 -> asked b answered b"}, broken: "one-owner"},
	} {
		t.Run(name, func(t *testing.T) {
			judge := map[string]fact.Watcher{}
			for _, l := range check.All() {
				if l.Watch != nil && len(l.Missing(Evidence())) == 0 {
					judge[l.Name] = l.Watch()
				}
			}
			broken := map[string]bool{}
			node := newTold("node-1")
			record := fact.RecordChange{ID: 1, After: fact.NodeRecord{Name: "node-1", UID: "u1"}, Blocks: []netip.Prefix{netip.MustParsePrefix("10.1.1.0/24"), netip.MustParsePrefix("fd00::/64")}}
			for _, w := range judge { // in any order: each by itself
				_ = w.Observe(&fact.Fact{Node: "node-1", What: record}) // the node writes it first
			}
			for i, line := range story.looks {
				look, want, _ := strings.Cut(line, "->")
				var have []string
				for _, f := range node.look(lookOf(t, strings.TrimSpace(look))) {
					word, owner := words[reflect.TypeOf(f.What)], fact.OwnerOf(f.What)
					if owner.ContainerID != "" {
						word += " " + owner.ContainerID
					}
					if _, second := owner.First(); second {
						word += ":2"
					}
					have = append(have, word)
					for law, w := range judge { // in any order: each by itself
						if w.Observe(&f) != nil {
							broken[law] = true
						}
					}
				}
				if got := strings.Join(have, " "); got != strings.TrimSpace(want) {
					t.Errorf("look %d: %q, want %q", i, got, strings.TrimSpace(want))
				}
			}
			if story.broken == "" && len(broken) > 0 || story.broken != "" && !broken[story.broken] {
				t.Errorf("broken: %v, want %q", broken, story.broken)
			}
		})
	}
}

// Goal: what a later look explains is waited for no longer. Method: a pod whose lease is seen to go before its sandbox,
// and one whose sandbox has its address before its lease is seen.
func TestExplainedIsNotAwaited(t *testing.T) {
	node := newTold("node-1")
	for _, look := range []string{"|", "a=10.1.1.2|a=10.1.1.2", "a=10.1.1.2|", "|", "b=10.1.1.3|", "b=10.1.1.3|b=10.1.1.3"} {
		node.look(lookOf(t, look))
		if waits := strings.HasSuffix(look, "=10.1.1.2|") || strings.HasSuffix(look, "=10.1.1.3|"); waits != (len(node.waits) > 0) {
			t.Errorf("after %q it waits for %v", look, node.waits)
		}
	}
}

// Goal: a machine that has lost its power is told of no more, and what its agent reads back afterwards is.
func TestPowerGoes(t *testing.T) {
	node := newTold("node-1")
	node.look(lookOf(t, "a=10.1.1.2|a=10.1.1.2"))
	node.gone()
	if len(node.pods()) > 0 {
		t.Error(node.pods())
	}
	facts := node.look(lookOf(t, "a-=10.1.1.2|life2 a=10.1.1.2"))
	if len(facts) == 0 {
		t.Fatal("nothing is told")
	}
	if up, ok := facts[0].What.(fact.AgentUp); !ok || len(up.Leases) != 1 {
		t.Errorf("%+v", facts)
	}
	node.gone()
	facts = node.look(lookOf(t, "b=10.1.1.3|life3 b=10.1.1.3"))
	if len(facts) < 2 || words[reflect.TypeOf(facts[0].What)] != "released" || fact.OwnerOf(facts[0].What) != ownerOf("a") || words[reflect.TypeOf(facts[1].What)] != "up" {
		t.Errorf("%+v", facts)
	}
}

// Goal: containerd's verbose answer names the namespace; what is no such answer names none.
func TestNetnsOf(t *testing.T) {
	const said = `{"pid": 7, "runtimeSpec": {"linux": {"namespaces": [{"type": "pid"}, {"type": "network", "path": "/var/run/netns/cni-1"}]}}}`
	if have := netnsOf(said); have != "/var/run/netns/cni-1" {
		t.Error(have)
	}
	for _, other := range []string{"", "{", "{}"} {
		if have := netnsOf(other); have != "" {
			t.Errorf("%q: %q", other, have)
		}
	}
}
