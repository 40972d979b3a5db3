package vm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Folders of the machine's own, in its memory.
const (
	temporary = "/run/vppdrill-vm/tmp"
	labs      = "/run/vppdrill-vm/labs"
)

// Options of 9p: messages of 512 kB; the root is cached, as nobody inside changes it, and what outer processes change
// meanwhile may not be seen. Writable folders are cached for mapped files alone.
const (
	rootOptions     = "trans=virtio,version=9p2000.L,msize=524288,cache=loose"
	writableOptions = "trans=virtio,version=9p2000.L,msize=524288,cache=mmap"
)

// mount is one mount; its folder is made where it is missing.
type mount struct {
	source, target, kind string
	flags                uintptr
	options              string
}

func (m mount) do(root string) error {
	target := filepath.Join(root, m.target)
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	err := unix.Mount(m.source, target, m.kind, m.flags, m.options)
	if errors.Is(err, unix.EBUSY) && m.kind == "devtmpfs" {
		return nil // the kernel was faster
	}
	if err != nil {
		return fmt.Errorf("mount %s on %s: %w", m.kind, m.target, err)
	}
	return nil
}

// mountKernel mounts what the kernel shows of itself and of the machine.
func mountKernel(root string) error {
	for _, m := range []mount{
		{"proc", "proc", "proc", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC, ""},
		{"sysfs", "sys", "sysfs", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC, ""},
		{"dev", "dev", "devtmpfs", unix.MS_NOSUID, "mode=755"},
	} {
		if err := m.do(root); err != nil {
			return err
		}
	}
	return nil
}

// enterRoot makes the outer machine's file system this one's root, under a layer of memory, and mounts the writable
// folders over it.
func enterRoot(o Order) error {
	const root = "/new"
	mounts := []mount{
		{tagRoot, "/host", "9p", unix.MS_RDONLY, rootOptions},
		{"over", "/over", "tmpfs", 0, "mode=755"},
	}
	for _, m := range mounts {
		if err := m.do("/"); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/over/upper", "/over/work"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := (mount{"overlay", root, "overlay", 0, "lowerdir=/host,upperdir=/over/upper,workdir=/over/work"}).do("/"); err != nil {
		return err
	}
	if err := mountKernel(root); err != nil {
		return err
	}
	mounts = []mount{
		{"devpts", "dev/pts", "devpts", unix.MS_NOSUID | unix.MS_NOEXEC, "mode=620,ptmxmode=666"},
		{"shm", "dev/shm", "tmpfs", unix.MS_NOSUID | unix.MS_NODEV, "mode=1777"},
		{"run", "run", "tmpfs", unix.MS_NOSUID | unix.MS_NODEV, "mode=755"},
		{"cgroup2", "sys/fs/cgroup", "cgroup2", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC, ""},
	}
	for i, dir := range o.Writable {
		mounts = append(mounts, mount{tagWritable + strconv.Itoa(i), dir, "9p", 0, writableOptions})
	}
	for _, m := range mounts {
		if err := m.do(root); err != nil {
			return err
		}
	}
	for _, dir := range []string{temporary, labs} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := errors.Join(unix.Mount(".", "/", "", unix.MS_MOVE, ""), unix.Chroot("."), os.Chdir("/")); err != nil {
		return fmt.Errorf("enter the outer machine's file system: %w", err)
	}
	return nil
}
