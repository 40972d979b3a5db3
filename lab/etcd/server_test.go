package etcd_test

import (
	"context"
	"errors"
	"testing"

	"github.com/vppdrill/vppdrill/lab/etcd"
)

// Goal: a store keeps what it is given, and after a wipe it is another, empty one on the same socket.
func TestWipe(t *testing.T) {
	s, err := etcd.Start(t.TempDir(), "store")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx := context.Background()
	if _, err := s.Put(ctx, "a/1", "x"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Compact(ctx), s.Compact(ctx)); err != nil { // the second has nothing to forget
		t.Fatal(err)
	}
	all, revision, err := s.All(ctx)
	if err != nil || len(all) != 1 || all["a/1"] != "x" || revision < 2 {
		t.Fatalf("%v at %d, %v", all, revision, err)
	}
	socket := s.Socket()
	if err := s.Wipe(); err != nil {
		t.Fatal(err)
	}
	all, again, err := s.All(ctx)
	if err != nil || len(all) != 0 || again >= revision || s.Socket() != socket {
		t.Fatalf("after a wipe: %v at %d, %v", all, again, err)
	}
}
