package kube

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// ledgerPrefix is where the ledger's entries are, one key each, so that the store takes each version once. ledgerStart is the version that the
// ledger begins with: what is there of an earlier one says nothing.
const (
	ledgerPrefix = "pools/ledger/"
	ledgerStart  = "pools/start"
)

func ledgerKey(version uint64) string { return fmt.Sprintf("%s%020d", ledgerPrefix, version) }

// ledgerSlack is OperatorConfig.LedgerSlack's default, sweepMost how many entries of before the ledger's start are deleted in one go: nodes wait
// meanwhile.
const (
	ledgerSlack = 128
	sweepMost   = 32
)

// ledger is what one leader knows of the entries by which blocks are given out.
//
// A ledger that has grown too long is begun anew: all that it says is appended once more, its start is set to the first of these, and what was
// before is deleted in time. A leader that was deposed before could append where an entry has been deleted. So who has appended looks whether
// the ledger still begins where it did or below: the start is set before anything is deleted.
type ledger struct {
	store *Store
	slack int
	log   *slog.Logger

	// start and startAt are the ledger's first version and the revision of the record that says so, next the version that comes.
	start, next uint64
	startAt     int64
	// entries are the revisions of the entries from start on, dead what is to be deleted.
	entries map[uint64]int64
	dead    []agent.StoreItem
}

func newLedger(store *Store, slack int, log *slog.Logger) ledger {
	return ledger{store: store, slack: slack, log: log, entries: map[uint64]int64{}}
}

// restore reads the ledger. Entries at its end that do not follow from the ones before are taken out: a store that has lost its data may
// get one from a deposed leader, late, and nobody could append where it stands. What nodes show is entered again by adoption.
func (l *ledger) restore(apply func(cilium.Claim) error) error {
	items, err := l.read()
	if err != nil {
		return fmt.Errorf("the ledger cannot be read: %w", err)
	}
	var stray []agent.StoreItem
	for _, item := range items {
		if item.Key < ledgerKey(l.start) {
			l.dead = append(l.dead, item)
			continue
		}
		c, err := cilium.ParseClaim(item.Value)
		if err == nil {
			err = apply(c)
		}
		if err == nil {
			stray = stray[:0]
			l.entries[c.Version] = item.ModRevision
			l.next = c.Version + 1
			continue
		}
		l.log.Warn("does not follow", "entry", item.Key, "error", err)
		stray = append(stray, item)
	}
	for _, item := range stray {
		done, err := l.store.perform(agent.StoreRequest{Op: agent.StoreDelete, Key: item.Key, Revision: item.ModRevision})
		if err != nil || done.Err != agent.StoreOK {
			return fmt.Errorf("%s is not known to be taken out: %v %w", item.Key, done.Err, err)
		}
	}
	return nil
}

// read is every entry, in order. Where the ledger is begun anew meanwhile, entries of before may be missing, and it is read again.
func (l *ledger) read() ([]agent.StoreItem, error) {
	for {
		if err := l.findStart(); err != nil {
			return nil, err
		}
		r, err := l.store.perform(agent.StoreRequest{Op: agent.StoreList, Key: ledgerPrefix})
		if err != nil {
			return nil, err
		}
		now, err := l.begins()
		if err != nil {
			return nil, err
		}
		if now.ModRevision == l.startAt {
			slices.SortFunc(r.Items, func(a, b agent.StoreItem) int { return strings.Compare(a.Key, b.Key) })
			return r.Items, nil
		}
	}
}

// findStart reads where the ledger begins, and says so where nobody has: with version 1.
func (l *ledger) findStart() error {
	for {
		item, err := l.begins()
		if statusCode(err) == http.StatusNotFound {
			// A conflict is somebody else's, which is read in the next round.
			if _, err := l.store.perform(agent.StoreRequest{Op: agent.StoreCreate, Key: ledgerStart, Value: "1"}); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		l.startAt = item.ModRevision
		l.start, err = strconv.ParseUint(item.Value, 10, 64)
		return err
	}
}

// begins is the record of the ledger's start as it is now.
func (l *ledger) begins() (agent.StoreItem, error) {
	name, err := recordName(ledgerStart)
	if err != nil {
		return agent.StoreItem{}, err
	}
	ctx, cancel := context.WithTimeout(l.store.ctx, l.store.cfg.RequestTimeout)
	defer cancel()
	r, err := l.store.get(ctx, name)
	if err != nil {
		return agent.StoreItem{}, err
	}
	return r.item()
}

// append puts entries into the ledger, one after the other. An answer that did not come may stand for an entry that is there.
func (l *ledger) append(entries []cilium.Claim) error {
	for _, c := range entries {
		r, err := l.store.perform(agent.StoreRequest{Op: agent.StoreCreate, Key: ledgerKey(c.Version), Value: c.String()})
		if err != nil {
			return fmt.Errorf("ledger entry %s is not known to be written: %w", c, err)
		}
		if r.Err != agent.StoreOK {
			return fmt.Errorf("ledger entry %d is another leader's", c.Version)
		}
		l.entries[c.Version], l.next = r.Revision, c.Version+1
	}
	if len(entries) == 0 {
		return nil
	}
	now, err := l.begins()
	if err != nil {
		return fmt.Errorf("it is not known whether the ledger still begins where it did: %w", err)
	}
	if now.ModRevision != l.startAt {
		return fmt.Errorf("another leader has begun the ledger anew, with version %s", now.Value)
	}
	return nil
}

// compact begins a ledger anew that has grown too long.
func (l *ledger) compact(pools Pools) error {
	if len(l.entries) <= l.slack || // it need not be counted
		len(l.entries) <= 2*len(pools.Records())+l.slack {
		return nil
	}
	entries := pools.Restate()
	if len(entries) == 0 {
		return nil // a ledger without entries would begin with version 1
	}
	if err := l.append(entries); err != nil {
		return err
	}
	first := entries[0].Version
	r, err := l.store.perform(agent.StoreRequest{Op: agent.StoreUpdate, Key: ledgerStart, Value: strconv.FormatUint(first, 10), Revision: l.startAt})
	if err != nil || r.Err != agent.StoreOK {
		return fmt.Errorf("it is not known whether the ledger begins with version %d: %v %w", first, r.Err, err)
	}
	l.log.Info("the ledger is begun anew", "version", first, "entries", len(entries), "before", len(l.entries)-len(entries))
	l.start, l.startAt = first, r.Revision
	for version, at := range l.entries { // in any order: all of them go
		if version < first {
			delete(l.entries, version)
			l.dead = append(l.dead, agent.StoreItem{Key: ledgerKey(version), ModRevision: at})
		}
	}
	return nil
}

// sweep deletes some of what was before the ledger's start. What is not known to be gone the next leader finds.
func (l *ledger) sweep(ctx context.Context) {
	for n := 0; n < sweepMost && len(l.dead) > 0 && ctx.Err() == nil; n++ {
		item := l.dead[len(l.dead)-1]
		l.dead = l.dead[:len(l.dead)-1]
		if _, err := l.store.perform(agent.StoreRequest{Op: agent.StoreDelete, Key: item.Key, Revision: item.ModRevision}); err != nil {
			return
		}
	}
}
