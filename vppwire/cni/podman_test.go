//go:build linux

package cni_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/cni"
)

// podman is a podman with a storage, networks and an image of its own, which go with the test.
type podman struct {
	t       *testing.T
	dir     string
	runtime string
}

// newPodman makes one whose plugins are in binDir and whose networks are in confDir.
func newPodman(t *testing.T, binDir, confDir string) *podman {
	t.Helper()
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip("needs podman: Debian's package podman, 4.x with its CNI back end")
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Skip("needs busybox: Debian's package busybox-static")
	}
	dir, err := os.MkdirTemp("", "vdpod")
	if err != nil {
		t.Fatal(err)
	}
	p := &podman{t: t, dir: dir}
	t.Cleanup(func() {
		_, _ = p.try("system", "prune", "--all", "--force") // what is left goes with the folder
		_ = os.RemoveAll(dir)
	})
	conf := fmt.Sprintf("[containers]\ndefault_ulimits = []\n[network]\nnetwork_backend = \"cni\"\ncni_plugin_dirs = [%q]\nnetwork_config_dir = %q\n"+
		"[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n", binDir, confDir)
	if err := os.WriteFile(filepath.Join(dir, "containers.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	image := filepath.Join(dir, "image.tar")
	if err := os.WriteFile(image, imageOf(t, busybox), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := p.try("import", image, "localhost/busybox"); err != nil {
		t.Skipf("needs podman: no image can be made: %v %s", err, out)
	}
	var refusals []string
	for _, p.runtime = range []string{"crun", "runc"} {
		out, err := p.try("run", "--rm", "--ulimit", "host", "--network", "none", "localhost/busybox", "/bin/busybox", "true")
		if err == nil {
			return p
		}
		refusals = append(refusals, p.runtime+": "+strings.TrimSpace(out))
	}
	t.Skipf("needs podman: no container runs here: %s", strings.Join(refusals, "; "))
	return nil
}

// imageOf is an image's only layer: a static busybox.
func imageOf(t *testing.T, busybox string) []byte {
	t.Helper()
	program, err := os.ReadFile(busybox)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{{Name: "bin/", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "www/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "bin/busybox", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(program))},
		{Name: "bin/sh", Typeflag: tar.TypeSymlink, Linkname: "busybox", Mode: 0o777}} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write(program); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// try runs a podman command.
func (p *podman) try(args ...string) (string, error) {
	in := func(name string) string { return filepath.Join(p.dir, name) }
	global := []string{"--root", in("root"), "--runroot", in("run"), "--tmpdir", in("tmp"), "--storage-driver", "vfs"}
	if p.runtime != "" {
		global = append(global, "--runtime", p.runtime)
	}
	c := exec.Command("podman", append(global, args...)...)
	c.Env = append(os.Environ(), "CONTAINERS_CONF="+in("containers.conf"))
	c.WaitDelay = 30 * time.Second // a container's monitor keeps the output open
	out, err := c.CombinedOutput()
	return string(out), err
}

// do runs a podman command that must succeed.
func (p *podman) do(args ...string) string {
	p.t.Helper()
	out, err := p.try(args...)
	if err != nil {
		p.t.Fatalf("podman %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

// run starts a container on a network and returns its address.
func (p *podman) run(name, network, script string) string {
	p.t.Helper()
	p.do("run", "--detach", "--ulimit", "host", "--cap-add", "NET_RAW", "--name", name, "--network", network, "localhost/busybox", "/bin/sh", "-c", script)
	p.t.Cleanup(func() { _, _ = p.try("rm", "--force", "--time", "0", name) }) // most are gone by then
	return p.do("inspect", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", name)
}

// TestPodman goal: a container runtime that nobody here wrote attaches containers with the program, and they reach each
// other over two real VPPs. Method: podman with its CNI back end; each of two nodes is a network of its own; ping and
// TCP between containers on both; removing and starting again gets addresses back.
func TestPodman(t *testing.T) {
	needRoot(t)
	bin, conf := t.TempDir(), t.TempDir()
	p := newPodman(t, bin, conf)
	nodes := realNodes(t)
	program := filepath.Join(built(t), "vppdrill")
	for _, n := range nodes {
		list, err := cni.Conflist{Name: n.name, CNIVersion: "1.0.0", AgentSocket: n.socket}.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := cni.Install(program, bin, conf, n.name, list); err != nil {
			t.Fatal(err)
		}
	}
	// Not httpd: a static busybox of Debian dies where it looks for the names of services.
	serve := func(name string) string {
		return "exec /bin/busybox nc -ll -p 8080 -e /bin/busybox echo hello from " + name
	}
	a := p.run("a", "node-a", serve("a"))
	b := p.run("b", "node-b", serve("b"))
	if !strings.HasPrefix(a, "10.1.16.") || !strings.HasPrefix(b, "10.1.32.") {
		t.Fatalf("addresses %s and %s are not of the nodes' blocks", a, b)
	}
	for _, pair := range [][3]string{{"a", b, "hello from b"}, {"b", a, "hello from a"}} {
		if out := p.do("exec", pair[0], "/bin/busybox", "ping", "-c", "3", "-W", "10", pair[1]); !strings.Contains(out, "3 packets received") {
			t.Errorf("ping from %s: %s", pair[0], out)
		}
		if out := p.do("exec", pair[0], "/bin/busybox", "nc", "-w", "30", pair[1], "8080"); out != pair[2] {
			t.Errorf("nc from %s: %q", pair[0], out)
		}
	}
	for _, name := range []string{"a", "b"} {
		p.do("rm", "--force", "--time", "0", name)
	}
	// Both addresses are free again, and nobody holds the next container up.
	again := p.run("c", "node-a", serve("c"))
	if !strings.HasPrefix(again, "10.1.16.") {
		t.Errorf("address %s", again)
	}
	p.do("rm", "--force", "--time", "0", "c")
	t.Logf("podman with %s: %s and %s reached each other by ping and TCP", p.runtime, a, b)
}
