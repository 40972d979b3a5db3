package scenarios

import "testing"

// Goal: a wrong verb is answered by the action that does that to the same thing, and not by one that is only spelt like it. Method: a table.
func TestNearestVerb(t *testing.T) {
	for word, want := range map[string]string{
		"kill-node": "crash-node", "stop-node": "crash-node", "delete-node": "remove-node", "create-node": "add-node", "restart-node": "reboot-node",
		"crash-vpp": "kill-vpp", "remove-pod": "delete-pods", "add-pods": "create-pods",
		"restart-vp": "restart-vpp", "rol-nodes": "roll-nodes", "drain": "drain-node", "kill-universe": "", "nonsense": "",
	} {
		if got := nearestVerb(word); got != want {
			t.Errorf("%s: did you mean %q, want %q", word, got, want)
		}
	}
}
