package check

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

const actsSoonName = "acts-soon"

// dueMost is how long what is due may stay undone where nothing disturbs the cluster: of 551 runs of the catalogue nothing takes more than a second of the
// simulator's time (November 2026), but for what waits by design, which worlds leave out.
const dueMost = 2 * time.Second

// actsSoon: where nothing disturbs the cluster, nothing that is due stays undone for longer than a moment. What comes only with the next timer, or with
// the next event that has nothing to do with it, comes in the end, and every law about the end holds. The world tells what is due where it can vouch that
// nothing explains why it waits.
//
// A snapshot has no history.
func actsSoon() scenarios.Law {
	return scenarios.Law{
		Name:  actsSoonName,
		Why:   "A wakeup that is lost shows as minutes in which a new node has no addresses or a pod no network, now and then, and nothing is logged.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.DueThings},
		Watch: func() scenarios.Watcher { return &soonWatcher{} },
	}
}

type soonWatcher struct{ checks int64 }

func (w *soonWatcher) Checks() int64 { return w.checks }

func (w *soonWatcher) Observe(f *scenarios.Fact) error {
	if f.Kind != scenarios.FactDue {
		return nil
	}
	w.checks++
	if f.Rest <= dueMost {
		return nil
	}
	where := "the control plane"
	if f.Node != "" {
		where = f.Node
	}
	return broken(actsSoonName, f.At, f.Node, "%s: that is due on %s for %s, and nothing disturbs the cluster: look at what is to wake whoever does it", f.Text, where, f.Rest)
}
