package check

import "github.com/vppdrill/vppdrill/scenarios"

const writtenIsReadName = "written-is-read"

// writtenIsRead: what a program has written for its next life, for its like, or for whoever takes over from it, is taken as it stands: an agent's journal and its keys in the store,
// a controller's ledger of blocks, the text of a call. What is refused was written wrong, or is read wrong, and whoever reads goes on without it.
//
// A ledger in a store that has lost its data may get an entry from a leader that does not lead any more: it is struck out, and right so. A
// snapshot has no history.
func writtenIsRead() scenarios.Law {
	return scenarios.Law{
		Name:  writtenIsReadName,
		Why:   "A record that nobody can read is a promise forgotten: its loss shows when the address, block or cursor that it was about is given to somebody else.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.Unread, scenarios.ProgramLives, scenarios.Disturbances},
		Watch: func() scenarios.Watcher { return &readWatcher{} },
	}
}

type readWatcher struct {
	// wiped: the store has lost its data in this run.
	wiped  bool
	checks int64
}

func (w *readWatcher) Checks() int64 { return w.checks }

func (w *readWatcher) Observe(f *scenarios.Fact) error {
	switch f.Kind {
	case scenarios.FactAgentUp:
		w.checks++
	case scenarios.FactDisturbed:
		w.wiped = w.wiped || f.Text == (scenarios.WipeStore{}).Verb()
	case scenarios.FactUnread:
		w.checks++
		if f.Node == "" && w.wiped {
			return nil
		}
		return broken(writtenIsReadName, f.At, f.Node, "%s: look at what wrote it, and at what reads it", f.Text)
	}
	return nil
}
