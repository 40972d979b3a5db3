package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/controllers"
	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	"github.com/vppdrill/vppdrill/vppwire/host/etcd"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
)

// plantedOnMachines are the laws that TestPlantedOnVPP breaks on a real lab; they look at dumps.
var plantedOnMachines = []string{"reachable", "books-agree", "tunnels-symmetric", "senders-bound", "host-routes", "routes-needed", "packets-fit", "as-configured"}

// PlantedOnMachines is for the tests of package lab_test.
func PlantedOnMachines() []string { return plantedOnMachines }

// liars is a lab without machines: two nodes whose agents say what a test has them say. Facts come out of the code that
// a running lab tells them by.
type liars struct {
	w     *World
	nodes [2]*node
	// at is the time of the agents' next change.
	at time.Duration
}

func newLiars(set func(*scenarios.IPAM)) *liars {
	s := scenarios.Default()
	set(&s.Config.IPAM)
	w := &World{o: Options{TimeScale: 1}, nodes: map[string]*node{}, started: time.Now(), monotonic: nodeagent.Monotonic()}
	w.Begin(stage{w}, &s, RunOptions{Options: result.Options{Seed: 1}}, w.Now)
	w.desired.Store(&desired{scenario: &s, agents: agent.Config{NodeIDQuarantine: 10 * time.Minute}})
	l := &liars{w: w}
	for i := range l.nodes {
		n := &node{w: w, name: []string{"node-1", "node-2"}[i]}
		n.kubelet = newKubelet(n)
		l.nodes[i] = n
		w.nodes[n.name] = n
	}
	return l
}

// What addresses of liars do: they rest before they come again, or come in blocks from outside.
func resting(c *scenarios.IPAM)  { c.ReuseDelay = time.Minute }
func assigned(c *scenarios.IPAM) { c.UseExternalIPAM = true }
func carved(c *scenarios.IPAM)   { c.System = scenarios.NodeIPAM }

func plantedOwner(pod string) ipam.Owner {
	return ipam.Owner{Network: timeline.NetworkName, ContainerID: pod, IfName: timeline.IfName}
}

func plantedBlock(node int) ipam.Block {
	p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(node), 0}), 24)
	return ipam.Block{Prefix: p, Gateway: p.Addr().Next()}
}

// plantedRecord is the creation of the record of node i in the store.
func plantedRecord(i int, uid string) (key, before, after string) {
	r := nodeid.Record{ID: uint32(i), Name: "node-" + strconv.Itoa(i), UID: uid, PodNetworks: []netip.Prefix{plantedBlock(i).Prefix}}
	return etcd.StorePrefix + r.Key(), "", r.String()
}

// lease is one of pod in the block of a node, by the last byte of its address.
func lease(node int, pod string, last byte) ipam.Lease {
	b := plantedBlock(node)
	return ipam.Lease{Owner: plantedOwner(pod), Addr: netip.AddrFrom4([4]byte{10, 1, byte(node), last}), Block: b.Prefix}
}

// up starts a life of the agent of node i that finds these leases in its journal.
func (l *liars) up(i int, leases ...ipam.Lease) {
	n := l.nodes[i-1]
	n.changes = 0
	n.tellAgentUp(state{PID: 100 + i, Restored: leases})
}

// holds is what the agent of node i tells next: its ID and block, and what one step has changed.
func (l *liars) holds(i int, id uint32, block ipam.Block, released, leased []ipam.Lease) {
	n := l.nodes[i-1]
	l.at += time.Second
	c := nodeagent.Change{Number: n.changes + 1, At: l.w.monotonic + int64(l.at), Released: released, Leased: leased, ID: id, Blocks: []ipam.Block{block}}
	n.heard(state{PID: 100 + i, State: rest.State{ID: id, Blocks: c.Blocks}, Changes: []nodeagent.Change{c}, Writes: n.writes})
}

// leaves is what the agent of node 1 tells next: it has released an address whose owner's route is there still.
func (l *liars) leaves(x ipam.Lease) {
	n := l.nodes[0]
	l.at += time.Second
	c := nodeagent.Change{Number: n.changes + 1, At: l.w.monotonic + int64(l.at), Released: []ipam.Lease{x}, ID: 1, Blocks: n.blocks,
		Left: []nodeagent.Left{{Addr: x.Addr, Leftover: fact.Leftover{Node: n.name, Thing: "entry in table 1", Owner: x.Owner}}}}
	n.heard(state{PID: n.life, State: rest.State{ID: 1, Blocks: n.blocks}, Changes: []nodeagent.Change{c}, Writes: n.writes})
}

