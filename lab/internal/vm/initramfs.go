package vm

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cavaliergopher/cpio"
)

// initramfs is the archive that a kernel unpacks into its first file system (Linux,
// Documentation/driver-api/early-userspace/buffer-format.rst).
type initramfs struct {
	archive *cpio.Writer
	folders map[string]bool
}

// writeInitramfs writes the archive of a machine: this program with the libraries that it is linked to, the order, and
// the kernel's modules.
func writeInitramfs(out io.Writer, program string, libraries []string, k Kernel, o Order) error {
	buffered := bufio.NewWriterSize(out, 1<<20)
	a := initramfs{archive: cpio.NewWriter(buffered), folders: map[string]bool{}}
	if err := a.copied(initFile, program, 0o755); err != nil {
		return err
	}
	for _, library := range libraries {
		if err := a.copied(strings.TrimPrefix(library, "/"), library, 0o755); err != nil {
			return err
		}
	}
	o.Modules = nil
	for _, module := range k.load {
		name := filepath.Base(module.File)
		if err := a.copied(path.Join(modulesFolder, name), module.File, 0o644); err != nil {
			return err
		}
		o.Modules = append(o.Modules, Module{name, module.Optional})
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := a.entry(&cpio.Header{Name: orderFile, Mode: cpio.TypeReg | 0o600, Size: int64(len(text))}, strings.NewReader(string(text))); err != nil {
		return err
	}
	for _, folder := range []string{"proc", "sys", "dev", "host", "over", "new"} {
		if err := a.folder(folder); err != nil {
			return err
		}
	}
	return errors.Join(a.archive.Close(), buffered.Flush())
}

// copied adds a file of this machine under a name, with the folders above it.
func (a initramfs) copied(name, from string, mode cpio.FileMode) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := a.folder(path.Dir(name)); err != nil {
		return err
	}
	return a.entry(&cpio.Header{Name: name, Mode: cpio.TypeReg | mode, Size: info.Size()}, f)
}

// folder adds a folder and those above it, once.
func (a initramfs) folder(name string) error {
	if name == "." || a.folders[name] {
		return nil
	}
	if err := a.folder(path.Dir(name)); err != nil {
		return err
	}
	a.folders[name] = true
	return a.entry(&cpio.Header{Name: name, Mode: cpio.TypeDir | 0o755, Links: 2}, strings.NewReader(""))
}

func (a initramfs) entry(h *cpio.Header, content io.Reader) error {
	if err := a.archive.WriteHeader(h); err != nil {
		return fmt.Errorf("pack %s: %w", h.Name, err)
	}
	if _, err := io.Copy(a.archive, content); err != nil {
		return fmt.Errorf("pack %s: %w", h.Name, err)
	}
	return nil
}
