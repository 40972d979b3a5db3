package etcd_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/etcd"
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

// Goal: every change below a prefix is told in order with what was there before, those of an emptied store too, and no
// other key's. Method: a few changes, a wipe, one more.
func TestFollow(t *testing.T) {
	s, err := etcd.Start(t.TempDir(), "followed")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	told := make(chan string, 10)
	s.Follow("ids/", func(key, before, after string) { told <- key + ": " + before + " > " + after })
	do := func(_ int64, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(s.Put(t.Context(), "ids/1", "a"))
	do(s.Put(t.Context(), "other", "x"))
	do(s.Put(t.Context(), "ids/1", "b"))
	do(s.Delete(t.Context(), "ids/1"))
	if err := s.Told(t.Context()); err != nil || len(told) != 3 {
		t.Errorf("%d of 3 changes are told before Told returns, %v", len(told), err)
	}
	expect := func(want ...string) {
		t.Helper()
		for _, want := range want {
			select {
			case have := <-told:
				if have != want {
					t.Errorf("told %q, want %q", have, want)
				}
			case <-time.After(time.Minute):
				t.Fatalf("%q is not told", want)
			}
		}
	}
	expect("ids/1:  > a", "ids/1: a > b", "ids/1: b > ")
	if err := s.Wipe(); err != nil {
		t.Fatal(err)
	}
	do(s.Put(t.Context(), "ids/2", "c"))
	expect("ids/2:  > c")
}
