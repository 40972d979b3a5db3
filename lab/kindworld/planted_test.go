package kindworld

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// cluster is one of two nodes without machines, whose looks are written down. Facts come out of the code that a real
// one tells them by.
type cluster struct {
	t       *testing.T
	told    [2]*told
	records records
	data    string
	stored  []nodeid.Record
	given   [2][]netip.Prefix
	deaths  deaths
	refused refusals
	now     time.Duration
	watcher fact.Watcher
	broken  error
}

func newCluster(t *testing.T, law fact.Law) *cluster {
	c := &cluster{t: t, told: [2]*told{newTold("node-1"), newTold("node-2")}, data: "data", deaths: deaths{}, refused: refusals{}}
	for _, n := range c.told {
		n.rest = time.Minute
	}
	c.given = [2][]netip.Prefix{prefixes("10.1.1.0/24", "fd00::/64"), prefixes("10.1.2.0/24", "fd00:100::/64")}
	if law.Watch != nil {
		c.watcher = law.Watch()
	}
	return c
}

func (c *cluster) tell(facts ...fact.Fact) {
	for _, f := range facts {
		if f.At = c.now; c.watcher != nil && c.broken == nil {
			c.broken = c.watcher.Observe(&f)
		}
	}
}

// look is one at a node: see lookOf. Node 2 has ID 2 and other blocks and addresses, written as those of node 1.
func (c *cluster) look(node int, text string) {
	c.now += 400 * time.Millisecond
	s := lookOf(c.t, text)
	s.at, s.given = c.now, c.given[node-1]
	if a := s.agent; a != nil && node == 2 {
		a.ID, a.Address = 2, netip.MustParsePrefix("192.168.16.2/24")
		for i := range a.Blocks {
			a.Blocks[i].Prefix = moved(a.Blocks[i].Prefix)
		}
		for i := range a.Leases {
			a.Leases[i].Block = moved(a.Leases[i].Block)
		}
	}
	c.tell(c.told[node-1].look(s)...)
}

// moved is the block of node 2 that is as the one of node 1.
func moved(p netip.Prefix) netip.Prefix {
	b := p.Addr().AsSlice()
	b[2]++
	a, _ := netip.AddrFromSlice(b) // it is as long as before
	return netip.PrefixFrom(a, p.Bits())
}

// gives is a look at a node that controllers have given blocks.
func (c *cluster) gives(node int, blocks ...string) {
	c.given[node-1] = prefixes(blocks...)
	c.look(node, [...]string{"a=10.1.1.2|a=10.1.1.2", "z=10.1.2.2|z=10.1.2.2"}[node-1])
}

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// store is a look at records, which are these.
func (c *cluster) store(list ...nodeid.Record) {
	c.stored = list
	out := []kube.NodeIDRecord{{ObjectMeta: meta.ObjectMeta{Name: "identity", UID: types.UID(c.data)}}}
	for _, r := range list {
		out = append(out, kube.NodeIDRecord{Spec: kube.NodeIDRecordSpec{Key: r.Key(), Record: r.String()}})
	}
	c.tell(c.records.look(out)...)
}

func plantedRecord(id int, name string, blocks ...string) nodeid.Record {
	r := nodeid.Record{ID: uint32(id), Name: name, UID: "uid-" + name}
	for _, b := range blocks {
		r.PodNetworks = append(r.PodNetworks, netip.MustParsePrefix(b))
	}
	return r
}

// agentPod is the pod of node 1's agent whose container has ended with a code.
func agentPod(life, code int) v1.Pod {
	return v1.Pod{Spec: v1.PodSpec{NodeName: "node-1"}, Status: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{
		LastTerminationState: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ContainerID: strconv.Itoa(life), ExitCode: int32(code)}}}}}}
}

