// Package storetest tries whether a store keeps what agents believe of it, with answers that get lost, connections that
// are cut, history that is compacted and data that is lost. Its user is whoever writes a store, or a model of one:
// vppwire/host/etcd on a real etcd and sim/internal/cluster in virtual time both pass it.
//
// It never looks into a store. It sees what clients are told, and what later lists show. A promise that is broken fails
// by an assertion that names it, also where a store says nothing at all: whatever is waited for has a limit.
//
// Start at Try, with a Server that makes one empty store.
//
// # What a store owes
//
//   - Compared: a create is done where the key is absent, an update or a deletion where the key has just that revision, and else
//     nothing is done and the answer shows what is there.
//   - Unknown: a request without an answer is told as unavailable, and was done or not. A request that was answered was done.
//   - Ordered: revisions grow. A watch tells each change behind its revision once, in their order, deletions as well, and then
//     goes on; a newer watch of the client ends the older one without a word.
//   - Never silent: a watch that cannot tell all ends, and is told as lost; one that would begin in forgotten history is refused as
//     compacted. A list shows the present, whatever was forgotten.
//   - Known: data that was lost is told by another identity, and ends what watched it.
//
// To add a promise, say it here, and try it in a file of its name.
package storetest
