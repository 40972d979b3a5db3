package cniworld

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// root has a folder for each world of this package; it goes with a reboot, as all that they make does.
const root = "/run/vppdrill/cni"

// mark begins the names of these worlds' namespaces. Labs' begin otherwise, so that no census takes one for the other.
const mark = "vdcni-"

// ownerFile names the process that a world lives as long as.
const ownerFile = "owner"

// place is where one world is: its folder and the names of its namespaces.
type place struct{ id, dir string }

// claim makes a world's folder.
func claim(id string) (place, error) {
	p := place{id, filepath.Join(root, id)}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return place{}, fmt.Errorf("world's folder: %w", err)
	}
	return p, os.WriteFile(filepath.Join(p.dir, ownerFile), []byte(spawn.Self().String()), 0o644)
}

// namespace is the name of one of its namespaces.
func (p place) namespace(of string) string { return mark + p.id + "-" + of }

// remove takes away whatever is left of a world: namespaces, disks, folder.
func (p place) remove() error {
	if p.dir == "" {
		return nil
	}
	names, err := fabric.Named(p.namespace(""))
	errs := []error{err}
	for _, n := range names {
		errs = append(errs, spawn.KillWithin(fabric.Path(n)), fabric.Remove(n))
	}
	disks, err := filepath.Glob(filepath.Join(p.dir, "*", diskFolder))
	errs = append(errs, err)
	for _, d := range disks {
		if err := unix.Unmount(d, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) { // EINVAL: nothing is mounted
			errs = append(errs, fmt.Errorf("unmount %s: %w", d, err))
		}
	}
	return errors.Join(append(errs, os.RemoveAll(p.dir))...)
}

// Census removes what worlds have left whose process was killed.
func Census() error {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var errs []error
	for _, e := range entries {
		p := place{e.Name(), filepath.Join(root, e.Name())}
		text, _ := os.ReadFile(filepath.Join(p.dir, ownerFile)) // one that is half made is nobody's
		if owner, err := spawn.ParseID(string(text)); err == nil && !owner.Alive() {
			errs = append(errs, p.remove())
		}
	}
	return errors.Join(append(errs, err)...)
}
