package cilium

import (
	"fmt"
	"strconv"
)

// Entry is one record of the ledger's store.
type Entry struct {
	// Key is EntryKey's, below whatever prefix the driver keeps the ledger under.
	Key string
	// Value is the claim as text, or of the ledger's start the version that it begins with.
	Value string
	// Revision is the record's version in the store.
	Revision int64
}

// EntryKey is the key of a ledger's entry, so that the store takes each version once.
func EntryKey(version uint64) string { return fmt.Sprintf("%020d", version) }

// Requests to the ledger's store. Stored answers each.
type (
	// ReadStart reads the record that says with which version the ledger begins; no entry where there is none.
	ReadStart struct{ ID uint64 }
	// SetStart writes that record, where it has this Revision; 0 creates it.
	SetStart struct {
		ID, Version uint64
		Revision    int64
	}
	// ReadLedger reads every entry, consistently.
	ReadLedger struct{ ID uint64 }
	// AppendEntry creates an entry; Conflict where there is one of that version.
	AppendEntry struct {
		ID    uint64
		Claim Claim
	}
	// StrikeEntry deletes an entry of this Revision.
	StrikeEntry struct {
		ID    uint64
		Entry Entry
	}
)

func (ReadStart) effect()   {}
func (SetStart) effect()    {}
func (ReadLedger) effect()  {}
func (AppendEntry) effect() {}
func (StrikeEntry) effect() {}

// AppendText implements Effect.
func (e ReadStart) AppendText(b []byte) []byte { return numbered(b, "read-start", e.ID) }

// AppendText implements Effect.
func (e SetStart) AppendText(b []byte) []byte {
	b = strconv.AppendUint(append(numbered(b, "set-start", e.ID), ' '), e.Version, 10)
	return strconv.AppendInt(append(b, " revision="...), e.Revision, 10)
}

// AppendText implements Effect.
func (e ReadLedger) AppendText(b []byte) []byte { return numbered(b, "read-ledger", e.ID) }

// AppendText implements Effect.
func (e AppendEntry) AppendText(b []byte) []byte {
	return append(append(numbered(b, "append", e.ID), ' '), e.Claim.String()...)
}

// AppendText implements Effect.
func (e StrikeEntry) AppendText(b []byte) []byte {
	b = append(append(numbered(b, "strike", e.ID), ' '), e.Entry.Key...)
	return strconv.AppendInt(append(b, " revision="...), e.Entry.Revision, 10)
}
