//go:build linux

package cni_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containernetworking/cni/libcni"

	"github.com/vppdrill/vppdrill/vppwire/cni"
)

// Goal: libcni reads what is written, and what the plugin would refuse is refused before it is installed.
func TestConflist(t *testing.T) {
	text, err := cni.Conflist{Name: "k8s", CNIVersion: "1.0.0", AgentSocket: "/run/x.sock", NetnsDirs: []string{"/run/netns"}, PortMap: true}.JSON()
	if err != nil {
		t.Fatal(err)
	}
	list, err := libcni.ConfListFromBytes(text)
	if err != nil || list.Name != "k8s" || len(list.Plugins) != 2 || list.Plugins[0].Network.Type != cni.PluginType || list.Plugins[1].Network.Type != "portmap" {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, bad := range []cni.Conflist{{Name: "a b"}, {CNIVersion: "0.1.0"}, {AgentSocket: "x"}, {NetnsDirs: []string{"x"}}, {Timeout: 1}} {
		if text, err := bad.JSON(); err == nil {
			t.Errorf("%+v: %s", bad, text)
		}
	}
}

// Goal: what is installed is whole, and installing again changes nothing. Method: install, look at the files'
// identities, install again, then another version.
func TestInstall(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	write := func(text string) {
		if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bin, conf := t.TempDir(), t.TempDir()
	install := func() os.FileInfo {
		if err := cni.Install(program, bin, conf, "10-k8s", []byte("{}\n")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(bin, cni.PluginType))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	write("one")
	first := install()
	if first.Mode() != 0o755 {
		t.Errorf("mode %v", first.Mode())
	}
	if !os.SameFile(first, install()) {
		t.Error("what was right was written again")
	}
	write("two")
	if os.SameFile(first, install()) {
		t.Error("a file that may be executed was written into")
	}
	// Programs of many pieces that differ only in their end, or in their length.
	long := strings.Repeat("a program ", 30_000)
	for _, text := range []string{long, long + "x", long + "y", long, long[:64<<10], long[:128<<10], ""} {
		write(text)
		last := install()
		if !os.SameFile(last, install()) {
			t.Errorf("%d bytes that were right were written again", len(text))
		}
		if got, err := os.ReadFile(filepath.Join(bin, cni.PluginType)); err != nil || string(got) != text {
			t.Errorf("%d bytes are installed, want %d: %v", len(got), len(text), err)
		}
	}
	for _, d := range []string{bin, conf} {
		entries, err := os.ReadDir(d)
		if err != nil || len(entries) != 1 {
			t.Errorf("%v, %v", entries, err)
		}
	}
	if err := cni.Install(program, filepath.Join(dir, "none"), conf, "x", nil); err == nil || !strings.Contains(err.Error(), "plugin: ") {
		t.Errorf("no folder: %v", err)
	}
}
