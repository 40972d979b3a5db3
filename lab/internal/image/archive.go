package image

import (
	"archive/tar"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// folders exist in every image beside those that files are in.
var folders = []string{"/dev", "/etc", "/proc", "/root", "/run", "/sys", "/tmp", "/usr/bin", "/var/log/vpp"}

// made is the time of everything in an archive, so that the same files are the same bytes.
var made = time.Unix(0, 0)

// Write writes the file system as a tar archive, parents before what is in them.
func (c *Contents) Write(w io.Writer) error {
	out := tar.NewWriter(w)
	for _, at := range slices.Sorted(maps.Keys(c.entries())) {
		if err := c.write(out, at); err != nil {
			return fmt.Errorf("pack %s: %w", at, err)
		}
	}
	return out.Close()
}

// entries are the paths of everything, folders included.
func (c *Contents) entries() map[string]bool {
	all := map[string]bool{}
	add := func(at string) {
		for ; at != "/"; at = path.Dir(at) {
			all[at] = true
		}
	}
	for _, at := range folders {
		add(at)
	}
	for _, paths := range []map[string]string{c.Files, c.Links, c.Texts} {
		for at := range paths { //vppdrill:unordered it is a set
			add(at)
		}
	}
	return all
}

func (c *Contents) write(out *tar.Writer, at string) error {
	h := &tar.Header{Name: strings.TrimPrefix(at, "/"), Mode: 0o755, ModTime: made, Format: tar.FormatPAX}
	if target, ok := c.Links[at]; ok {
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, target, 0o777
		return out.WriteHeader(h)
	}
	if text, ok := c.Texts[at]; ok {
		h.Typeflag, h.Mode, h.Size = tar.TypeReg, 0o644, int64(len(text))
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		_, err := io.WriteString(out, text)
		return err
	}
	source, ok := c.Files[at]
	if !ok {
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		if at == "/tmp" {
			h.Mode = 0o1777
		}
		return out.WriteHeader(h)
	}
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // reading only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h.Typeflag, h.Mode, h.Size = tar.TypeReg, int64(info.Mode().Perm()|0o444), info.Size()
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.CopyN(out, f, info.Size())
	return err
}
