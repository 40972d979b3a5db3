package plugin

import "golang.org/x/sys/unix"

// oldChanges are calls that only this architecture has.
var oldChanges = map[uint64]named{
	unix.SYS_UNLINK: {"remove", 0}, unix.SYS_RENAME: {"rename", 0}, unix.SYS_LINK: {"link", 1}, unix.SYS_SYMLINK: {"symlink", 1},
	unix.SYS_MKDIR: {"mkdir", 0}, unix.SYS_RMDIR: {"remove", 0}, unix.SYS_CHMOD: {"chmod", 0}, unix.SYS_CHOWN: {"chown", 0},
}

const sysOpen = unix.SYS_OPEN
