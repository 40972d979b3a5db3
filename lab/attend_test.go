package lab_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Goal: a VPP that lives and does not answer is dead to its lab, which kills it and starts another. Method: a real VPP
// is stopped where it is behind the lab's back; vpp-survives hears why it was killed, and the lab comes to rest with
// another VPP in which both pods answer.
func TestSilentVPP(t *testing.T) {
	w, ctx := standing(t, "name: silent\ntopology: {nodes: 1, podsPerNode: 2}\n")
	crash := ""
	w.Watch(func(f fact.Fact) error {
		if x, ok := f.What.(fact.VPPCrash); ok {
			crash = f.Node + ": " + x.Why
		}
		return nil
	})
	first := w.PIDOfVPP("node-1")
	if err := syscall.Kill(first, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	for crash == "" && ctx.Err() == nil {
		if err := w.Advance(ctx, w.Now()+time.Second); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("after %s: %s", time.Since(stopped).Round(time.Second), crash)
	if !strings.HasPrefix(crash, "node-1: VPP did not answer for 1") {
		t.Errorf("vpp-survives hears %q", crash)
	}
	if err := w.Settle(ctx, time.Hour); err != nil {
		t.Fatal(err)
	}
	if pid := w.PIDOfVPP("node-1"); pid == first || pid == 0 {
		t.Errorf("VPP is process %d, which was %d", pid, first)
	}
	if n, err := judgeNow(ctx, t, w, "reachable"); n == 0 || err != nil {
		t.Errorf("reachable judged %d: %v", n, err)
	}
}

// Goal: a program that gets no processor makes a run that cannot be judged, and breaks no law: neither a VPP that does
// not answer, nor an agent for which a lab never comes to rest. Method: a real VPP and a real agent are stopped where
// they are behind the lab's back, while the kernel seems to say that they wait for a processor.
func TestStarved(t *testing.T) {
	t.Cleanup(lab.Starve()) // behind the lab's own end
	w, ctx := standing(t, "name: starved\ntopology: {nodes: 1, podsPerNode: 2}\n")
	w.Watch(func(f fact.Fact) error {
		if x, ok := f.What.(fact.VPPCrash); ok {
			t.Errorf("VPP is told to be dead: %s", x.Why)
		}
		return nil
	})
	stop := func(pid int) func() {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		return func() { _ = syscall.Kill(pid, syscall.SIGCONT) } // it may have been ended
	}
	agent := w.PIDOfAgent("node-1")
	goOn := stop(agent)
	err := w.Settle(ctx, 12*time.Second)
	goOn()
	if !errors.Is(err, scenarios.ErrFallen) || errors.As(err, new(*result.Unquiet)) {
		t.Errorf("an agent that stands still: %v", err)
	}
	t.Log(err)
	vpp := w.PIDOfVPP("node-1")
	goOn = stop(vpp)
	for err = nil; err == nil && ctx.Err() == nil; {
		err = w.Advance(ctx, w.Now()+time.Second)
	}
	goOn()
	if !errors.Is(err, scenarios.ErrFallen) || w.PIDOfVPP("node-1") != vpp {
		t.Errorf("a VPP that does not answer: %v; it is process %d and was %d", err, w.PIDOfVPP("node-1"), vpp)
	}
	t.Log(err)
}
