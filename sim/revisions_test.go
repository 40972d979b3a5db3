package sim

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Goal: a request is told of that names a revision older than what an answer has shown, and no other is. Method: a table of what is heard, and
// of an update of k at revision 5 behind it.
func TestRevisions(t *testing.T) {
	asked := agent.StoreRequest{Op: agent.StoreUpdate, Key: "k"}
	item := func(key string, revision int64) []agent.StoreItem {
		return []agent.StoreItem{{Key: key, ModRevision: revision}}
	}
	for _, tc := range []struct {
		name  string
		asked agent.StoreRequest
		reply agent.StoreReply
		late  bool
		told  string
	}{
		{"nothing", asked, agent.StoreReply{Err: agent.StoreUnavailable, Revision: 9}, false, ""},
		{"a write", asked, agent.StoreReply{Revision: 9}, false, "revision 9"},
		{"a write with its item", asked, agent.StoreReply{Revision: 11, Items: item("k", 8)}, false, "revision 8"},
		{"a conflict", asked, agent.StoreReply{Err: agent.StoreConflict, Items: item("k", 7)}, false, "revision 7"},
		{"a late answer", asked, agent.StoreReply{Revision: 9}, true, ""},
		{"the same revision", asked, agent.StoreReply{Err: agent.StoreConflict, Items: item("k", 5)}, false, ""},
		{"a conflict of another key", asked, agent.StoreReply{Err: agent.StoreConflict, Items: item("l", 7)}, false, ""},
	} {
		var v revisions
		v.heard(tc.asked, tc.reply, tc.late)
		for _, op := range []agent.StoreOp{agent.StoreUpdate, agent.StoreDelete} {
			why := v.outdated(agent.StoreRequest{Op: op, Key: "k", Revision: 5})
			if (why == "") != (tc.told == "") || !strings.Contains(why, tc.told) {
				t.Errorf("%s: %q, want %q", tc.name, why, tc.told)
			}
		}
		if why := v.outdated(agent.StoreRequest{Op: agent.StoreCreate, Key: "k"}); why != "" {
			t.Errorf("%s: a create: %q", tc.name, why)
		}
		v.heard(agent.StoreRequest{Op: agent.StoreList}, agent.StoreReply{}, true)
		if why := v.outdated(agent.StoreRequest{Op: agent.StoreUpdate, Key: "k", Revision: 1}); why != "" {
			t.Errorf("%s: behind a list: %q", tc.name, why)
		}
	}
}
