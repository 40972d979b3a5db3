package story

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// Store is the cluster's store: linearizable, with watches. Its fields say what goes wrong next.
type Store struct {
	revision int64
	identity uint64 // of the data
	items    map[string]agent.StoreItem
	history  []agent.StoreItem // every change, in order
	watches  map[*Machine]*watch
	// Off: requests are answered with unavailable. LoseReply: the next one is done and not answered. LoseRequest: the
	// next one is neither.
	Off, LoseReply, LoseRequest bool
}

type watch struct {
	id   uint64
	life int
}

func newStore() *Store {
	return &Store{revision: 1, identity: 1, items: map[string]agent.StoreItem{}, watches: map[*Machine]*watch{}}
}

// do performs one request; what it answers comes at once.
func (s *Store) do(b *Machine, r agent.StoreRequest) {
	reply := agent.StoreReply{ID: r.ID, Store: s.identity}
	fate := b.lab.fate(b, "store")
	if s.LoseRequest && r.Op != agent.StoreWatch {
		s.LoseRequest, fate = false, RequestLost
	}
	if fate == RequestLost {
		return
	}
	if s.Off || fate == Refused {
		reply.Err = agent.StoreUnavailable
		b.Step(reply)
		return
	}
	present, exists := s.items[r.Key]
	conflict := func() {
		reply.Err = agent.StoreConflict
		if exists {
			reply.Items = []agent.StoreItem{present}
		}
	}
	switch r.Op {
	case agent.StoreList:
		for _, key := range s.keys() {
			reply.Items = append(reply.Items, s.items[key])
		}
	case agent.StoreCreate:
		if exists {
			conflict()
		} else {
			s.put(r.Key, r.Value)
		}
	case agent.StoreUpdate, agent.StoreDelete:
		switch {
		case !exists || present.ModRevision != r.Revision:
			conflict()
		case r.Op == agent.StoreUpdate:
			s.put(r.Key, r.Value)
		default:
			s.remove(r.Key)
		}
	case agent.StoreWatch:
		s.watches[b] = &watch{id: r.ID, life: b.Life}
		for _, item := range s.history {
			if item.ModRevision > r.Revision {
				s.send(b, item)
			}
		}
	}
	reply.Revision = s.revision
	if s.LoseReply && r.Op != agent.StoreWatch {
		s.LoseReply, fate = false, ReplyLost
	}
	if fate != ReplyLost {
		b.Step(reply)
	}
}

func (s *Store) keys() []string {
	var keys []string
	for k := range s.items {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y string) int {
		a, _ := strconv.Atoi(strings.TrimPrefix(x, nodeid.Prefix)) // 0: no node record's
		b, _ := strconv.Atoi(strings.TrimPrefix(y, nodeid.Prefix))
		return cmp.Or(cmp.Compare(a, b), strings.Compare(x, y))
	})
	return keys
}

// wipe loses all data and ends every watch.
func (s *Store) wipe() {
	watches := s.watches
	*s = Store{revision: 1, identity: s.identity + 1, items: map[string]agent.StoreItem{}, watches: map[*Machine]*watch{}}
	for _, b := range sortedMachines(watches) {
		w := watches[b]
		b.lab.jobs = append(b.lab.jobs, job{b, w.life, func() { b.Step(agent.StoreWatchLost{Watch: w.id}) }})
	}
}

func sortedMachines(watches map[*Machine]*watch) []*Machine {
	return slices.SortedFunc(maps.Keys(watches), func(x, y *Machine) int { return strings.Compare(x.Name, y.Name) })
}

func (s *Store) put(key, value string) {
	s.revision++
	s.items[key] = agent.StoreItem{Key: key, Value: value, ModRevision: s.revision}
	s.tell(s.items[key])
}

func (s *Store) remove(key string) {
	s.revision++
	delete(s.items, key)
	s.tell(agent.StoreItem{Key: key, ModRevision: s.revision, Deleted: true})
}

func (s *Store) tell(item agent.StoreItem) {
	s.history = append(s.history, item)
	for _, b := range sortedMachines(s.watches) {
		s.send(b, item)
	}
}

func (s *Store) send(b *Machine, item agent.StoreItem) {
	w := s.watches[b]
	b.lab.jobs = append(b.lab.jobs, job{b, w.life, func() {
		b.Step(agent.StoreChanged{Watch: w.id, Revision: item.ModRevision, Items: []agent.StoreItem{item}})
	}})
}

// Text is the store's content, one record a line.
func (s *Store) Text() string {
	var out strings.Builder
	for _, k := range s.keys() {
		fmt.Fprintf(&out, "%s %s\n", k, s.items[k].Value)
	}
	return out.String()
}

// Watch is the watch that a machine's agent has open, 0 for none.
func (s *Store) Watch(b *Machine) uint64 {
	if w := s.watches[b]; w != nil && w.life == b.Life {
		return w.id
	}
	return 0
}
