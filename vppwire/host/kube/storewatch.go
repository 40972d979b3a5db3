package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// storeProbe is how often a watch looks whether the server and the data are still there: a connection may die without a
// word.
const storeProbe = 10 * time.Second

// watch tells changes behind a revision until the server ends it, which is told, or outer ends, which is told to
// nobody.
func (s *Store) watch(outer context.Context, r agent.StoreRequest, tell func(agent.Event)) {
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	say := func(ev agent.Event) {
		if outer.Err() == nil {
			tell(ev)
		}
	}
	timely := time.AfterFunc(s.cfg.RequestTimeout, cancel)
	data, events, err := s.openWatch(ctx, r)
	if err == nil && !timely.Stop() {
		err = context.DeadlineExceeded
	}
	if err != nil {
		s.complain(r, err)
		reply := agent.StoreReply{ID: r.ID, Err: agent.StoreUnavailable}
		if statusCode(err) == http.StatusGone {
			reply.Err = agent.StoreCompacted
		}
		say(reply)
		return
	}
	defer events.close()
	say(agent.StoreReply{ID: r.ID, Revision: r.Revision, Store: data})
	go s.probe(ctx, cancel, data)
	err = s.changes(events, r, say)
	s.cfg.Log.Debug("a watch of records has ended", "error", err)
	say(agent.StoreWatchLost{Watch: r.ID})
}

// eventStream is a watch's answer.
type eventStream struct {
	*json.Decoder
	close func()
}

// openWatch begins a watch, and tells what the data is known by.
func (s *Store) openWatch(ctx context.Context, r agent.StoreRequest) (data uint64, events eventStream, err error) {
	if data, err = s.identity(ctx); err != nil {
		return 0, events, err
	}
	body, err := s.request(http.MethodGet, "", nil).Param("watch", "true").Param("resourceVersion", version(r.Revision)).Stream(ctx)
	if err != nil {
		return 0, events, err
	}
	return data, eventStream{json.NewDecoder(body), func() { _ = body.Close() }}, nil // nobody wants the rest
}

// changes tells what a watch delivers until it ends. The end of the data's own identity is the end of the watch.
func (s *Store) changes(events eventStream, r agent.StoreRequest, say func(agent.Event)) error {
	for {
		var ev struct {
			Type   watch.EventType `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := events.Decode(&ev); err != nil {
			return err
		}
		if ev.Type == watch.Error {
			var status metav1.Status
			_ = json.Unmarshal(ev.Object, &status) // whatever it says, the watch is over
			return fmt.Errorf("%s", status.Message)
		}
		var record NodeIDRecord
		if err := json.Unmarshal(ev.Object, &record); err != nil {
			return err
		}
		if record.Name == identityName && ev.Type == watch.Deleted {
			return fmt.Errorf("the data is gone")
		}
		if ev.Type == watch.Bookmark || !record.under(r.Key) {
			continue
		}
		item, err := record.item()
		if err != nil {
			return err
		}
		if ev.Type == watch.Deleted {
			item.Value, item.Deleted = "", true
		}
		say(agent.StoreChanged{Watch: r.ID, Revision: item.ModRevision, Items: []agent.StoreItem{item}})
	}
}

// probe ends a watch whose data is not there any more, or whose connection may have died.
func (s *Store) probe(ctx context.Context, end func(), data uint64) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(storeProbe):
		}
		limited, cancel := context.WithTimeout(ctx, s.cfg.RequestTimeout)
		now, err := s.identity(limited)
		cancel()
		if err == nil && now != data {
			end()
			return
		}
	}
}