// answered is a kubelet that got an ADD answered.
func (l *liars) answered(i int, x ipam.Lease) {
	pod := "default/" + x.Owner.ContainerID
	l.kubelet(i, fact.Asked{Command: fact.AskedAdd, Owner: x.Owner, Pod: pod})
	l.kubelet(i, fact.Answered{Owner: x.Owner, Addr: x.Addr, Pod: pod})
}

func (l *liars) kubelet(i int, what fact.What) {
	l.w.Record.Tell(fact.Fact{Node: l.nodes[i-1].name, What: what}, "")
}

// wrote is an agent that has made a writing call after a clean stop.
func (l *liars) wrote(i int) {
	n := l.nodes[i-1]
	n.recordUntil = time.Now().Add(time.Minute)
	n.heard(state{PID: n.life, State: rest.State{ID: n.id, Blocks: n.blocks}, Writes: n.writes + 1})
}

// removes is an agent that has taken something away, in the words of its file.
func (l *liars) removes(i int, r fact.Removal) {
	line, err := json.Marshal(nodeagent.Removed{At: l.w.monotonic + int64(l.at), Removal: r})
	if err != nil {
		panic(err)
	}
	l.w.readRemovals(l.nodes[i-1].name, bytes.NewReader(append(line, '\n')))
}

// carve has controllers carve blocks from 10.1.0.0/16 and 10.2.0.0/16.
func (l *liars) carve() {
	b, err := newBlockSource(l.w, "")
	if err != nil {
		panic(err)
	}
	l.w.source = b
	if err := b.set.AddRange(netip.MustParsePrefix("10.2.0.0/16")); err != nil {
		panic(err)
	}
}

// asks is a change of a Node object that a controller asks for while a holder's name stands in the Lease.
func (l *liars) asks(name, holder string) {
	b := l.w.source
	b.server.Put("leases", apiserver.Object{"metadata": apiserver.Object{"namespace": controllers.LeaseNamespace, "name": controllers.LeaseName}, "spec": apiserver.Object{"holderIdentity": holder}})
	b.set.AsksFor(name, "PATCH node-1")
}

// two brings both nodes up with a pod each, as they should be.
func (l *liars) two() {
	for i := 1; i <= 2; i++ {
		l.up(i)
		l.w.Record.Tell(fact.Fact{Node: l.nodes[i-1].name, What: fact.Disturbed{By: fact.VPPUp}}, "")
		if l.w.scenario().Config.IPAM.UseExternalIPAM {
			l.w.assign(l.nodes[i-1], []netip.Prefix{plantedBlock(i).Prefix})
		}
		l.w.recordChanged(plantedRecord(i, fmt.Sprintf("u%d", i)))
		x := lease(i, "pod-"+l.nodes[i-1].name, 10)
		l.holds(i, uint32(i), plantedBlock(i), nil, []ipam.Lease{x})
		l.answered(i, x)
	}
}

// answers is a look at a host, whose VPP runs, that has answered at a time at last; its VPP was the one before, where the answer is old.
func (l *liars) answers(i int, at time.Time) {
	n := l.nodes[i-1]
	if n.reach == nil {
		n.vpp.proc = struct{ Process }{}
		n.reach = &reach{n: n, lines: []*line{{trying: make(chan *probe.Login)}}}
	}
	r := n.reach
	if r.lines[0].answered = at; time.Since(at) < loginSilence {
		r.lines[0].life = n.vpp.life
	}
	r.look(time.Now())
}

// restart is a clean stop and start of the agent of node 1.
func (l *liars) restart(leases ...ipam.Lease) {
	l.nodes[0].ended(&l.nodes[0].agent, fact.CleanStop)
	l.up(1, leases...)
	l.nodes[0].identity(0, 1, []ipam.Block{plantedBlock(1)})
}

