package datastore

import (
	"encoding/json"
	"io/fs"
)

// Checkpointer can persist data and restore it later. Checkpoint returns nil only when the data would survive a crash;
// with an error it may or may not. Restore returns fs.ErrNotExist, perhaps wrapped, when nothing was ever persisted.
//
// A DataStore hands Checkpoint a json.Marshaler that is valid until the call returns, and Restore a *CheckpointData.
type Checkpointer interface {
	Checkpoint(data any) error
	Restore(into any) error
}

// NullCheckpoint discards data and restores nothing. The zero value is ready. For tests.
type NullCheckpoint struct{}

// Checkpoint discards data.
func (NullCheckpoint) Checkpoint(any) error { return nil }

// Restore returns fs.ErrNotExist.
func (NullCheckpoint) Restore(any) error { return fs.ErrNotExist }

// TestCheckpoint keeps data in memory.
type TestCheckpoint struct {
	// Error is what both methods return while it is not nil; then they do nothing.
	Error error
	// Data was persisted last; nil when nothing was.
	Data any
}

// NewTestCheckpoint returns a TestCheckpoint that restores data.
func NewTestCheckpoint(data any) *TestCheckpoint { return &TestCheckpoint{Data: data} }

// Checkpoint keeps data. A DataStore's becomes a CheckpointData.
func (c *TestCheckpoint) Checkpoint(data any) error {
	if c.Error != nil {
		return c.Error
	}
	if s, ok := data.(snapshot); ok {
		data = s.CheckpointData()
	}
	c.Data = data
	return nil
}

// Restore goes through JSON, so that what does not survive it shows.
func (c *TestCheckpoint) Restore(into any) error {
	switch {
	case c.Error != nil:
		return c.Error
	case c.Data == nil:
		return fs.ErrNotExist
	}
	text, err := json.Marshal(c.Data)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
