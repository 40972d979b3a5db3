package lab_test

import (
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Goal: what agents asked for is counted over the whole run, lives that were killed and nodes that left included.
// Method: the same cluster without and with a second life, and without and with a node that leaves at the end.
func TestSummary(t *testing.T) {
	one := "name: counted\ntopology: {nodes: 2, podsPerNode: 2}\n"
	restarted := one + "timeline:\n  - {when: settled, do: restart-agent, node: node-1}\n"
	left := restarted + "  - {when: settled, do: remove-node, node: node-1}\n"
	var last result.Summary
	for _, text := range []string{one, restarted, left} {
		r := run(t, "# Counted.\n"+text)
		now := r.Summary
		if r.Verdict != result.Pass {
			t.Fatalf("%s: %s", r.Verdict, r.Error)
		}
		t.Logf("calls %d and %d, store %d, journal %d B", now.VPPCalls, now.LinuxCalls, now.StoreOps, now.JournalBytes)
		// Most calls are made once in each run; how often an agent looks again differs a little.
		if now.StoreOps == 0 || now.JournalBytes == 0 || now.JournalBytes < last.JournalBytes || now.VPPCalls*4 < last.VPPCalls*3 || now.LinuxCalls*4 < last.LinuxCalls*3 {
			t.Errorf("%+v after %+v", now, last)
		}
		last = now
	}
}
