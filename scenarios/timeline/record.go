package timeline

import (
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// RecordChange is what a change of a key of the store does to a node's record; the texts are empty where there is none. False for other
// keys. What cannot be read is nobody's.
func RecordChange(key, before, after string) (c fact.RecordChange, ok bool) {
	if !strings.HasPrefix(key, nodeid.Prefix) {
		return c, false
	}
	for _, side := range [...]struct {
		text string
		to   *fact.NodeRecord
	}{{before, &c.Before}, {after, &c.After}} {
		if r, err := nodeid.ParseRecord(side.text); side.text != "" && err == nil {
			ok, c.ID = true, r.ID
			*side.to = fact.NodeRecord{Name: r.Name, UID: r.UID, Released: !r.ReleasedAt.IsZero()}
			if side.to == &c.After {
				c.Blocks, c.Address = r.PodNetworks, r.Address.Addr()
			}
		}
	}
	return c, ok
}
