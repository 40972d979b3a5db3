package sim

import (
	"fmt"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// revisions are those at which answers of the store have shown an agent the keys that it writes, since its last list, which shows all of them.
// What a watch tells late is older than such an answer and no news.
type revisions map[string]int64

// heard notes an answer to the last request. One that comes late may have been given up.
func (v *revisions) heard(asked agent.StoreRequest, e agent.StoreReply, late bool) {
	switch {
	case asked.Op == agent.StoreList:
		clear(*v)
	case late:
	case e.Err == agent.StoreOK && len(e.Items) == 0:
		v.note(asked.Key, e.Revision)
	case e.Err == agent.StoreOK, e.Err == agent.StoreConflict:
		for i := range e.Items {
			v.note(e.Items[i].Key, e.Items[i].ModRevision)
		}
	}
}

func (v *revisions) note(key string, revision int64) {
	if *v == nil {
		*v = revisions{}
	}
	(*v)[key] = max((*v)[key], revision)
}

// outdated says why a request cannot be granted by what the agent has been told; empty when it may be.
func (v revisions) outdated(r agent.StoreRequest) string {
	if told := v[r.Key]; (r.Op == agent.StoreUpdate || r.Op == agent.StoreDelete) && r.Revision < told {
		return fmt.Sprintf("names revision %d, and an answer has told of revision %d: older news has counted for more", r.Revision, told)
	}
	return ""
}
