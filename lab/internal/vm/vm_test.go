package vm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab"
)

// initWord makes the test binary a machine's first process.
const initWord = "test-vm-init"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == initWord {
		fmt.Fprintln(os.Stderr, Main())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// script is a machine that runs a shell script of this machine; what it says of itself goes to the test's log.
func script(t *testing.T, text string) (c Config, stdout, stderr *bytes.Buffer) {
	t.Helper()
	if testing.Short() {
		t.Skip("short: a virtual machine boots for 20 s where there is no KVM")
	}
	if _, err := Ready(Config{}); err != nil {
		t.Skip(err.Error())
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return Config{Init: []string{self, initWord}, MemoryMB: MinMemoryMB, Accel: os.Getenv(AccelEnvironment), Stdout: stdout, Stderr: stderr,
		Say:   func(line string) { t.Log(line) },
		Order: Order{Argv: []string{"/bin/sh", "-c", text}, Env: append(os.Environ(), "GIVEN=a b"), Dir: "/"}}, stdout, stderr
}

// Goal: a command runs as root on a kernel with vhost_net and netem, sees this machine's files, writes where it may and
// nowhere else, and its output, its exit code and what it leaves come back. Method: a real machine and one script.
func TestRun(t *testing.T) {
	keep, lose := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(lose, "seen"), []byte("seen\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, stdout, stderr := script(t, fmt.Sprintf(`set -e
echo "$GIVEN"; cat %[2]q/seen
echo kept > %[1]q/file; echo lost > %[2]q/file
test -c /dev/vhost-net; test -c /dev/net/tun; test -d /sys/module/sch_netem; test -d /sys/module/vhost_net
test "$(id -u)" = 0; test "$(cat /sys/class/net/lo/operstate)" = unknown
(sleep 0.1 & ) # an orphan
echo trouble >&2
head -c 3000000 /dev/zero | tr '\0' x
exit 7`, keep, lose))
	c.Order.Writable = []string{keep}
	code, err := Run(t.Context(), c)
	if err != nil || code != 7 {
		t.Fatalf("code %d, %v\n%.200s%s", code, err, stdout, stderr)
	}
	if got := stdout.String(); !strings.HasPrefix(got, "a b\nseen\nxxx") || strings.Count(got, "x") != 3000000 {
		t.Errorf("%d bytes: %.200s", len(got), got)
	}
	if stderr.String() != "trouble\n" {
		t.Errorf("stderr %q", stderr)
	}
	if text, err := os.ReadFile(filepath.Join(keep, "file")); string(text) != "kept\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(lose, "file")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file beside the writable folder: %v", err)
	}
}

// Goal: an interrupt reaches the command, which ends in order; and one that does not care cannot keep the outer process
// from ending the machine's life with its own. Method: a command that counts interrupts.
func TestInterrupt(t *testing.T) {
	c, stdout, stderr := script(t, `trap 'echo interrupted; exit 130' INT; echo ready; while :; do sleep 0.1; done`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.Stdout = hook{stdout, cancel}
	code, err := Run(ctx, c)
	if err != nil || code != 130 || stdout.String() != "ready\ninterrupted\n" {
		t.Fatalf("code %d, %v, %q, %s", code, err, stdout, stderr)
	}
}

// hook calls f once something has been written.
type hook struct {
	to *bytes.Buffer
	f  func()
}

func (h hook) Write(p []byte) (int, error) {
	defer h.f()
	return h.to.Write(p)
}

// Goal: a machine whose kernel dies says so in one line. Method: the kernel is told to.
func TestPanic(t *testing.T) {
	c, _, _ := script(t, "echo c > /proc/sysrq-trigger; sleep 60")
	start := time.Now()
	code, err := Run(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "before its command: ") || !strings.Contains(err.Error(), "Kernel panic") || strings.Contains(err.Error(), "\n") {
		t.Errorf("code %d, after %s: %v", code, time.Since(start), err)
	}
}

// Goal: what a machine lacks is one line and says that it cannot run here. Method: folders that are no kernel's, and
// more memory than there is.
func TestCannot(t *testing.T) {
	t.Setenv(KernelEnvironment, "")
	empty, bare, poor := t.TempDir(), t.TempDir(), t.TempDir()
	for dir, files := range map[string][]string{
		bare: {"boot/vmlinuz-6.1.0"},
		poor: {"boot/vmlinuz-6.1.0", "lib/modules/6.1.0/modules.builtin", "lib/modules/6.1.0/kernel/fs/none"},
	} {
		for _, f := range files {
			f = filepath.Join(dir, f)
			if err := errors.Join(os.MkdirAll(filepath.Dir(f), 0o755), os.WriteFile(f, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for dir, want := range map[string]string{empty: "no kernel in ", bare: "has no modules in ", poor: "no module virtio_pci, for the machine's ports"} {
		_, err := FindKernel(dir)
		if !lab.IsCannotRun(err) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := Ready(Config{}); err == nil {
		if _, _, err := ready(Config{MemoryMB: 1 << 30}); !lab.IsCannotRun(err) {
			t.Errorf("a machine of a petabyte: %v", err)
		}
	}
}

// Goal: newer kernels come first, by number.
func TestCompareReleases(t *testing.T) {
	have := []string{"vmlinuz-6.1.0-9-amd64", "vmlinuz-6.10.0-1-amd64", "vmlinuz-6.1.0-56-amd64", "vmlinuz-5.19"}
	slices.SortFunc(have, compareReleases)
	want := []string{"vmlinuz-5.19", "vmlinuz-6.1.0-9-amd64", "vmlinuz-6.1.0-56-amd64", "vmlinuz-6.10.0-1-amd64"}
	if !slices.Equal(have, want) {
		t.Errorf("%q", have)
	}
}

// Goal: a module's needs are read as the kernel's build writes them.
func TestDependsOf(t *testing.T) {
	for text, want := range map[string][]string{
		"license=GPL\x00depends=vhost,vhost-iotlb,tap\x00name=vhost_net\x00": {"vhost", "vhost_iotlb", "tap"},
		"depends=\x00": nil, "": nil, "alias=depends=x\x00": nil, "depends=a": {"a"},
	} {
		if have := dependsOf([]byte(text)); !slices.Equal(have, want) {
			t.Errorf("%q: %q", text, have)
		}
	}
}

// Goal: a folder is mounted once, and not again within another.
func TestWithin(t *testing.T) {
	have := within([]string{"/a/b", "/a", "/ab", "/a", "/c"})
	if want := []string{"/a", "/ab", "/c"}; !slices.Equal(have, want) {
		t.Errorf("%q", have)
	}
}

// Goal: of a console the line that matters is told.
func TestSaid(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a\r\nb\n\n": ": b", "a\n[ 1.0] Kernel panic - not syncing: x\nCall Trace\n": ": [ 1.0] Kernel panic - not syncing: x",
		"vppdrill: no\n[ 2.0] reboot: Power down\n": ": vppdrill: no",
	} {
		console := &tail{}
		_, _ = console.Write([]byte(text))
		if have := console.said(); have != want {
			t.Errorf("%q: %q", text, have)
		}
	}
}
