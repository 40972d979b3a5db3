package socket

import (
	"os"
	"path/filepath"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// T is what Start needs of a *testing.T, *testing.B or ginkgo.GinkgoT().
type T interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// Start serves a modelled VPP until a test has ended, and returns its socket. change, where given, changes how: its faults, its NICs by a
// VPP of one's own. What the server drops is in the test's log.
func Start(t T, change ...func(*Config)) (path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "vpp") // a test's own folder may have a longer path than a socket
	if err != nil {
		t.Fatalf("start a modelled VPP: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // what stays is only untidy
	cfg := Config{Path: filepath.Join(dir, "api.sock"), VPP: vppmodel.New(vppmodel.Config{PID: uint32(os.Getpid())}), Log: func(line string) { t.Logf("modelled VPP: %s", line) }}
	for _, f := range change {
		f(&cfg)
	}
	s, err := Listen(cfg)
	if err != nil {
		t.Fatalf("start a modelled VPP: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() }) // its socket goes with the folder
	return cfg.Path
}
