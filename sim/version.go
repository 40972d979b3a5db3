package sim

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// What versions of the agent that do not exist yet write beside what the present one does: the policy about versions of
// package agent allows all of it. Those versions are the present one with these additions, which they know and it does
// not.
const (
	laterLine   = "later 1 2 3\n"
	laterField  = `,"later":{"a":[1]}`
	recordsTail = "}"
)

// formatLine says that the journal needs a later reader.
var formatLine = "format " + strconv.Itoa(agent.JournalFormat+1) + "\n"

// refusedDelay is how long a supervisor waits before it starts an agent again that has ended at once: the kubelet's
// first CrashLoopBackOff.
const refusedDelay = 10 * time.Second

// journalText is what a version writes of these lines.
func (m *machine) journalText(payload []byte) []byte {
	switch m.version {
	case scenarios.Next:
		return append(payload, laterLine...)
	case scenarios.Breaking:
		return append([]byte(formatLine+laterLine), payload...)
	}
	return payload
}

// knows reports whether a line is of those that only this later version knows.
func (m *machine) knows(line []byte) bool {
	text := string(line) + "\n"
	return m.version == scenarios.Next && text == laterLine || m.version == scenarios.Breaking && (text == laterLine || text == formatLine)
}

// toStore and fromStore are how a version writes node records and reads its own.
func (m *machine) toStore(r agent.StoreRequest) agent.StoreRequest {
	if m.later() && strings.HasPrefix(r.Key, nodeid.Prefix) && strings.HasSuffix(r.Value, recordsTail) {
		r.Value = strings.TrimSuffix(r.Value, recordsTail) + laterField + recordsTail
	}
	return r
}

func (m *machine) fromStore(items []agent.StoreItem) []agent.StoreItem {
	if !m.later() {
		return items
	}
	items = slices.Clone(items)
	for i := range items {
		items[i].Value = strings.Replace(items[i].Value, laterField, "", 1)
	}
	return items
}

func (m *machine) later() bool {
	return m.version == scenarios.Next || m.version == scenarios.Breaking
}

// refuse ends an agent that has found a journal too new for it. Its supervisor tries again.
func (m *machine) refuse(why error) {
	m.w.note(m, "agent", why.Error())
	life := m.agentLife
	m.w.eng.After(refusedDelay, &happening{m, "agent restarted", func() {
		if m.agentLife == life && !m.agentHeld {
			m.startAgent()
		}
	}})
}
