package datastore

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
)

// FS is what JSONFile needs of a file system. Names are slash-separated paths; errors may wrap fs.ErrNotExist.
type FS interface {
	// Create opens a file for writing and empties it if it is there.
	Create(name string) (File, error)
	ReadFile(name string) ([]byte, error)
	// Rename replaces what newName named, at once for every reader.
	Rename(oldName, newName string) error
	Remove(name string) error
	// SyncDir makes the names in a directory survive a crash.
	SyncDir(name string) error
}

// File is a file being written. After Sync its contents survive a crash, though not yet its name.
type File interface {
	Write(p []byte) (int, error)
	Sync() error
	Close() error
}

// JSONFile is a Checkpointer on one JSON file that is at any time, and after any crash, a whole checkpoint: the last
// one or, while one is being written, the one before.
//
// It writes beside the file first, so the directory must be writable and belong to one writer. A temporary file left by
// a crash is overwritten by the next checkpoint.
type JSONFile struct {
	fs   FS
	path string
}

// NewJSONFile returns a checkpointer that writes to path, by convention ipam.json in a directory that a reboot clears:
// then a reboot forgets the pods, too, as it should.
func NewJSONFile(fs FS, path string) *JSONFile { return &JSONFile{fs: fs, path: path} }

// Checkpoint implements Checkpointer. An error that is ErrUncertain says that the new checkpoint may already be the one
// that a restart finds; any other, that it is the old one.
func (c *JSONFile) Checkpoint(data any) error {
	text, err := marshal(data)
	if err != nil {
		return fmt.Errorf("checkpoint %s: %w", c.path, err)
	}
	temporary := c.path + ".tmp"
	if err := c.fill(temporary, text); err != nil {
		// What is left of it is overwritten next time, so a second error here changes nothing.
		_ = c.fs.Remove(temporary)
		return fmt.Errorf("checkpoint %s: %w", c.path, err)
	}
	if err := c.fs.Rename(temporary, c.path); err != nil {
		return fmt.Errorf("checkpoint %s: %w: %w", c.path, ErrUncertain, err)
	}
	if err := c.fs.SyncDir(path.Dir(c.path)); err != nil {
		return fmt.Errorf("checkpoint %s: %w: %w", c.path, ErrUncertain, err)
	}
	return nil
}

// marshal spares a store's own document the second look that json.Marshal takes at what a Marshaler returns.
func marshal(data any) ([]byte, error) {
	if s, ok := data.(snapshot); ok {
		return s.MarshalJSON()
	}
	return json.Marshal(data)
}

// fill writes a file so that its contents survive a crash.
func (c *JSONFile) fill(name string, text []byte) error {
	f, err := c.fs.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Restore implements Checkpointer.
func (c *JSONFile) Restore(into any) error {
	text, err := c.fs.ReadFile(c.path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
