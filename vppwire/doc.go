// Package vppwire holds VPP and the host's Linux side as desired state and finds the calls that reach it.
//
// It decides which request comes next and what its answer says. It never opens a socket, reads a clock, sleeps or
// starts a goroutine: a Session hands out one Call at a time, a driver performs it on whatever connection it has and
// feeds the Result back. The model that this package is judged by is sim/vppmodel, which never imports it.
//
// Start at Session, then Object, then the table of kinds, which lists everything that can be wanted.
//
// Deletes go before creates; an object is created after what it needs and deleted before it. A lost reply is unknown,
// never failed: the Session doubts the object, which says that a dump must look before it decides. Until then its entry
// is unverified. A refused call backs off, and others go on. An object that goes with its owner is deleted with it,
// without a call. Nothing but what is dropped is deleted before AllowDelete, and what nobody wants and is not ours by
// name is left alone.
//
// To add a kind of object, write one file beside route.go and its row in kind.go: word, key, needs, text both ways,
// creation, deletion, and the dump that shows it. A Session, the plan, the parser and the list of messages know kinds
// by that row alone.
package vppwire
