package etcd

import (
	"context"
	"errors"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Store is one agent's store. It has at most one watch.
type Store struct {
	c *Client

	mu  sync.Mutex
	end context.CancelFunc // of the present watch
}

// Store returns the store of one agent.
func (c *Client) Store() *Store { return &Store{c: c} }

// key is a key of the agent's as etcd has it; name is the way back.
func (s *Store) key(name string) string { return s.c.prefix + below + name }
func (s *Store) name(key []byte) string { return string(key[len(s.c.prefix)+len(below):]) }

// Do starts one request of the agent: see vppwire/host, Store.
func (s *Store) Do(r agent.StoreRequest, tell func(agent.Event)) {
	if r.Op == agent.StoreWatch {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.end != nil {
			s.end()
		}
		ctx, end := context.WithCancel(s.c.ctx)
		s.end = end
		go s.watch(ctx, r, tell)
		return
	}
	go func() { tell(s.perform(r)) }()
}

// perform does everything but watches.
func (s *Store) perform(r agent.StoreRequest) agent.StoreReply {
	key := s.key(r.Key)
	same := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", r.Revision)}
	present := []clientv3.Op{clientv3.OpGet(key)}
	var a answer
	var err error
	switch r.Op {
	case agent.StoreList:
		a, err = s.c.commit(s.c.ctx, nil, []clientv3.Op{clientv3.OpGet(key, clientv3.WithPrefix())}, nil)
	case agent.StoreCreate:
		absent := []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", 0)}
		a, err = s.c.commit(s.c.ctx, absent, []clientv3.Op{clientv3.OpPut(key, r.Value)}, present)
	case agent.StoreUpdate:
		// An absent key has revision 0, which is nobody's to update.
		exists := append(same, clientv3.Compare(clientv3.CreateRevision(key), ">", 0))
		a, err = s.c.commit(s.c.ctx, exists, []clientv3.Op{clientv3.OpPut(key, r.Value)}, present)
	case agent.StoreDelete:
		exists := append(same, clientv3.Compare(clientv3.CreateRevision(key), ">", 0))
		a, err = s.c.commit(s.c.ctx, exists, []clientv3.Op{clientv3.OpDelete(key)}, present)
	default:
		panic("etcd: unknown store request " + r.Op.String())
	}
	if err != nil {
		s.c.log.Debug("the store does not answer", "op", r.Op.String(), "key", r.Key, "error", err)
		return agent.StoreReply{ID: r.ID, Err: agent.StoreUnavailable}
	}
	reply := agent.StoreReply{ID: r.ID, Revision: a.Header.Revision, Store: a.store}
	switch {
	case !a.Succeeded:
		reply.Err = agent.StoreConflict
		if reply.Items = s.items(a.Responses[0].GetResponseRange()); len(reply.Items) == 0 {
			reply.Items = []agent.StoreItem{{Key: r.Key, Deleted: true}}
		}
	case r.Op == agent.StoreList:
		reply.Items = s.items(a.Responses[0].GetResponseRange())
	case r.Op == agent.StoreDelete:
		reply.Items = []agent.StoreItem{{Key: r.Key, ModRevision: a.Header.Revision, Deleted: true}}
	default:
		reply.Items = []agent.StoreItem{{Key: r.Key, Value: r.Value, ModRevision: a.Header.Revision}}
	}
	return reply
}

func (s *Store) items(r *pb.RangeResponse) []agent.StoreItem {
	var items []agent.StoreItem
	for _, kv := range r.Kvs {
		items = append(items, agent.StoreItem{Key: s.name(kv.Key), Value: string(kv.Value), ModRevision: kv.ModRevision})
	}
	return items
}

// watch tells changes after a revision until ctx ends, which is told to nobody, or etcd ends it.
func (s *Store) watch(ctx context.Context, r agent.StoreRequest, tell func(agent.Event)) {
	inner, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	first, err := s.c.commit(inner, nil, nil, nil) // whose data this is
	if err != nil {
		s.tell(ctx, tell, agent.StoreReply{ID: r.ID, Err: agent.StoreUnavailable})
		return
	}
	if s.forgotten(inner, r) {
		s.tell(ctx, tell, agent.StoreReply{ID: r.ID, Err: agent.StoreCompacted, Revision: first.Header.Revision, Store: first.store})
		return
	}
	timely := time.AfterFunc(requestTime, cancel)
	changes := s.c.etcd.Watch(inner, s.key(r.Key), clientv3.WithPrefix(), clientv3.WithRev(r.Revision+1), clientv3.WithCreatedNotify())
	confirmed := false
	for w := range changes {
		switch {
		case w.Err() != nil:
			cancel()
		case !confirmed && timely.Stop():
			confirmed = true
			s.tell(ctx, tell, agent.StoreReply{ID: r.ID, Revision: w.Header.Revision, Store: first.store})
			go s.probe(inner, cancel, first)
		}
		if confirmed {
			s.changed(ctx, tell, r.ID, w.Events)
		}
	}
	if !confirmed {
		s.tell(ctx, tell, agent.StoreReply{ID: r.ID, Err: agent.StoreUnavailable})
		return
	}
	s.tell(ctx, tell, agent.StoreWatchLost{Watch: r.ID})
}

// forgotten reports whether etcd has compacted changes away that a watch would have to tell. Asked beforehand, as etcd
// confirms such a watch before it ends it.
func (s *Store) forgotten(ctx context.Context, r agent.StoreRequest) bool {
	if r.Revision == 0 {
		return false
	}
	_, err := s.c.etcd.Get(ctx, s.key(r.Key), clientv3.WithRev(r.Revision))
	return errors.Is(err, rpctypes.ErrCompacted)
}

// tell tells, unless the watch was ended from here.
func (s *Store) tell(ctx context.Context, tell func(agent.Event), ev agent.Event) {
	if ctx.Err() == nil {
		tell(ev)
	}
}

// changed tells events as one StoreChanged for each transaction.
func (s *Store) changed(ctx context.Context, tell func(agent.Event), id uint64, events []*clientv3.Event) {
	for len(events) > 0 {
		revision := events[0].Kv.ModRevision
		var items []agent.StoreItem
		for len(events) > 0 && events[0].Kv.ModRevision == revision {
			kv := events[0].Kv
			items = append(items, agent.StoreItem{Key: s.name(kv.Key), Value: string(kv.Value), ModRevision: revision,
				Deleted: events[0].Type == mvccpb.DELETE})
			events = events[1:]
		}
		s.tell(ctx, tell, agent.StoreChanged{Watch: id, Revision: revision, Items: items})
	}
}

// probe ends a watch whose data is not there any more: etcd's client joins a watch to whatever answers under the
// address, and a watch from a revision that new data has not reached says nothing for a long time.
func (s *Store) probe(ctx context.Context, end func(), first answer) {
	last := first.Header.Revision
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(probeInterval):
		}
		a, err := s.c.commit(ctx, nil, nil, nil)
		if err != nil {
			continue // an outage ends no watch; what it hid is told afterwards
		}
		if a.store != first.store || a.Header.Revision < last {
			end()
			return
		}
		last = a.Header.Revision
	}
}
