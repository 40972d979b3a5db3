package kube

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// ledgerPrefix is where the ledger's entries are, one key each. ledgerStart is the version that the ledger begins with.
const (
	ledgerPrefix = "pools/ledger/"
	ledgerStart  = "pools/start"
)

// poolLedger keeps the ledger of blocks among the records of node IDs, an object for each entry.
type poolLedger struct{ store *Store }

// perform makes a request of a term; false where it is none to the ledger.
func (l poolLedger) perform(e cilium.Effect) (cilium.Event, bool) {
	switch e := e.(type) {
	case cilium.ReadStart:
		return l.start(e.ID), true
	case cilium.SetStart:
		r := agent.StoreRequest{ID: e.ID, Op: agent.StoreUpdate, Key: ledgerStart, Value: strconv.FormatUint(e.Version, 10), Revision: e.Revision}
		if e.Revision == 0 {
			r.Op = agent.StoreCreate
		}
		return l.ask(r), true
	case cilium.ReadLedger:
		return l.ask(agent.StoreRequest{ID: e.ID, Op: agent.StoreList, Key: ledgerPrefix}), true
	case cilium.AppendEntry:
		return l.ask(agent.StoreRequest{ID: e.ID, Op: agent.StoreCreate, Key: ledgerPrefix + cilium.EntryKey(e.Claim.Version), Value: e.Claim.String()}), true
	case cilium.StrikeEntry:
		return l.ask(agent.StoreRequest{ID: e.ID, Op: agent.StoreDelete, Key: ledgerPrefix + e.Entry.Key, Revision: e.Entry.Revision}), true
	}
	return nil, false
}

func (l poolLedger) ask(r agent.StoreRequest) cilium.Stored {
	reply, err := l.store.perform(r)
	s := cilium.Stored{ID: r.ID, Revision: reply.Revision}
	switch {
	case err != nil:
		s.Why = err.Error()
	case reply.Err == agent.StoreConflict:
		s.Outcome = ipam.Conflict
	case reply.Err == agent.StoreOK:
		s.Outcome = ipam.Done
	}
	if r.Op == agent.StoreList {
		for _, item := range reply.Items {
			s.Entries = append(s.Entries, entryOf(item))
		}
		slices.SortFunc(s.Entries, func(a, b cilium.Entry) int { return strings.Compare(a.Key, b.Key) })
	}
	return s
}

func entryOf(item agent.StoreItem) cilium.Entry {
	return cilium.Entry{Key: strings.TrimPrefix(item.Key, ledgerPrefix), Value: item.Value, Revision: item.ModRevision}
}

// start reads one record, where a list would read them all.
func (l poolLedger) start(id uint64) cilium.Stored {
	s := cilium.Stored{ID: id}
	ctx, cancel := context.WithTimeout(l.store.ctx, l.store.cfg.RequestTimeout)
	defer cancel()
	name, err := recordName(ledgerStart)
	var item agent.StoreItem
	if err == nil {
		var r *NodeIDRecord
		if r, err = l.store.get(ctx, name); err == nil {
			item, err = r.item()
		}
	}
	switch {
	case statusCode(err) == http.StatusNotFound:
		s.Outcome = ipam.Done // with no entry
	case err != nil:
		s.Why = err.Error()
	default:
		s.Outcome, s.Revision, s.Entries = ipam.Done, item.ModRevision, []cilium.Entry{entryOf(item)}
	}
	return s
}
