package cause

import (
	"slices"
	"strings"
)

// owned reports whether a step is a process's own, rather than a notification or the simulator's.
func owned(scope, text string) bool {
	if scope == "pod" || scope == "node" {
		var class string
		if class, text, _ = strings.Cut(text, " "); slices.Contains(simulated, class) {
			return false
		}
	}
	switch {
	case strings.HasPrefix(text, "decides "):
		return true
	case strings.HasPrefix(text, "link @>"):
		return !strings.Contains(text, " list ") && !strings.Contains(text, " watch ")
	case strings.HasPrefix(text, "fact "):
		return !strings.Contains(text, " ends") && !strings.Contains(text, "is up") &&
			!strings.Contains(text, "loses power") && !strings.Contains(text, " leaves ") &&
			!strings.HasPrefix(text, "fact the sandbox ") && !strings.HasPrefix(text, "fact VPP ") &&
			!strings.Contains(text, " VPP ") && !strings.HasPrefix(text, "fact @ is assigned")
	case strings.HasPrefix(text, "@ "):
		return !strings.HasPrefix(text, "@ wake") && !strings.HasSuffix(text, " up") && !strings.HasPrefix(text, "@ cni ") &&
			!strings.HasPrefix(text, "@ journal") && !strings.HasPrefix(text, "@ answer: ") &&
			!strings.HasSuffix(text, "agent ends")
	}
	return false
}

// acts reports whether an owned step is more than a read.
func acts(scope, text string) bool { return owned(scope, text) && !strings.Contains(text, " dump") }

// simulated are the scopes of the simulator's own steps.
var simulated = []string{"action", "churn", "garbage", "lifecycle", "scheduler", "heal", "start", "boot", "join", "api",
	"roll", "resume", "mend", "fresh"}
