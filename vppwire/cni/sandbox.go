//go:build linux

package cni

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	"golang.org/x/sys/unix"
)

// ofProcess is a network namespace as a process or thread shows it. "self" is left out: it would be the plugin's own.
var ofProcess = regexp.MustCompile(`^/proc/[1-9][0-9]*(/task/[1-9][0-9]*)?/ns/net$`)

// mayBeIn reports whether the path is in one of the folders.
func mayBeIn(dirs []string, netns string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		if dir == "/proc" {
			return ofProcess.MatchString(netns)
		}
		return path.Dir(netns) == dir
	})
}

// sandbox opens CNI_NETNS: an allowed path of a network namespace that is not the plugin's own. The caller closes the
// descriptor. A path that is gone has the code of an unknown container, so that no runtime goes on about it.
func (c *Netconf) sandbox(p parameters) (fd int, f *failure) {
	switch {
	case !path.IsAbs(p.netns) || path.Clean(p.netns) != p.netns:
		return -1, invalidEnv(envNetns, "%q: an absolute path without detours is needed", p.netns)
	case strings.IndexFunc(p.netns, func(r rune) bool { return r <= ' ' || r == 0x7f }) >= 0:
		return -1, invalidEnv(envNetns, "%q has a blank", p.netns)
	case !mayBeIn(c.NetnsDirs, p.netns):
		return -1, invalidEnv(envNetns, "%s is not directly in one of %s", p.netns, strings.Join(c.NetnsDirs, ", ")).
			more("netnsDirs of the network configuration lists the folders that sandboxes may be in")
	}
	fd, err := openNetns(p.netns)
	switch {
	case errors.Is(err, errNoNetns), errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ESRCH):
		return -1, failed(types.ErrUnknownContainer, "%s: %s: %v", envNetns, p.netns, err)
	case err != nil:
		return -1, failed(types.ErrIOFailure, "%s: %s: %v", envNetns, p.netns, err)
	}
	if !p.ownNetns && isOwn(fd) {
		closeFD(fd)
		return -1, failed(types.ErrInvalidNetNS, "%s: %s is the namespace that the plugin itself runs in", envNetns, p.netns)
	}
	return fd, nil
}

// errNoNetns is of a file that is no network namespace, or one no longer: its mount is gone and the file is left.
var errNoNetns = errors.New("is no network namespace (any more)")

// nsfsMagic is the file system of namespaces (NSFS_MAGIC in linux/magic.h).
const nsfsMagic = 0x6e736673

// nsGetNstype is NS_GET_NSTYPE of linux/nsfs.h: _IO(0xb7, 0x3).
const nsGetNstype = 0xb703

// openNetns opens a network namespace. The file is looked at before it is opened in earnest, which would block on a
// pipe and could do anything on a device.
func openNetns(netns string) (int, error) {
	look, err := unix.Open(netns, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer closeFD(look)
	var fs unix.Statfs_t
	if err := unix.Fstatfs(look, &fs); err != nil {
		return -1, err
	}
	if int64(fs.Type) != nsfsMagic {
		return -1, errNoNetns
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", look), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if kind, err := unix.IoctlRetInt(fd, nsGetNstype); err != nil || kind != unix.CLONE_NEWNET {
		closeFD(fd)
		return -1, errNoNetns
	}
	return fd, nil
}

// isOwn reports whether the namespace is this process's.
func isOwn(fd int) bool {
	var own, other unix.Stat_t
	return unix.Stat("/proc/self/ns/net", &own) == nil && unix.Fstat(fd, &other) == nil && own.Dev == other.Dev && own.Ino == other.Ino
}

func closeFD(fd int) { _ = unix.Close(fd) } // nothing was written through it
