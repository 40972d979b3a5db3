package lab_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: a VPP that lives and does not answer is dead to its lab, which kills it and starts another. Method: a real VPP is stopped where it is
// behind the lab's back; vpp-survives hears why it was killed, and the lab comes to rest with another VPP in which both pods answer.
func TestSilentVPP(t *testing.T) {
	w, ctx := standing(t, "name: silent\ntopology: {nodes: 1, podsPerNode: 2}\n")
	crash := ""
	w.Watch(func(f scenarios.Fact) error {
		if f.Kind == scenarios.FactVPPCrash {
			crash = f.Node + ": " + f.Text
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
