package sim

import (
	"context"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: a drained node has only the pods that stay with their node, for as long as it is cordoned, whatever comes; the
// others are made again elsewhere, wait where no node is left, and are placed once everything is healed. Method: pods
// counted by node.
func TestDrain(t *testing.T) {
	s, err := scenarios.Parse("drain.yaml", []byte("# Drain.\nname: drain\ntopology: {nodes: 2, podsPerNode: 2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(s, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	st := stage{w}
	do := func(line string, first, second, nowhere int) {
		t.Helper()
		a, err := scenarios.ParseAction(line)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Do(ctx, a); err != nil {
			t.Fatal(err)
		}
		if err := w.Settle(ctx, time.Minute); err != nil {
			t.Fatal(err)
		}
		have := map[string]int{}
		for _, p := range st.Pods("") {
			have[p.Node]++
		}
		if have["node-1"] != first || have["node-2"] != second || have[""] != nowhere {
			t.Errorf("%s: pods by node are %v, want %d, %d and %d without a node", line, have, first, second, nowhere)
		}
	}
	do("create-pods count=6", 5, 5, 0)
	do("create-pods node=node-1 static=true", 6, 5, 0)
	do("drain-node node=node-1", 3, 8, 0)
	do("create-pods count=2", 3, 10, 0)
	do("stop-api for=5s", 3, 10, 0)
	do("drain-node node=all", 3, 2, 8)
	do("uncordon-node node=node-2", 3, 10, 0)
	do("cordon-node node=node-2", 3, 10, 0)
	do("create-pods count=3", 3, 10, 3)
	if err := w.Heal(ctx); err != nil {
		t.Fatal(err)
	}
	do("check-pods node=all", 6, 10, 0)
}
