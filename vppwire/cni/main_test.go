//go:build linux

package cni_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vppdrill/vppdrill/vppwire/cni"
)

// TestMain makes the test binary a plugin where a runtime executes it, as main does with the program: runtimes pass
// nothing but the environment. The process's first thread stays with the goroutine that runs TestMain: a test that
// changes a thread's namespace for good would change what /proc/PID/ns/net shows, were it on that one.
var _ = func() struct{} { runtime.LockOSThread(); return struct{}{} }()

func TestMain(m *testing.M) {
	if cni.Asked() {
		os.Exit(cni.Main())
	}
	testscript.Main(tidily{m}, map[string]func(){cni.PluginType: func() { os.Exit(2) }}) // scripts set CNI_COMMAND
}

// tidily removes what the tests have built when they are done.
type tidily struct{ m *testing.M }

// Run implements testscript.TestingM.
func (t tidily) Run() int {
	code := t.m.Run()
	if builtIn != "" {
		_ = os.RemoveAll(builtIn) // a temporary folder
	}
	return code
}

// builtIn is the folder that programs made, if it did.
var builtIn string

// pluginDir is a CNI bin directory in which this test binary is the plugin "vppdrill".
func pluginDir(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "vppdrill")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// needRoot skips a test that makes network namespaces where that is not allowed.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: network namespaces")
	}
}

// TestScripts goal: what a runtime sees of the plugin's process. Method: scripts.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "scripts")})
}