// sandboxEvent is a kubelet's event of an ADD that was refused.
func sandboxEvent(id, why string) v1.Event {
	return v1.Event{ObjectMeta: meta.ObjectMeta{UID: types.UID("event-" + id)}, Reason: failedSandbox, Source: v1.EventSource{Host: "node-1"},
		InvolvedObject: v1.ObjectReference{Namespace: "default", Name: id, UID: types.UID("uid-" + id)},
		Message:        fmt.Sprintf("Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox %q: plugin type=\"vppdrill\" name=\"vppdrill\" failed (add): %s", id, why)}
}

// start brings both nodes up with a pod each, as they should be.
func (c *cluster) start() {
	c.tell(fact.Fact{Node: "node-1", What: fact.Disturbed{By: fact.VPPUp}})
	c.store(plantedRecord(1, "node-1", "10.1.1.0/24", "fd00::/64"), plantedRecord(2, "node-2", "10.1.2.0/24", "fd00:100::/64"))
	c.look(1, "|")
	c.look(2, "|")
	c.look(1, "a=10.1.1.2|a=10.1.1.2")
	c.look(2, "z=10.1.2.2|z=10.1.2.2")
}

// onMachines are the laws about dumps: TestPlantedOnVPP and TestPlantedOnServices of package lab break them by the code
// that looks here too.
var onMachines = map[string]bool{"reachable": true, "books-agree": true, "tunnels-symmetric": true, "senders-bound": true, "host-routes": true, "routes-needed": true,
	"packets-fit": true, "services-reached": true, "as-configured": true, result.LawSettles: true}

