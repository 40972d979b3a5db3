package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// Goal: every line that loaders print is understood. Method: glibc's and musl's output.
func TestParseList(t *testing.T) {
	found, missing := parseList(`	linux-vdso.so.1 (0x00007fec61324000)
	libvnet.so.25.10 => /opt/vpp/lib/libvnet.so.25.10 (0x00007fec5f400000)
	libodd name.so => /opt/a dir/libodd name.so (0x00007fec5f400000)
	libgone.so.1 => not found
	/lib64/ld-linux-x86-64.so.2 (0x00007fec61326000)
	/lib/ld-musl-x86_64.so.1 (0x7f0c9a8e0000)
	statically linked
`)
	want := []string{"/opt/vpp/lib/libvnet.so.25.10", "/opt/a dir/libodd name.so", "/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1"}
	if !slices.Equal(found, want) || !slices.Equal(missing, []string{"libgone.so.1"}) {
		t.Errorf("found %q, missing %q", found, missing)
	}
}

// Goal: whatever a loader prints, what is found are clean absolute paths.
func FuzzParseList(f *testing.F) {
	f.Add("a => /b (0x1)\nc => not found\n")
	f.Add(" => ")
	f.Fuzz(func(t *testing.T, text string) {
		found, _ := parseList(text)
		for _, p := range found {
			if !filepath.IsAbs(p) || filepath.Clean(p) != p {
				t.Errorf("%q from %q", p, text)
			}
		}
	})
}

// Goal: an archive has everything once, parents first, with what the files hold, and is the same bytes each time.
func TestWrite(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(source, []byte("the program"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := &Contents{Files: map[string]string{"/opt/vpp/bin/vpp": source, "/usr/bin/vppdrill": source},
		Links: map[string]string{"/bin/sh": "busybox"}, Texts: map[string]string{"/etc/passwd": "root\n"}}
	var first, second bytes.Buffer
	if err := errors.Join(c.Write(&first), c.Write(&second)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two archives of the same files differ")
	}
	seen := map[string]string{"": ""}
	for r := tar.NewReader(&first); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(h.Name, "/")
		if _, twice := seen[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		if parent := strings.TrimPrefix(path.Dir("/"+name), "/"); seen[parent] != "" || !has(seen, parent) {
			t.Errorf("%s comes before its folder", name)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		seen[name] = string(text) + h.Linkname
	}
	for at, want := range map[string]string{"opt/vpp/bin/vpp": "the program", "usr/bin/vppdrill": "the program", "bin/sh": "busybox", "etc/passwd": "root\n", "tmp": ""} {
		if got, ok := seen[at]; !ok || got != want {
			t.Errorf("%s is %q, want %q", at, got, want)
		}
	}
	c.Files["/gone"] = source + "-gone"
	if err := c.Write(io.Discard); err == nil || !strings.Contains(err.Error(), "/gone") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func has(m map[string]string, k string) bool { _, ok := m[k]; return ok }

// Goal: a real VPP is collected with all that it needs. Method: every library that the loader names is in, and so is
// the loader.
func TestCollect(t *testing.T) {
	vpp, err := vppproc.Find("")
	if err != nil {
		t.Skip("needs VPP: " + err.Error())
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Collect(context.Background(), Source{VPP: vpp, Program: self, ProgramPath: "/usr/bin/vppdrill"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(c.Plugins, "af_packet_plugin.so") || !slices.Contains(c.Plugins, "vxlan_plugin.so") {
		t.Errorf("plugins %v", c.Plugins)
	}
	loader, _, err := interpreter(vpp)
	if err != nil || !slices.Contains(c.Libraries, loader) {
		t.Errorf("the loader %s is not in %v: %v", loader, c.Libraries, err)
	}
	for _, want := range []string{"libvnet.so", "libvlib.so", "libc.so"} {
		if !slices.ContainsFunc(c.Libraries, func(l string) bool { return strings.HasPrefix(filepath.Base(l), want) }) {
			t.Errorf("no %s in %v", want, c.Libraries)
		}
	}
	if _, err := Collect(context.Background(), Source{VPP: self, Program: self, ProgramPath: "/usr/bin/vppdrill"}); err == nil || !strings.Contains(err.Error(), "no plugins") {
		t.Errorf("a VPP without plugins: %v", err)
	}
}
