package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/yardstick"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

func benchCluster(nodes int, cfg Config) (*engine.Engine, *Cluster) {
	eng := engine.New(engine.Seeded(1))
	m := newFakeMachine(eng)
	m.quiet = true
	cfg.Clock, cfg.Machine = eng, m
	c := New(cfg)
	for i := range nodes {
		_ = c.AddNode(Node{Meta: Meta{Name: fmt.Sprintf("node-%04d", i)}})
	}
	_ = eng.RunUntil(time.Second)
	return eng, c
}

// BenchmarkChurn is one pod's whole life on 100 nodes: create, bind, run, delete, gone.
func BenchmarkChurn(b *testing.B) {
	yardstick.Beside(b)
	eng, c := benchCluster(100, Config{})
	rows := make([]Row, b.N)
	for i := range rows {
		at := time.Duration(i) * time.Millisecond
		rows[i] = Row{Name: fmt.Sprintf("pod-%d", i), Create: at, Delete: at + time.Second}
	}
	if err := newCrowd(c).Trace(rows); err != nil {
		b.Fatal(err)
	}
	before := eng.Seq()
	b.ReportAllocs()
	b.ResetTimer()
	_ = eng.RunUntil(eng.Now() + time.Duration(b.N)*time.Millisecond + 2*time.Second)
	b.StopTimer()
	events := float64(eng.Seq() - before)
	b.ReportMetric(events/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(events/float64(b.N), "events/pod")
	if n := c.API.Count(KindPod); n != 0 || !c.Load().Quiet() {
		b.Fatalf("%d pods are left: %+v", n, c.Load())
	}
}

// BenchmarkFanOut is one change of one node as a thousand agents' feeds see it.
func BenchmarkFanOut(b *testing.B) {
	yardstick.Beside(b)
	eng, c := benchCluster(1000, Config{})
	heard := 0
	for _, node := range c.Nodes() {
		c.NewFeed(node, func(agent.Event) { heard++ }).Start()
	}
	_ = eng.RunUntil(2 * time.Second)
	if heard < 1000*1000 {
		b.Fatalf("%d events are heard after the start", heard)
	}
	heard = 0
	before := eng.Seq()
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		_ = c.API.SetNode("node-0500", "", func(n *Node) { n.Ready = i%2 == 0 })
		_ = eng.RunUntil(eng.Now() + 2*time.Millisecond)
	}
	b.StopTimer()
	b.ReportMetric(float64(eng.Seq()-before)/b.Elapsed().Seconds(), "events/s")
	if heard != 1000*b.N {
		b.Fatalf("%d heard", heard)
	}
}

// BenchmarkStart brings up a thousand kubelets and feeds: lists of a thousand nodes, and watches.
func BenchmarkStart(b *testing.B) {
	yardstick.Beside(b)
	b.ReportAllocs()
	for range b.N {
		eng, c := benchCluster(1000, Config{})
		for _, node := range c.Nodes() {
			c.NewFeed(node, func(agent.Event) {}).Start()
		}
		_ = eng.RunUntil(2 * time.Second)
	}
}

// BenchmarkSchedule is a pass over 100,000 pods of 200 applications, half of them with a bound, on 1000 nodes.
func BenchmarkSchedule(b *testing.B) {
	yardstick.Beside(b)
	const pods = 100_000
	for range b.N {
		eng, c := benchCluster(1000, Config{Scheduler: SchedulerConfig{MaxPods: 250}})
		for i := range pods {
			app := i % 200
			c.Workload.Create(PodSpec{Name: fmt.Sprintf("pod-%d", i), App: fmt.Sprintf("app-%d", app), MaxPerNode: (app % 2) * 3})
		}
		_ = eng.RunUntil(time.Second + 500*time.Microsecond)
		if c.Scheduler.Waiting() != 0 {
			b.Fatalf("%d pods wait", c.Scheduler.Waiting())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pods, "ns/pod")
}

// BenchmarkPick is the choice of a node alone: 1000 nodes that fill up to 100 pods each.
func BenchmarkPick(b *testing.B) {
	yardstick.Beside(b)
	s := newSlots(110)
	for i := range 1000 {
		n := s.slot(fmt.Sprintf("node-%04d", i))
		n.usable, n.known = true, true
	}
	s.fresh()
	for i := range b.N {
		if i%100_000 == 0 {
			for _, n := range s.nodes {
				s.add(n, -n.pods)
			}
		}
		s.add(s.pick(nil), 1)
	}
}

// BenchmarkTrace is 24,000 pods over 31 days on 300 nodes, 7280 of them from the start.
func BenchmarkTrace(b *testing.B) {
	yardstick.Beside(b)
	const month = 31 * 24 * time.Hour
	rows := make([]Row, 24_000)
	for i := range rows {
		r := Row{Name: fmt.Sprintf("instance-%d", i), App: fmt.Sprintf("app-%d", i%156), MaxPerNode: -1, Delete: -1}
		if i%3 == 0 {
			r.MaxPerNode = 8
		}
		if i >= 7280 {
			r.Create = time.Duration(i-7280) * (month / 16720)
			r.Delete = min(r.Create+36*time.Hour, month)
		}
		rows[i] = r
	}
	for range b.N {
		eng, c := benchCluster(300, Config{})
		if err := newCrowd(c).Trace(rows); err != nil {
			b.Fatal(err)
		}
		_ = eng.RunUntil(month + time.Hour)
		b.ReportMetric(float64(eng.Seq()), "events")
		b.ReportMetric(month.Seconds()*float64(b.N)/b.Elapsed().Seconds(), "virtual-s/real-s")
		if n := c.API.Count(KindPod); n != 7280 || !c.Load().Quiet() {
			b.Fatalf("%d pods: %+v", n, c.Load())
		}
	}
}
