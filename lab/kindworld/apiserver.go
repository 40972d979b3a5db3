package kindworld

import (
	"time"

	"github.com/vppdrill/vppdrill/lab"
)

// silentMost is how long an API server that nobody has stopped may say nothing: longer than one takes that is started
// again.
const silentMost = time.Minute

// apiServer is what the world knows of the API server, which runs beside what is judged.
type apiServer struct {
	// answeredAt is when it answered last, or was let go on.
	answeredAt time.Time
	// stopped are the processes of the control plane that the timeline has stopped.
	stopped map[string]bool
}

// heard notes what came of a request to the API server of a cluster, which runs in the container control. One that goes
// away by itself says nothing about the scenario: that is lab.ErrCannotRun.
func (s *apiServer) heard(cluster, control string, err error) error {
	now := time.Now()
	if err == nil || len(s.stopped) > 0 || s.answeredAt.IsZero() {
		s.answeredAt = now
		return nil
	}
	silent := now.Sub(s.answeredAt)
	if silent <= silentMost {
		return nil
	}
	s.answeredAt = now // it is told once
	return lab.Cannot("the API server of cluster %s has not answered for %s, and nothing of the scenario has stopped it; docker ps -a --filter name=%s says whether it runs, docker logs %s more: %s",
		cluster, silent.Round(time.Second), control, control, err)
}

// stops notes that the timeline stops a process of the control plane, or lets it go on.
func (s *apiServer) stops(process string, stop bool) {
	if s.stopped == nil {
		s.stopped = map[string]bool{}
	}
	delete(s.stopped, process)
	if stop {
		s.stopped[process] = true
	}
	s.answeredAt = time.Now()
}
