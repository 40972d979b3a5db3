package nodeid

import "strconv"

// Item is one key of the store. Deleted items carry no value.
type Item struct {
	Key, Value string
	// ModRevision is the store revision of the last change of Key.
	ModRevision int64
	Deleted     bool
}

// Op is a kind of store request.
type Op uint8

// Kinds of store requests.
const (
	// List returns every item below Key and the store's revision.
	List Op = iota + 1
	// Create writes Key if it does not exist (else Conflict with the present item).
	Create
	// Update writes Key if its ModRevision is Revision (else Conflict with the present item).
	Update
	// Delete deletes Key if its ModRevision is Revision (else Conflict with the present item).
	Delete
	// Watch opens a watch below Key for changes after Revision; its StoreReply confirms, StoreChanged{Watch: ID} follow.
	// A new watch ends the older one.
	Watch
)

var opNames = [...]string{
	List: "store-list", Create: "store-create", Update: "store-update", Delete: "store-delete", Watch: "store-watch",
}

// String is the request's verb.
func (o Op) String() string {
	if int(o) < len(opNames) && opNames[o] != "" {
		return opNames[o]
	}
	return "store-op(" + strconv.Itoa(int(o)) + ")"
}

// Outcome is how a store request ended.
type Outcome uint8

// Outcomes of a store request.
const (
	OK Outcome = iota
	// Conflict: a condition did not hold; nothing was written.
	Conflict
	// Compacted: the revision of a watch is too old.
	Compacted
	// Unavailable: it is unknown whether the request was done.
	Unavailable
)

var outcomeNames = [...]string{OK: "ok", Conflict: "conflict", Compacted: "compacted", Unavailable: "unavailable"}

// String is the outcome in one word.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "store-error(" + strconv.Itoa(int(o)) + ")"
}