// notJudged are the laws that labs do not judge, each with why. lab's package comment names them.
var notJudged = map[string]string{
	"hooks-run":         "agents of labs run no hooks",
	"ranges-counted":    "controllers of labs are programs of their own, which do not tell how full they count their ranges",
	"told-is-saved":     "agents of labs do not tell yet when a record has reached the disk",
	"requests-answered": "how long a real agent may take follows from the machine's load",
	"pods-reach-pods":   "pings between pods are world cni's evidence; reachable walks the dumps of labs",
	"nothing-stays":     "what stays on a node without pods is world cni's evidence; books-agree and stays-wired look at that of labs",
	"cloud-routes":      "labs have no cloud whose routes anybody keeps",
	"calls-accepted":    "a refused call may be another client's doing on a real VPP",
}

// Goal: what labs do not judge is said by name, and nothing else. Method: every law against the evidence of labs.
func TestNotJudged(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, law := range check.All() {
		judged := len(law.Missing(Evidence())) == 0
		if why, named := notJudged[law.Name]; named == judged || named && why == "" {
			t.Errorf("%s: judged %t, named %t", law.Name, judged, named)
		}
		if strings.Contains(string(text), " "+law.Name) == judged { // as a word: host-reachable is not reachable
			t.Errorf("%s: judged %t, and the package comment says otherwise", law.Name, judged)
		}
	}
}

