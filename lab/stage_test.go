package lab_test

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/timeline/worldtest"
)

// Goal: a lab does every action or says by name and with a reason that it cannot. Method: every action of the language
// on real VPPs.
func TestEveryAction(t *testing.T) {
	const want = "kill-plugin kill-runtime fill-disk lose-state change-version set-clock stop-dhcp add-range remove-range restart-controller lose-leader claim-address"
	// Agents of a scenario without faults ask nobody what befalls them. Nobody claims addresses in a lab whose time is not VPP's.
	if have := strings.Join(worldtest.Answers(t, build(t, worldtest.Scenario+"duration: 1h\nfaults: {inject: [(Nth 1 (Request none Mute))]}\n")), " "); have != want {
		t.Errorf("refused %q, want %q", have, want)
	}
}
