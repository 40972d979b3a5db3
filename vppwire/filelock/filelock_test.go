package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/filelock"
)

// Of two open files one has the lock, until it is closed.
func TestTry(t *testing.T) {
	name := filepath.Join(t.TempDir(), "store")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	one, other := open(), open()
	if err := filelock.Try(one); err != nil {
		t.Fatal(err)
	}
	if err := filelock.Try(other); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("a second lock: %v, want ErrHeld", err)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if err := filelock.Try(other); err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
}
