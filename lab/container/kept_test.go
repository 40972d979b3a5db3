package container_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: a lab that was kept stays when its owner has let go of it, is left alone by the census, is found and entered by
// its folder alone, and is ended by it. Method: what lab exec, capture and down do, with a lab without an owner.
func TestKept(t *testing.T) {
	b := backend(t)
	s, err := scenarios.Parse("test.yaml", []byte("# One node.\nname: one\ntopology: {nodes: 1, podsPerNode: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	root := t.TempDir()
	w, err := lab.New(ctx, s, options(b, root, "tkept"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Sweep("tkept", "") }) // gone unless the test failed
	if err := w.Settle(ctx, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := w.Keep(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if gone, err := lab.Census(root, b); err != nil || len(gone) > 0 {
		t.Errorf("census removed %v, %v", gone, err)
	}
	h, err := lab.Find(root, "tkept")
	if err != nil || h.Backend != b.Name() || !h.Kept {
		t.Fatalf("%+v, %v", h, err)
	}
	nodes, err := h.Nodes(b.NodePath)
	if err != nil || len(nodes) != 1 || len(nodes[0].Pods) != 1 {
		t.Fatalf("nodes %+v, %v", nodes, err)
	}
	if _, err := os.Stat(nodes[0].Pods[0].Netns); err != nil {
		t.Error(err)
	}
	conn, err := vppproc.Dial(nodes[0].VPPDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Version(ctx); err != nil {
		t.Error(err)
	}
	conn.Close()
	if err := lab.Remove(h, b); err != nil {
		t.Error(err)
	}
	if l := left(t, "tkept"); len(l) > 0 {
		t.Errorf("left: %v", l)
	}
}
