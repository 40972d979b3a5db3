package ipamd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/vppwire/filelock"
)

// ErrLocked: another daemon keeps this checkpoint.
var ErrLocked = errors.New("another ipamd keeps it")

// Lock keeps others from a checkpoint until it is closed, or the process ends. Error: ErrLocked.
func Lock(checkpoint string) (io.Closer, error) {
	f, err := os.OpenFile(checkpoint+".lock", os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Try(f); err != nil {
		if errors.Is(err, filelock.ErrHeld) {
			err = ErrLocked
		}
		return nil, errors.Join(fmt.Errorf("checkpoint %s: %w", checkpoint, err), f.Close())
	}
	return f, nil
}

// Disk is the file system that a checkpoint is on. The zero Disk is ready.
type Disk struct{}

var _ datastore.FS = Disk{}

// Create implements datastore.FS. Others may read the file: it has no secrets.
func (Disk) Create(name string) (datastore.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
}

// ReadFile implements datastore.FS.
func (Disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// Rename implements datastore.FS.
func (Disk) Rename(oldName, newName string) error { return os.Rename(oldName, newName) }

// Remove implements datastore.FS.
func (Disk) Remove(name string) error { return os.Remove(name) }

// SyncDir implements datastore.FS.
func (Disk) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
