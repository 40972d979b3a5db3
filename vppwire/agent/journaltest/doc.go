// Package journaltest tries whether a journal keeps an agent's records as the agent believes, with a disk that fails
// and power that goes. Its user is whoever writes a journal, or a model of one: vppwire/host/journal and sim/hostmodel
// both pass it.
//
// It never looks into a journal's files. It sees what the journal tells, and what its next life reads.
//
// Start at Try, with a Machine that makes one journal. Everything that may go wrong is a decision that the Machine asks
// for: Exhaust tries all of them for a short script, with at most so many going wrong.
//
// # What a journal owes
//
// A journal performs agent.Persist, in the order in which it is asked. Records are written as a whole or not at all.
//
//   - Told: when it says that a write is done, the next life reads it, and all that was done before it, whatever happens to process
//     or machine. That takes a sync of the file; of a new file also the sync before it gets the name, and of its folder.
//   - Failed: after it has said that a write failed, the next life may read that write or not: a write may be cut off, or reach the
//     disk although its sync did not. Writes that were asked for before anybody was told may share its fate, in their order: one is there only
//     if all before it are.
//   - Refused: what is asked for behind a failure by somebody who does not know of it is refused, a Replace as well: he believes
//     that what failed is there, or thinks it is undone in a way that it is not. Persist.GivenUp says what he knows. The first
//     write that is not refused must replace everything. What is refused after the failure was told leaves nothing behind.
//   - Read: what a life has read is safe, as others are told of it. A kernel shows what it could not write, so that a sync behind
//     the failure of an earlier life proves nothing.
//
// To add a promise, say it here, and let history know what may be read.
package journaltest
