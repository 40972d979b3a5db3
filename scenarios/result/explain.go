package result

import (
	"github.com/vppdrill/vppdrill/ipam"

	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// podNames maps sandboxes to pods, from facts: laws name sandboxes, users think in pods. In a long run only the last
// sandboxes are known.
type podNames struct {
	// latest holds up to podNamesMost pods by container ID, earlier as many older ones.
	latest, earlier map[string]string
}

const podNamesMost = 50_000

func (n *podNames) observe(f *fact.Fact) {
	switch x := f.What.(type) {
	case fact.Asked:
		n.note(x.Owner, x.Pod)
	case fact.Answered:
		n.note(x.Owner, x.Pod)
	}
}

func (n *podNames) note(o ipam.Owner, pod string) {
	if pod == "" {
		return
	}
	if n.latest == nil || len(n.latest) >= podNamesMost {
		n.earlier, n.latest = n.latest, map[string]string{}
	}
	n.latest[o.ContainerID] = pod
}

func (n *podNames) of(container string) string {
	if pod, ok := n.latest[container]; ok {
		return pod
	}
	return n.earlier[container]
}

// ownerPattern finds attachments as ipam.Owner prints them, with a container ID as runtimes make them.
var ownerPattern = regexp.MustCompile(`[^\s/"(]+/([0-9a-f]{64})/[^\s,;:)"]+`)

// shortID is the length of a displayed container ID, as crictl prints it.
const shortID = 13

// name replaces attachments by pod names.
func (n *podNames) name(text string) string {
	return ownerPattern.ReplaceAllStringFunc(text, func(owner string) string {
		id := strings.Split(owner, "/")[1]
		if pod := n.of(id); pod != "" {
			return "pod " + pod + " (sandbox " + id[:shortID] + ")"
		}
		return "sandbox " + id[:shortID]
	})
}

// before describes the last action before a time, and the faults that are active then: where the search for a cause
// begins.
func (m *marks) before(at time.Duration) string {
	var last string
	var lasting []string
	for _, mark := range m.all {
		if mark.AtSeconds > at.Seconds() || mark.Kind != markAction && mark.Kind != markFault {
			continue
		}
		started := time.Duration(mark.AtSeconds * float64(time.Second)).Round(time.Millisecond)
		last = mark.Text + " at " + scenarios.FormatDuration(started)
		if mark.Kind == markFault && (slices.Contains(m.openMarks(), mark) || mark.EndSeconds > at.Seconds()) {
			lasting = append(lasting, mark.Text+" since "+scenarios.FormatDuration(started))
		}
	}
	if n := len(lasting); n > 0 {
		return strings.Join(lasting[max(0, n-lastingMost):], "; ")
	}
	return last
}

// lastingMost is how many active faults are named.
const lastingMost = 3

// openMarks are the faults that last until everything is healed.
func (m *marks) openMarks() (list []Mark) {
	for _, i := range m.open {
		list = append(list, m.all[i])
	}
	return list
}
