package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// StoreConfig says where records of node IDs are kept.
type StoreConfig struct {
	// Client needs, of NodeIDRecords: get, list, watch, create, update, delete.
	Client kubernetes.Interface
	// RequestTimeout is how long a request may go unanswered; 0 is 5 s, as agents wait no longer.
	RequestTimeout time.Duration
	// Log is for people; nil: nobody.
	Log *slog.Logger
}

// Store is vppwire/host's Store on Kubernetes: each key is an object of its own, and its resourceVersion the revision.
// An answer that did not come, and a refusal that is not about what is there, are unavailable.
//
// What the data is known by is the UID of one object among the records, which whoever finds it missing makes: data that
// was lost has lost it. A list reads it with the records; behind a write it is read again.
type Store struct {
	cfg StoreConfig
	ctx context.Context
	end context.CancelFunc

	mu       sync.Mutex
	endWatch context.CancelFunc // of the present watch
	said     bool               // that the server does not do what it is asked
}

// storeRequestTimeout is nodeid's own patience.
const storeRequestTimeout = 5 * time.Second

// NewStore returns a store that does nothing before Do.
func NewStore(cfg StoreConfig) *Store {
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = storeRequestTimeout
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	ctx, end := context.WithCancel(logged(context.Background(), cfg.Log))
	return &Store{cfg: cfg, ctx: ctx, end: end}
}

// Close ends every request and watch; of what is under way nobody is told.
func (s *Store) Close() { s.end() }

// Do starts one request of the agent: see vppwire/host, Store.
func (s *Store) Do(r agent.StoreRequest, tell func(agent.Event)) {
	if r.Op == agent.StoreWatch {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.endWatch != nil {
			s.endWatch()
		}
		ctx, end := context.WithCancel(s.ctx)
		s.endWatch = end
		go s.watch(ctx, r, tell)
		return
	}
	go func() {
		reply, err := s.perform(r)
		if err != nil {
			s.complain(r, err)
			reply = agent.StoreReply{ID: r.ID, Err: agent.StoreUnavailable}
		}
		if s.ctx.Err() == nil {
			tell(reply)
		}
	}()
}

// complain says once what is likely to stay: a refusal. Everything else is said for those who look closely.
func (s *Store) complain(r agent.StoreRequest, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	level := slog.LevelDebug
	if refused(err) && !s.said {
		level, s.said = slog.LevelWarn, true
	}
	s.cfg.Log.Log(s.ctx, level, "the store does not answer", "op", r.Op.String(), "key", r.Key, "error", err)
}

// perform does everything but watches.
func (s *Store) perform(r agent.StoreRequest) (agent.StoreReply, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.RequestTimeout)
	defer cancel()
	if r.Op == agent.StoreList {
		return s.list(ctx, r)
	}
	name, err := recordName(r.Key)
	if err != nil {
		return agent.StoreReply{}, err
	}
	if r.Op != agent.StoreCreate && r.Revision <= 0 {
		return s.present(ctx, r, name) // a server takes an update of no version for one of any
	}
	var done *NodeIDRecord
	switch r.Op {
	case agent.StoreCreate:
		done, err = s.write(ctx, http.MethodPost, "", newRecord(name, r.Key, r.Value, ""))
	case agent.StoreUpdate:
		done, err = s.write(ctx, http.MethodPut, name, newRecord(name, r.Key, r.Value, version(r.Revision)))
	case agent.StoreDelete:
		done, err = s.delete(ctx, name, r.Revision)
	default:
		panic("kube: unknown store request " + r.Op.String())
	}
	switch code := statusCode(err); {
	case code == http.StatusConflict || code == http.StatusNotFound && r.Op != agent.StoreCreate:
		return s.present(ctx, r, name)
	case err != nil:
		return agent.StoreReply{}, err
	}
	item, err := done.item()
	if err != nil {
		return agent.StoreReply{}, err
	}
	if item.Key = r.Key; r.Op == agent.StoreDelete {
		item.Value, item.Deleted = "", true
	}
	data, err := s.identity(ctx)
	return agent.StoreReply{ID: r.ID, Revision: item.ModRevision, Items: []agent.StoreItem{item}, Store: data}, err
}

// present is the answer to a request whose comparison does not hold: what is there.
func (s *Store) present(ctx context.Context, r agent.StoreRequest, name string) (agent.StoreReply, error) {
	reply := agent.StoreReply{ID: r.ID, Err: agent.StoreConflict, Items: []agent.StoreItem{{Key: r.Key, Deleted: true}}}
	there, err := s.get(ctx, name)
	switch {
	case statusCode(err) == http.StatusNotFound:
		return reply, nil
	case err != nil:
		return reply, err
	}
	item, err := there.item()
	if err == nil && item.Key != r.Key {
		err = fmt.Errorf("record %s is of key %q, not of %q", name, item.Key, r.Key)
	}
	reply.Items[0], reply.Revision = item, item.ModRevision
	return reply, err
}

// list reads all records and what the data is known by, as of one moment.
func (s *Store) list(ctx context.Context, r agent.StoreRequest) (agent.StoreReply, error) {
	for {
		list, err := s.records(ctx, "")
		if err != nil {
			return agent.StoreReply{}, err
		}
		reply := agent.StoreReply{ID: r.ID, Store: list.identity()}
		if reply.Revision, err = revision(list.ResourceVersion); err != nil {
			return reply, err
		}
		for i := range list.Items {
			if !list.Items[i].under(r.Key) {
				continue
			}
			item, err := list.Items[i].item()
			if err != nil {
				return reply, err
			}
			reply.Items = append(reply.Items, item)
		}
		if reply.Store != 0 {
			return reply, nil
		}
		if _, err := s.identity(ctx); err != nil {
			return reply, err
		}
	}
}

// identity is what the data is known by now, and is made where it is missing. Data that was lost and filled again since
// a list has another one.
func (s *Store) identity(ctx context.Context) (uint64, error) {
	for {
		r, err := s.get(ctx, identityName)
		if statusCode(err) == http.StatusNotFound {
			r, err = s.write(ctx, http.MethodPost, "", newRecord(identityName, "", "", ""))
			if statusCode(err) == http.StatusConflict {
				continue // somebody else was faster
			}
		}
		if err != nil {
			return 0, err
		}
		return r.known(), nil
	}
}

// delete deletes a record of this version, and tells at which version it was gone. The server's answer does not say
// that, a list afterwards does; where the record has come again meanwhile, it was gone before that.
func (s *Store) delete(ctx context.Context, name string, at int64) (*NodeIDRecord, error) {
	body, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": map[string]string{"resourceVersion": version(at)}})
	if err != nil {
		return nil, err
	}
	if err := s.request(http.MethodDelete, name, body).Do(ctx).Error(); err != nil {
		return nil, err
	}
	list, err := s.records(ctx, "metadata.name="+name)
	if err != nil {
		return nil, err
	}
	gone := &NodeIDRecord{}
	gone.Name, gone.ResourceVersion = name, list.ResourceVersion
	for i := range list.Items {
		again, err := revision(list.Items[i].ResourceVersion)
		if err != nil {
			return nil, err
		}
		gone.ResourceVersion = version(again - 1)
	}
	return gone, nil
}
