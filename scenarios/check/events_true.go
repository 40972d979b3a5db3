package check

import "github.com/vppdrill/vppdrill/scenarios"

const eventsTrueName = "events-true"

// eventsTrue: what a controller records about a node where people look is so: it names a Node object that exists or existed by name and UID, its text is
// about that node, its reason fits what the controller had been told, and it is not recorded again where nothing has changed.
//
// Whether an event is recorded where one is due, calls-needed judges. A snapshot has no history.
func eventsTrue() scenarios.Law {
	return scenarios.Law{
		Name:  eventsTrueName,
		Why:   "Events are what people find when a node gets no pods; one that names the wrong node, or a cause that is none, has them mend what works.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.RecordedEvents},
		Watch: func() scenarios.Watcher { return &eventWatcher{} },
	}
}

type eventWatcher struct{ checks int64 }

func (w *eventWatcher) Checks() int64 { return w.checks }

func (w *eventWatcher) Observe(f *scenarios.Fact) error {
	if f.Kind != scenarios.FactRecorded {
		return nil
	}
	w.checks++
	if f.Broken != "" {
		return broken(eventsTrueName, f.At, f.Node, "an event about %s, %q, is not so: %s; look at what records it", f.Node, f.Text, f.Broken)
	}
	return nil
}
