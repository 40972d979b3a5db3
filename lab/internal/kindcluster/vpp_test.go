package kindcluster

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// Goal: a VPP that dies is followed by another without anybody else's doing, and one that is told to stop by none.
// Method: a real VPP, killed after it has lived long enough.
func TestVPPIsFollowed(t *testing.T) {
	if _, err := vppproc.Find(""); err != nil {
		t.Skip("needs VPP: " + err.Error())
	}
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	dir, err := os.MkdirTemp("", "vpp") // short, for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ctx, stop := context.WithCancel(t.Context())
	ended, said := make(chan error, 1), make(chan string, 9)
	go func() {
		ended <- RunVPP(ctx, VPPConfig{Dir: dir, Say: func(line string) { said <- line }})
	}()
	defer func() { stop(); <-ended }()
	running := func() spawn.ID {
		for range 1200 {
			_, there := os.Stat(filepath.Join(dir, vppproc.APISocketFile))
			text, err := os.ReadFile(filepath.Join(dir, vppproc.PIDFile))
			if id, bad := spawn.ParseID(strings.TrimSpace(string(text))); there == nil && err == nil && bad == nil && id.Alive() {
				return id
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatal("no VPP is ready")
		return spawn.ID{}
	}
	first := running()
	time.Sleep(livedLeast + 500*time.Millisecond)
	if err := syscall.Kill(first.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if line := <-said; !strings.Contains(line, "started again") {
		t.Error(line)
	}
	if second := running(); second == first {
		t.Error("the dead one counts as ready")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	ended <- nil
}
