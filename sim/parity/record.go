package parity

import (
	"context"
	"fmt"
	"time"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/vpe"

	"github.com/vppdrill/vppdrill/sim/parity/internal/transcript"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// Record asks a fresh real VPP what a transcript asks and returns the transcript with its answers. command goes into
// its head.
func Record(ctx context.Context, path, command string, t *transcript.Transcript) (*transcript.Transcript, error) {
	r, err := newTestbed()
	if err != nil {
		return nil, err
	}
	defer r.close()
	p, err := start(ctx, r, path, comparedHeap)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	version, err := vpe.NewServiceClient(p.conn).ShowVersion(ctx, &vpe.ShowVersion{})
	if err != nil {
		return nil, err
	}
	requests, err := t.Requests()
	if err != nil {
		return nil, err
	}
	recorder := transcript.NewRecorder(p.conn)
	var watches []api.Watcher
	for _, event := range vppmodel.Events() {
		watch, err := p.conn.WatchEvent(ctx, event)
		if err != nil {
			return nil, err
		}
		defer watch.Close()
		watches = append(watches, watch)
	}
	stop, cancel := context.WithCancel(p.gone)
	defer cancel()
	stream, err := recorder.NewStream(stop)
	if err != nil {
		return nil, err
	}
	for _, m := range requests {
		late := time.AfterFunc(answerMax, cancel)
		_, err := transcript.Ask(stream, m)
		if err == nil {
			err = p.hear(stop, watches, recorder)
		}
		late.Stop()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", t.Name, transcript.Text(m), err)
		}
	}
	out := &transcript.Transcript{Name: t.Name, Steps: recorder.Steps()}
	out.Head = append(out.Head, fmt.Sprintf("VPP %s, recorded by %s", version.Version, command))
	if len(t.Head) > 1 {
		out.Head = append(out.Head, t.Head[1:]...)
	}
	for i := range out.Steps {
		out.Steps[i].Comment = t.Steps[i].Comment
	}
	return out, nil
}

// hear waits until the events of the last request have come: VPP sends them from a process of its own, which has had
// its turn when a ping that was sent after the answer is answered, and so has govpp's when a second one is.
func (p *process) hear(ctx context.Context, watches []api.Watcher, r *transcript.Recorder) error {
	for range 2 {
		if err := p.conn.Invoke(ctx, &memclnt.ControlPing{}, &memclnt.ControlPingReply{}); err != nil {
			return err
		}
	}
	for _, w := range watches {
		for quiet := false; !quiet; {
			select {
			case e := <-w.Events():
				r.Heard(e)
			case <-time.After(hearMax):
				quiet = true
			}
		}
	}
	return nil
}

// hearMax is how long a kind of event is waited for that has all but certainly come.
const hearMax = 5 * time.Millisecond
