package linux

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/vppwire"
)

// memifFolderMode lets a pod's program, which runs as another user more often than not, pass to its socket: who may use that, the
// socket's own mode says. Nobody but this process' user may put files there.
const memifFolderMode = 0o755

// memifFolderAdd makes a folder below MemifFolder and looks at what VPP would replace there.
func (h *Host) memifFolderAdd(op vppwire.MemifFolderAdd) error {
	for _, dir := range []string{h.MemifFolder, filepath.Dir(op.Path), op.Path} {
		if err := ownFolder(dir); err != nil {
			return err
		}
	}
	if err := owned(filepath.Join(op.Path, vppwire.MemifFile), unix.S_IFSOCK); err != nil && !errors.Is(err, fs.ErrNotExist) && !op.Listens {
		return err
	}
	// The program may have put anything there, a link to another file among it.
	settings := filepath.Join(op.Path, vppwire.MemifSettings)
	if err := os.RemoveAll(settings); err != nil {
		return err
	}
	f, err := os.OpenFile(settings, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(op.Settings + "\n")
	return errors.Join(err, f.Close())
}

// CheckMemifFolder says why a Host could not use a folder as its MemifFolder; one that is still to be made is fine where its place is.
func CheckMemifFolder(dir string) error {
	err := owned(dir, unix.S_IFDIR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ownFolder makes a folder, or takes one that is there if it is this process' user's.
func ownFolder(dir string) error {
	if err := os.Mkdir(dir, memifFolderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return owned(dir, unix.S_IFDIR)
}

// owned says why a file is not of a kind, or not this process' user's alone; nil where it is both.
func owned(file string, kind uint32) error {
	var stat unix.Stat_t
	switch err := unix.Lstat(file, &stat); {
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	case stat.Mode&unix.S_IFMT != kind:
		return fmt.Errorf("%s is neither our folder nor our socket: %w", file, vppwire.ErrForeignFile)
	case int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("%s is of user %d: %w", file, stat.Uid, vppwire.ErrForeignFile)
	case kind == unix.S_IFDIR && stat.Mode&(unix.S_IWGRP|unix.S_IWOTH) != 0:
		return fmt.Errorf("%s may be written by others: %w", file, vppwire.ErrForeignFile)
	}
	return nil
}

// memifFolderDel removes a folder and, where that was its last one, the pod's.
func (h *Host) memifFolderDel(op vppwire.MemifFolderDel) error {
	if err := os.RemoveAll(op.Path); err != nil {
		return err
	}
	if err := os.Remove(filepath.Dir(op.Path)); err != nil && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// memifFolders are the folders of pods' interfaces, in order: two below MemifFolder. What is somebody else's stays.
func (h *Host) memifFolders() ([]string, error) {
	if h.MemifFolder == "" {
		return nil, nil
	}
	all, err := filepath.Glob(filepath.Join(h.MemifFolder, "*", "*"))
	return slices.DeleteFunc(all, func(dir string) bool { return owned(dir, unix.S_IFDIR) != nil }), err
}
