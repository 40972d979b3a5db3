package cause

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Habit says that whoever did one step did another one, too: after the last time of the first, or before its first time.
type Habit struct {
	// Scope is whose steps they are: of one process's life ("node life"), about one pod, of one node about one block.
	Scope string
	// Did is the step that was taken, Other the one that belongs to it, Before it where Earlier is set, else behind it.
	Did, Other string
	Earlier    bool
	// Both: it is said only of those who did both.
	Both bool
	// Next: it only says how often Other was the own step that came next behind Did.
	Next bool
	// Kept of Seen times it was so, Within usually this time.
	Seen, Kept int
	Within     time.Duration
	// rank is how far from Did it is, in different steps, times 100.
	rank int
}

// owned reports whether a step is one that a process takes by itself, and not one that it is told of or that the simulator does.
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
		return !strings.Contains(text, " ends") && !strings.Contains(text, "is up") && !strings.Contains(text, "loses power") && !strings.Contains(text, " leaves ") &&
			!strings.HasPrefix(text, "fact the sandbox ") && !strings.HasPrefix(text, "fact VPP ") && !strings.Contains(text, " VPP ") && !strings.HasPrefix(text, "fact @ is assigned")
	case strings.HasPrefix(text, "@ "):
		return !strings.HasPrefix(text, "@ wake") && !strings.HasSuffix(text, " up") && !strings.HasPrefix(text, "@ cni ") &&
			!strings.HasPrefix(text, "@ journal") && !strings.HasPrefix(text, "@ answer: ") && !strings.HasSuffix(text, "agent ends")
	}
	return false
}

// acts reports whether an owned step is more than a look.
func acts(scope, text string) bool { return owned(scope, text) && !strings.Contains(text, " dump") }

// simulated are the scopes of what the simulator itself does.
var simulated = []string{"action", "churn", "garbage", "lifecycle", "scheduler", "heal", "start", "boot", "join", "api", "roll", "resume", "mend", "fresh"}

// way is the word for how Other belongs to Did in files.
func (h *Habit) way() string {
	switch {
	case h.Next:
		return "next"
	case h.Both:
		return "order"
	case h.Earlier:
		return "after"
	}
	return "then"
}

// WriteHabits writes habits as ReadHabits reads them.
func WriteHabits(list []Habit) string {
	var out strings.Builder
	scope, did := "", ""
	for _, h := range list {
		if h.Scope != scope {
			scope, did = h.Scope, ""
			fmt.Fprintf(&out, "%s\n", scope)
		}
		if h.Did != did {
			did = h.Did
			fmt.Fprintf(&out, "\t%s\n", did)
		}
		fmt.Fprintf(&out, "\t\t%s %d %d %s %s\n", h.way(), h.Kept, h.Seen, h.Within, h.Other)
	}
	return out.String()
}

// ReadHabits reads what WriteHabits wrote.
func ReadHabits(text string) (list []Habit, err error) {
	var h Habit
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "\t\t"):
			f := strings.SplitN(line[2:], " ", 5)
			if len(f) < 5 {
				return nil, fmt.Errorf("habit %q: want five fields", line)
			}
			h.Earlier, h.Both, h.Next, h.Other = f[0] == "after" || f[0] == "order", f[0] == "order", f[0] == "next", f[4]
			h.Kept, err = strconv.Atoi(f[1])
			if err == nil {
				h.Seen, err = strconv.Atoi(f[2])
			}
			if err == nil {
				h.Within, err = time.ParseDuration(f[3])
			}
			if err != nil {
				return nil, fmt.Errorf("habit %q: %w", line, err)
			}
			list = append(list, h)
		case strings.HasPrefix(line, "\t"):
			h.Did = line[1:]
		default:
			h.Scope = line
		}
	}
	return list, nil
}