// Goal: each law that a lab judges by facts can be broken in a lab. Method: two agents that lie, one lie for each law,
// told through the lab's own code; the law must break by the lie, must have found something to judge, and must hold
// without it. Every law of package check has a lie here or on real machines (TestPlantedOnVPP); settles has
// TestPlantedOnSettles.
func TestPlanted(t *testing.T) {
	first, pod, twin := lease(1, "pod-node-1", 10), lease(2, "pod-node-2", 10), &pod{name: "twin", uid: "uid-of-twin"}
	lies := map[string]struct {
		ipam func(*scenarios.IPAM)
		// truth is what happens otherwise, lie what must not.
		truth, lie func(l *liars)
	}{
		"one-owner": {lie: func(l *liars) {
			l.holds(2, 2, plantedBlock(2), nil, []ipam.Lease{{Owner: plantedOwner("thief"), Addr: first.Addr, Block: first.Block}})
		}},
		"lease-in-range": {lie: func(l *liars) {
			l.holds(1, 1, plantedBlock(1), nil, []ipam.Lease{{Owner: plantedOwner("stray"), Addr: netip.MustParseAddr("10.1.9.9")}})
		}},
		"node-ids-disjoint": {lie: func(l *liars) { l.holds(2, 1, plantedBlock(2), nil, nil) }},
		"node-ids-rest": {truth: func(l *liars) { l.w.recordChanged(plantedRecord(2, "u2")) }, lie: func(l *liars) {
			l.w.left("node-2")
			l.holds(1, 2, plantedBlock(1), nil, nil)
		}},
		"records-owned": {
			truth: func(l *liars) {
				key, _, mine := plantedRecord(1, "u1")
				l.w.recordChanged(key, "", mine)
				gone := nodeid.Record{ID: 1, Name: "node-1", UID: "u1", ReleasedAt: time.Unix(1, 0)}.String()
				l.w.recordChanged(key, mine, gone)
				l.w.recordChanged(key, gone, nodeid.Record{ID: 1, Name: "node-3", UID: "u3"}.String())
			},
			lie: func(l *liars) {
				key, _, mine := plantedRecord(2, "u2")
				l.w.recordChanged(key, mine, nodeid.Record{ID: 2, Name: "node-3", UID: "u3"}.String())
			}},
		"records-exclusive": {lie: func(l *liars) {
			key, _, mine := plantedRecord(1, "u1")
			both := nodeid.Record{ID: 1, Name: "node-1", UID: "u1", PodNetworks: []netip.Prefix{plantedBlock(1).Prefix, plantedBlock(2).Prefix}}
			l.w.recordChanged(key, mine, both.String())
			l.w.Record.Tell(fact.Fact{What: fact.Quiet{}}, "")
		}},
		"grants-open": {ipam: carved,
			truth: func(l *liars) {
				l.carve()
				l.w.assign(l.nodes[0], []netip.Prefix{netip.MustParsePrefix("10.2.0.0/24")})
				if err := l.w.source.set.RemoveRange(netip.MustParsePrefix("10.2.0.0/16")); err != nil {
					panic(err)
				}
			},
			lie: func(l *liars) {
				l.w.started = l.w.started.Add(-5 * time.Minute) // what the controller had decided on before has arrived
				l.w.assign(l.nodes[1], []netip.Prefix{netip.MustParsePrefix("10.2.1.0/24")})
			}},
		"one-leader": {ipam: carved,
			truth: func(l *liars) {
				l.carve()
				l.asks("controller-1", "controller-1")
				l.asks("controller-2", "controller-2")
			},
			lie: func(l *liars) { l.asks("controller-1", "controller-2") }},
		"grants-disjoint": {ipam: assigned, truth: func(l *liars) {
			l.w.assign(l.nodes[0], []netip.Prefix{plantedBlock(3).Prefix})
			l.holds(1, 1, plantedBlock(3), []ipam.Lease{first}, nil)
			l.w.returned(plantedBlock(1).Prefix) // an administrator gives it to another node
			l.w.assign(l.nodes[1], []netip.Prefix{plantedBlock(1).Prefix})
		}, lie: func(l *liars) { l.w.assign(l.nodes[1], []netip.Prefix{plantedBlock(3).Prefix}) }},
		"grants-used": {ipam: assigned, lie: func(l *liars) {
			// an API server that forgets what it gave, where an administrator's change would leave it draining
			l.nodes[1].assigned = nil
			l.w.assign(l.nodes[1], []netip.Prefix{plantedBlock(3).Prefix})
		}},
		"grants-steady": {ipam: assigned, lie: func(l *liars) {
			for range 6 {
				l.w.assign(l.nodes[1], []netip.Prefix{plantedBlock(2).Prefix, plantedBlock(4).Prefix})
				l.w.assign(l.nodes[1], []netip.Prefix{plantedBlock(2).Prefix})
			}
		}},
		"address-stable": {lie: func(l *liars) {
			moved := lease(1, first.Owner.ContainerID, 77)
			l.holds(1, 1, plantedBlock(1), []ipam.Lease{first}, []ipam.Lease{moved})
		}},
		"same-answer": {lie: func(l *liars) {
			l.w.Record.Tell(fact.Fact{Node: "node-1", What: fact.DelRefused{Owner: plantedOwner("long-gone"), Why: "unknown container"}}, "")
		}},
		"address-rests": {
			truth: func(l *liars) {
				l.holds(1, 1, plantedBlock(1), []ipam.Lease{first}, nil)
				l.kubelet(1, fact.Deleted{Owner: first.Owner})
				l.at += time.Minute
				l.holds(1, 1, plantedBlock(1), nil, []ipam.Lease{lease(1, "later", 10)})
			},
			lie: func(l *liars) {
				l.holds(1, 1, plantedBlock(1), []ipam.Lease{lease(1, "later", 10)}, nil)
				l.holds(2, 2, plantedBlock(2), []ipam.Lease{pod}, nil)
				l.kubelet(2, fact.Deleted{Owner: pod.Owner})
				l.at += 50 * time.Second
				l.holds(2, 2, plantedBlock(2), nil, []ipam.Lease{lease(2, "too-soon", 10)})
			}},
		"host-reachable": {truth: func(l *liars) {
			l.answers(1, time.Now())
			l.nodes[0].vpp.life++ // the host was out of reach for a moment while its VPP was another one
			l.answers(1, time.Now().Add(-loginSilence-time.Second))
			l.answers(1, time.Now())
		}, lie: func(l *liars) {
			l.answers(1, time.Now())
			l.answers(1, time.Now().Add(-loginSilence-time.Second))
		}},
		"add-not-forgotten": {truth: func(l *liars) { l.restart(first) }, lie: func(l *liars) { l.restart() }},
		"restarts-remember": {truth: func(l *liars) { l.restart(first) }, lie: func(l *liars) { l.restart() }},
		"address-as-asked": {
			truth: func(l *liars) {
				l.w.Record.Tell(l.nodes[0].asked(fact.AskedAdd, plantedOwner("asks"), wire.Request{Wanted: []netip.Addr{first.Addr}}), "")
				l.kubelet(1, fact.Refused{Owner: plantedOwner("asks"), Why: "address is taken"})
			},
			lie: func(l *liars) { l.kubelet(1, fact.Answered{Owner: plantedOwner("asks"), Addr: pod.Addr}) }},
		"one-sandbox": {
			truth: func(l *liars) {
				l.w.Record.Tell(l.nodes[0].asked(fact.AskedAdd, plantedOwner("once"), wire.Request{Args: twin.cniArgs("once")}), "")
				l.holds(1, 1, plantedBlock(1), nil, []ipam.Lease{lease(1, "once", 20)})
			},
			lie: func(l *liars) {
				l.w.Record.Tell(l.nodes[0].asked(fact.AskedAdd, plantedOwner("twice"), wire.Request{Args: twin.cniArgs("twice")}), "")
				l.holds(1, 1, plantedBlock(1), nil, []ipam.Lease{lease(1, "twice", 21)})
			}},
		"unwired-before-reuse": {
			truth: func(l *liars) { l.holds(2, 2, plantedBlock(2), []ipam.Lease{pod}, nil) },
			lie:   func(l *liars) { l.leaves(first) }},
		"within-budget": {lie: func(l *liars) {
			l.w.Record.Tell(fact.Fact{Node: "node-1", What: fact.Counted{Counts: fact.Counts{VPPCalls: 1_000_000}}}, "")
		}},
		"programs-survive": {truth: func(l *liars) { l.restart(first) }, lie: func(l *liars) { l.nodes[0].crashed(&l.nodes[0].agent, "") }},
		"quiet-restart":    {truth: func(l *liars) { l.restart(first) }, lie: func(l *liars) { l.wrote(1) }},
		"stays-wired": {
			truth: func(l *liars) {
				l.nodes[1].tellAddresses(0, []netip.Addr{netip.MustParseAddr("192.168.16.2")})
				l.removes(1, fact.Removal{What: fact.RemovedRoute, Prefix: netip.MustParsePrefix("10.99.0.0/16")})
			},
			lie: func(l *liars) {
				l.removes(1, fact.Removal{What: fact.RemovedTunnel, Addr: netip.MustParseAddr("192.168.16.2")})
			}},
		"check-tells": {
			truth: func(l *liars) {
				l.w.Record.Tell(fact.Fact{Node: "node-1", What: fact.Checked{Pod: "default/pod-node-1"}}, "")
			},
			lie: func(l *liars) {
				l.w.Record.Tell(fact.Fact{Node: "node-1", What: fact.Checked{Pod: "default/pod-node-1", Broken: "its interface is down"}}, "")
			}},
		"vpp-survives": {lie: func(l *liars) {
			l.w.Record.Tell(fact.Fact{Node: "node-1", What: fact.VPPCrash{Why: "VPP died by itself"}}, "")
		}},
	}
	// tried by name elsewhere, or not in labs
	elsewhere := map[string]bool{result.LawSettles: true, "nodes-served": true, "pods-served": true, "ids-returned": true, "address-leased": true, "services-reached": true, "policies-kept": true, "nics-wired": true, "stays-quiet": true}
	for _, name := range plantedOnMachines {
		elsewhere[name] = true
	}
	for _, law := range check.All() {
		tc, ok := lies[law.Name]
		if !ok {
			if !elsewhere[law.Name] && len(law.Missing(Evidence())) == 0 {
				t.Errorf("no lie breaks %s in a lab", law.Name)
			}
			continue
		}
		if missing := law.Missing(Evidence()); len(missing) > 0 {
			t.Errorf("labs do not judge %s: no %v", law.Name, missing)
		}
		t.Run(law.Name, func(t *testing.T) {
			if tc.ipam == nil {
				tc.ipam = resting
			}
			l, watcher := newLiars(tc.ipam), law.Watch()
			_ = watcher.Observe(&fact.Fact{What: fact.Configured{Config: &l.w.scenario().Config}})
			l.w.Watch(func(f fact.Fact) error { return watcher.Observe(&f) })
			l.two()
			if tc.truth != nil {
				tc.truth(l)
			}
			if err := l.w.Deliver(); err != nil {
				t.Fatalf("without a lie: %v", err)
			}
			tc.lie(l)
			var v *fact.Violation
			if err := l.w.Deliver(); !errors.As(err, &v) || v.Law != law.Name {
				t.Errorf("the lie is not seen: %v", err)
			}
			if watcher.Checks() == 0 && law.Name != "same-answer" {
				t.Error("nothing was judged")
			}
		})
	}
}
