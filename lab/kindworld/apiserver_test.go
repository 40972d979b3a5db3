package kindworld

import (
	"errors"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab"
)

// Goal: an API server that is silent for long ends the run as one that cannot be judged, unless the timeline has stopped it. Method: what came of
// requests, and how long ago the last answer was.
func TestSilentServer(t *testing.T) {
	silent := errors.New("connection refused")
	for what, c := range map[string]struct {
		do   func(*World)
		gone bool
	}{ // in any order: each by itself
		"answers":      {func(w *World) { w.heard(nil) }, false},
		"never so far": {func(w *World) { w.heard(silent) }, false},
		"for a moment": {func(w *World) { w.api.answeredAt = time.Now().Add(-silentMost / 2); w.heard(silent) }, false},
		"for long":     {func(w *World) { w.api.answeredAt = time.Now().Add(-2 * silentMost); w.heard(silent) }, true},
		"stopped": {func(w *World) {
			w.api.stops("etcd", true)
			w.api.answeredAt = time.Now().Add(-2 * silentMost)
			w.heard(silent)
		}, false},
		"let go on": {func(w *World) {
			w.api.stops("etcd", true)
			w.api.stops("etcd", false)
			w.heard(silent)
		}, false},
	} {
		w := &World{}
		w.Record = lab.NewRecord(func() time.Duration { return 0 }, nil)
		c.do(w)
		if err := w.Unable(); (err != nil) != c.gone || c.gone && !lab.IsCannotRun(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
