package kindworld

import (
	"errors"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab"
)

// Goal: an API server that is silent for long ends the run as one that cannot be judged, unless the timeline has
// stopped it. Method: what came of requests, and how long ago the last answer was.
func TestSilentServer(t *testing.T) {
	silent := errors.New("connection refused")
	long := time.Now().Add(-2 * silentMost)
	for what, c := range map[string]struct {
		before func(*apiServer)
		err    error
		gone   bool
	}{ // in any order: each by itself
		"answers":      {func(s *apiServer) { s.answeredAt = long }, nil, false},
		"never so far": {func(*apiServer) {}, silent, false},
		"for a moment": {func(s *apiServer) { s.answeredAt = time.Now().Add(-silentMost / 2) }, silent, false},
		"for long":     {func(s *apiServer) { s.answeredAt = long }, silent, true},
		"stopped":      {func(s *apiServer) { s.stops("etcd", true); s.answeredAt = long }, silent, false},
		"let go on":    {func(s *apiServer) { s.answeredAt = long; s.stops("etcd", true); s.stops("etcd", false) }, silent, false},
	} {
		s := &apiServer{}
		c.before(s)
		if err := s.heard("c", "c-control-plane", c.err); (err != nil) != c.gone || c.gone && !lab.IsCannotRun(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