// Goal: each law that a cluster judges can be broken in one. Method: looks that lie, one lie for each law; the law must
// break by the lie, must have found something to judge, and must hold without it.
func TestPlanted(t *testing.T) {
	blocks := []string{"10.1.1.0/24", "fd00::/64"}
	snapshot := func(change func(*fact.Snapshot)) func(*cluster) {
		return func(c *cluster) {
			n := fact.NodeState{Name: "node-1", UID: "uid-node-1", ID: 1, MachineUp: true, AgentUp: true, VPPUp: true, Pods: c.told[0].pods()}
			lab.Claim(&n, lookOf(c.t, "|a=10.1.1.2").agent, (&World{}).agents.Mode())
			s := fact.Snapshot{At: c.now, Settled: true, Nodes: []fact.NodeState{n, {Name: "node-2", UID: "uid-node-2"}}}
			s.HeldIDs, _, _, _ = c.records.held.List(1)
			change(&s)
			law, _ := check.ByName(strings.TrimPrefix(c.t.Name(), "TestPlanted/"))
			_, c.broken = law.Check(s)
		}
	}
	lies := map[string]struct{ truth, lie func(*cluster) }{
		"one-owner":         {lie: func(c *cluster) { c.look(2, "z=10.1.2.2 y=10.1.1.2|z=10.1.2.2 y=10.1.1.2") }},
		"lease-in-range":    {lie: func(c *cluster) { c.look(1, "a=10.1.1.2|a=10.1.1.2 b=10.9.9.9") }},
		"node-ids-disjoint": {lie: func(c *cluster) { c.tell(fact.Fact{Node: "node-2", What: fact.NodeID{ID: 1}}) }},
		"node-ids-rest": {lie: func(c *cluster) {
			c.tell(fact.Fact{Node: "node-2", What: fact.NodeGone{Left: true, Rest: least(time.Minute)}})
			c.store(c.stored[0])
			c.tell(fact.Fact{Node: "node-3", What: fact.NodeID{ID: 2}})
		}},
		"records-owned": {lie: func(c *cluster) { c.store(c.stored[0], plantedRecord(2, "node-3")) }},
		"records-exclusive": {lie: func(c *cluster) {
			c.store(plantedRecord(1, "node-1", append(blocks, "10.1.2.0/24")...), c.stored[1])
			c.tell(fact.Fact{What: fact.Quiet{}})
		}},
		"ids-returned": {truth: snapshot(func(*fact.Snapshot) {}), lie: snapshot(func(s *fact.Snapshot) {
			s.HeldIDs = append(s.HeldIDs, fact.HeldID{ID: 7, Name: "node-7", UID: "uid-node-7"})
		})},
		"pods-served": {lie: snapshot(func(s *fact.Snapshot) { s.Nodes[0].Waiting = 1 })},
		"address-stable": {lie: func(c *cluster) {
			for range patience {
				c.look(1, "a=10.1.1.2|a=10.1.1.3")
			}
		}},
		"same-answer": {truth: func(c *cluster) { c.tell(c.refused.look([]v1.Event{sandboxEvent("b", "no address is free")})...) },
			lie: func(c *cluster) {
				c.tell(fact.Fact{Node: "node-1", What: fact.DelRefused{Owner: ownerOf("gone"), Why: "unknown container"}})
			}},
		"address-rests": {
			truth: func(c *cluster) {
				c.look(1, "|")
				c.now += time.Minute
				c.look(1, "b=10.1.1.2|b=10.1.1.2")
			},
			lie: func(c *cluster) {
				c.look(1, "|")
				c.look(1, "c=10.1.1.2|c=10.1.1.2")
			}},
		"add-not-forgotten": {truth: func(c *cluster) { c.look(1, "a=10.1.1.2|life2 a=10.1.1.2") }, lie: func(c *cluster) { c.look(1, "a=10.1.1.2|life3") }},
		"restarts-remember": {truth: func(c *cluster) { c.look(1, "a=10.1.1.2|life2 a=10.1.1.2") }, lie: func(c *cluster) { c.look(1, "a=10.1.1.2|life3") }},
		"one-sandbox": {lie: func(c *cluster) {
			twins := lookOf(c.t, "a=10.1.1.2 b=10.1.1.3|a=10.1.1.2 b=10.1.1.3")
			twins.sandboxes[1].pod, twins.sandboxes[1].uid = twins.sandboxes[0].pod, twins.sandboxes[0].uid
			c.tell(c.told[0].look(twins)...)
		}},
		"programs-survive": {truth: func(c *cluster) { c.tell(c.deaths.look([]v1.Pod{agentPod(1, exitKilled)})...) },
			lie: func(c *cluster) { c.tell(c.deaths.look([]v1.Pod{agentPod(2, 2)})...) }},
		"quiet-restart": {
			truth: func(c *cluster) {
				c.tell(fact.Fact{Node: "node-1", What: fact.AgentDown{Why: fact.CleanStop}})
				c.told[0].down()
				c.look(1, "a=10.1.1.2|life2 a=10.1.1.2")
			},
			lie: func(c *cluster) {
				c.tell(fact.Fact{Node: "node-1", What: fact.VPPWrite{Call: "there is now a route"}})
			}},
		"stays-quiet": {truth: func(c *cluster) { c.tell(fact.Fact{What: fact.Quiet{}}) }, lie: func(c *cluster) {
			c.tell(fact.Fact{Node: "node-1", What: fact.VPPWrite{Call: "there is now a route"}})
		}},
		"check-tells": {
			truth: func(c *cluster) {
				c.tell(fact.Fact{Node: "node-1", What: fact.Checked{Pod: "default/a"}})
			},
			lie: func(c *cluster) {
				c.tell(fact.Fact{Node: "node-1", What: fact.Checked{Pod: "default/a", Broken: "its interface is down"}})
			}},
		"grants-disjoint": {lie: func(c *cluster) { c.gives(2, "10.1.1.0/24") }},
		"grants-used": {lie: func(c *cluster) {
			for range patience {
				c.gives(1, "10.1.9.0/24")
			}
		}},
		"grants-open": {truth: func(c *cluster) {
			c.tell(fact.Fact{What: fact.Range{Range: netip.MustParsePrefix("10.7.0.0/16"), Closed: true}})
		}, lie: func(c *cluster) {
			c.now += 5 * time.Minute // what a controller had decided on before has arrived
			c.gives(2, "10.7.1.0/24")
		}},
		"grants-steady": {lie: func(c *cluster) {
			for range 6 {
				c.gives(1, append(blocks, "10.1.9.0/24")...)
				c.gives(1, blocks...)
			}
		}},
		"nodes-served": {
			truth: snapshot(func(*fact.Snapshot) {}),
			lie: snapshot(func(s *fact.Snapshot) {
				s.FreeBlock, s.Nodes[0].Waiting, s.Nodes[0].Assigned = true, 1, nil
			})},
		"vpp-survives": {lie: func(c *cluster) {
			c.tell(fact.Fact{Node: "node-1", What: fact.VPPCrash{Why: "VPP died by itself"}})
		}},
	}
	for _, law := range check.All() {
		tc, ok := lies[law.Name]
		judged := len(law.Missing(Evidence())) == 0
		if judged != (ok || onMachines[law.Name]) {
			t.Errorf("%s: judged %t, a lie %t; missing %v", law.Name, judged, ok, law.Missing(Evidence()))
		}
		if !ok {
			continue
		}
		t.Run(law.Name, func(t *testing.T) {
			c := newCluster(t, law)
			c.start()
			if tc.truth != nil {
				tc.truth(c)
			}
			if c.broken != nil {
				t.Fatalf("without a lie: %v", c.broken)
			}
			tc.lie(c)
			var v *fact.Violation
			if !errors.As(c.broken, &v) || v.Law != law.Name {
				t.Errorf("the lie is not seen: %v", c.broken)
			}
			if c.watcher != nil && law.Check == nil && c.watcher.Checks() == 0 {
				t.Error("nothing was judged")
			}
		})
	}
}

