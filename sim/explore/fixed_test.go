package explore

import (
	"context"
	"strconv"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/gen"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// Goal: a run is the same when its probable faults are written as injected ones, while an operation recorder asks about
// every operation, and when the faults that happened are injected one by one. Method: equal digests, over random
// scenarios in which every probability is on.
func TestFixed(t *testing.T) {
	var x Explorer
	faults := 0
	for seed := range uint64(40) {
		s := gen.Draw(engine.Seeded(seed), gen.Tiny(), "random")
		p := 0.05
		for _, f := range probable(&s.Faults) {
			*f.p = p // many fields share one value, and thus one stream of decisions
			if seed%2 == 0 {
				p += 0.001
			}
		}
		s.Faults.CrashVPP, s.Faults.CrashBeforeEffect, s.Faults.CrashAfterEffect = 0.004, 0.004, 0.002
		if seed%4 == 1 {
			s.Faults.Nodes = []string{"node-1", "node-2"}
		}
		s.Faults.Inject = append(s.Faults.Inject, "(Prob 0.01 (Request ip_route_add_del_v2 Mute))", "(Nth 3 (Kind store Vanish))")
		o := sim.Options{Seed: seed, Laws: check.All()}
		want, err := sim.Run(context.Background(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		fixed, err := x.fixed(context.Background(), s, o)
		if err != nil {
			t.Fatalf("seed %d: watched run: %v", seed, err)
		}
		if anyChance(&fixed.Faults) {
			t.Fatalf("seed %d: chances are left: %+v", seed, fixed.Faults)
		}
		got, err := sim.Run(context.Background(), fixed, o)
		if err != nil {
			t.Fatal(err)
		}
		if got.Digest != want.Digest || got.Events != want.Events {
			t.Errorf("seed %d: %d events instead of %d", seed, got.Events, want.Events)
		}
		if _, err := scenarios.Parse("", fixed.Marshal()); err != nil {
			t.Error(err)
		}
		faults += len(fixed.Faults.Inject) - 2
	}
	t.Log(strconv.Itoa(faults) + " faults fixed")
	if faults < 500 {
		t.Errorf("only %d faults happened", faults)
	}
}
