package cluster

import (
	"maps"
	"slices"
	"time"
)

// LeaseID names a lease of a Store. 0 is no lease. An ID is never used twice, not even after Wipe.
type LeaseID int64

type storeLease struct {
	ttl     time.Duration
	expires time.Duration
	keys    map[string]bool
}

// Grant opens a lease that lives for ttl > 0 unless KeepAlive prolongs it; false during an outage.
func (s *Store) Grant(now, ttl time.Duration) (LeaseID, bool) {
	if s.down {
		return 0, false
	}
	s.lastLease++
	s.leases[s.lastLease] = &storeLease{ttl: ttl, expires: now + ttl, keys: make(map[string]bool)}
	return s.lastLease, true
}

// KeepAlive starts a lease's time anew; false when the lease is gone or the store is down.
func (s *Store) KeepAlive(now time.Duration, id LeaseID) bool {
	l := s.leases[id]
	if l == nil || s.down {
		return false
	}
	l.expires = now + l.ttl
	return true
}

// Revoke ends a lease and deletes its keys in one transaction; false when it is gone or the store is down.
func (s *Store) Revoke(id LeaseID) bool {
	l := s.leases[id]
	if l == nil || s.down {
		return false
	}
	var ops []Op
	for _, key := range slices.Sorted(maps.Keys(l.keys)) {
		ops = append(ops, Op{Kind: OpRemove, Key: key})
	}
	s.commit(ops)
	delete(s.leases, id)
	return true
}

// Expire ends every lease whose time has come, one transaction each, in the order of their ends, then of their IDs.
// A store that is down expires nothing: etcd prolongs every lease when a leader is elected, and so does SetAvailable's
// caller by calling ProlongLeases.
func (s *Store) Expire(now time.Duration) {
	for !s.down {
		id, at, ok := s.nextLease()
		if !ok || at > now {
			return
		}
		s.Revoke(id)
	}
}

// NextExpiry is when the next lease ends unless it is kept alive; false when no lease is open.
func (s *Store) NextExpiry() (time.Duration, bool) {
	_, at, ok := s.nextLease()
	return at, ok
}

// ProlongLeases starts every lease's time anew, as a newly elected etcd leader does.
func (s *Store) ProlongLeases(now time.Duration) {
	for _, l := range s.leases {
		l.expires = now + l.ttl
	}
}

func (s *Store) nextLease() (best LeaseID, at time.Duration, ok bool) {
	//vppdrill:unordered the earliest is kept, the smallest ID among equals
	for id, l := range s.leases {
		if !ok || l.expires < at || l.expires == at && id < best {
			best, at, ok = id, l.expires, true
		}
	}
	return best, at, ok
}
