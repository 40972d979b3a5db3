package lab_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// passing is the application of the pods that come and go while programs are killed.
const passing = "passing"

// killer is a lab in which restarts happen at random moments of pods' coming and going, under streams.
type killer struct {
	*lab.World
	t    *testing.T
	rand *rand.Rand
	here int
	// strict: losses of streams that nothing was done to are errors. A machine that does other work beside loses packets,
	// too.
	strict bool
	// outages are the longest silences of the streams of a node whose VPP or agent was killed, by what was killed.
	outages map[string][]time.Duration
	lost    map[string]uint64
}

// Do implements result.World.
func (k *killer) Do(ctx context.Context, a scenarios.Action) error {
	var node scenarios.NodeRef
	switch a := a.(type) {
	case scenarios.RestartVPP:
		node = a.Node
	case scenarios.RestartAgent:
		node = a.Node
	default:
		return k.World.Do(ctx, a)
	}
	staying := slices.DeleteFunc(k.Places(), func(p probe.Place) bool { return strings.Contains(p.Name, passing) })
	outages, err := k.Continuity(ctx, staying, time.Hour, func() error {
		if err := k.World.Do(ctx, k.comeOrGo(node)); err != nil {
			return err
		}
		time.Sleep(time.Duration(k.rand.Int64N(int64(200 * time.Millisecond)))) // the random moment
		return k.World.Do(ctx, a)
	})
	if err != nil {
		return err
	}
	for _, o := range outages {
		touches := strings.HasPrefix(o.From, string(node)+" ") || strings.HasPrefix(o.To, string(node)+" ")
		switch {
		case touches:
			k.outages[a.Verb()] = append(k.outages[a.Verb()], o.Longest)
			k.lost[a.Verb()] += o.Lost
		case o.Lost > 0:
			tell := k.t.Logf
			if k.strict {
				tell = k.t.Errorf
			}
			tell("%s: %d of %d packets between %s and %s were lost", a, o.Lost, o.Sent, o.From, o.To)
		}
	}
	return nil
}

// comeOrGo has pods wired or unwired on the node meanwhile.
func (k *killer) comeOrGo(node scenarios.NodeRef) scenarios.Action {
	if k.here > 0 && (k.here > 6 || k.rand.IntN(2) == 0) {
		k.here--
		return scenarios.DeletePods{Count: 1, App: passing}
	}
	k.here += 2
	return scenarios.CreatePods{Count: 2, Node: node, App: passing}
}

// Goal: VPPs and agents that are killed with signal 9 at random moments leave every law holding: all converges, no
// address twice, nothing lost, nothing left. Method: four of each in a lab of three nodes whose pods come and go.
// VPPDRILL_KILLS says how many instead, for a quiet machine: then streams past a killed agent, and past another node's
// VPP, may lose nothing either, and -v tells the outages.
func TestKills(t *testing.T) {
	kills, strict := 4, false
	if text := os.Getenv("VPPDRILL_KILLS"); text != "" {
		strict = true
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	o := options(t)
	r := rand.New(rand.NewPCG(o.Seed, 9))
	var text strings.Builder
	text.WriteString("# Programs are killed.\nname: kills\ntopology: {nodes: 3, podsPerNode: 2}\ntimeline:\n")
	for i := range 2 * kills {
		fmt.Fprintf(&text, "  - {when: settled, do: %s, node: node-%d}\n", []string{"restart-vpp", "restart-agent"}[i%2], 1+r.IntN(3))
	}
	text.WriteString("  - {when: settled, do: delete-pods, all: true}\n")
	s, err := scenarios.Parse("kills.yaml", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute+time.Duration(kills)*time.Minute)
	defer cancel()
	w, err := lab.New(ctx, s, o)
	if err != nil {
		t.Fatal(err)
	}
	k := &killer{World: w, t: t, rand: r, strict: strict, outages: map[string][]time.Duration{}, lost: map[string]uint64{}}
	res := result.Run(ctx, k, s, o.Laws, result.Options{OnMark: func(m result.Mark) { t.Logf("%.1f s: %s", m.AtSeconds/o.TimeScale, m.Text) }})
	if res.Verdict != result.Pass {
		if dir, err := w.WriteEvidence(ctx, ""); err == nil {
			t.Logf("evidence in %s", dir)
		}
		t.Errorf("%s: %s", res.Verdict, res.Error)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for _, verb := range []string{"restart-vpp", "restart-agent"} {
		list := k.outages[verb]
		if slices.Sort(list); len(list) == 0 {
			t.Errorf("no stream was at a node that had %s", verb)
			continue
		}
		t.Logf("%s: %d kills, %d streams of the node, %d packets lost, longest silence p50 %s p99 %s most %s", verb, kills, len(list),
			k.lost[verb], list[len(list)/2], list[len(list)*99/100], list[len(list)-1])
	}
	if n := k.lost["restart-agent"]; n > 0 && strict {
		t.Errorf("streams past killed agents lost %d packets", n)
	}
}