// Goal: a store that has lost its data has released nobody's ID, and one that deletes a record has. Method: looks at
// records.
func TestRecordsOfAnotherStore(t *testing.T) {
	c := newCluster(t, fact.Law{})
	c.store(plantedRecord(1, "node-1"), plantedRecord(2, "node-2"))
	c.data = "other"
	out := []kube.NodeIDRecord{{ObjectMeta: meta.ObjectMeta{UID: types.UID(c.data)}}}
	if facts := c.records.look(out); len(facts) > 0 {
		t.Errorf("data that are lost are told as %+v", facts)
	}
	c.store(plantedRecord(1, "node-1"))
	if facts := c.records.look(out); len(facts) != 1 || facts[0].What.(fact.RecordChange).After.UID != "" {
		t.Errorf("a record that was deleted is told as %+v", facts)
	}
}

// Goal: a node's blocks are told behind its record, also where that could not be looked at for a while. Method: looks
// without and with records.
func TestBlocksComeBehindRecords(t *testing.T) {
	n := newTold("node-1")
	s := lookOf(t, "|")
	s.unrecorded = true
	for _, f := range n.look(s) {
		if x, ok := f.What.(fact.NodeBlocks); ok {
			t.Errorf("told without its record: %v", x.Blocks)
		}
	}
	s.unrecorded = false
	if facts := n.look(s); len(facts) != 1 || words[reflect.TypeOf(facts[0].What)] != "blocks" {
		t.Errorf("told with its record: %+v", facts)
	}
}

// Goal: what is no refusal of a plugin is told as none, and each refusal is told once. Method: events as kubelets write
// them.
func TestRefusals(t *testing.T) {
	r := refusals{}
	other := sandboxEvent("c", "x")
	other.Reason = "FailedMount"
	odd := sandboxEvent("d", "x")
	odd.Message = "Failed to create pod sandbox: no image"
	events := []v1.Event{sandboxEvent("b", "no address is free"), other, odd}
	facts := r.look(events)
	if len(facts) != 1 || facts[0].Node != "node-1" {
		t.Fatalf("%+v", facts)
	}
	if x, ok := facts[0].What.(fact.Refused); !ok || x.Owner != ownerOf("b") || x.Why != "no address is free" || x.PodUID != "uid-b" {
		t.Errorf("%+v", facts)
	}
	if again := r.look(events); len(again) > 0 {
		t.Errorf("told twice: %+v", again)
	}
}
