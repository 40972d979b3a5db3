// Package store models etcd as agents use it: keys with revisions, transactions of one or several operations, watches
// from a revision, outages, compaction and loss of all data.
//
// It knows no network and no clock: sim/internal/cluster carries requests to it and what it answers back. Start at New.
// Revisions count from 1, one for each transaction that changed something. It never gives one twice, not even after a
// Wipe.
package store
