package plugin

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// path says which argument is a path, of calls that change files by their names.
type named struct {
	what string
	path int
}

// changes are the calls that change files by name, on every architecture.
var changes = map[uint64]named{
	unix.SYS_UNLINKAT: {"remove", 1}, unix.SYS_RENAMEAT2: {"rename", 1}, unix.SYS_RENAMEAT: {"rename", 1}, unix.SYS_LINKAT: {"link", 3},
	unix.SYS_SYMLINKAT: {"symlink", 2}, unix.SYS_MKDIRAT: {"mkdir", 1}, unix.SYS_FCHMODAT: {"chmod", 1}, unix.SYS_FCHOWNAT: {"chown", 1},
	unix.SYS_MOUNT: {"mount", 1}, unix.SYS_UMOUNT2: {"umount", 0},
}

// effect says what a call does that others could see, false for nothing.
func effect(pid int, e entry) (what string, seen bool) {
	if n, ok := changes[e.number]; ok {
		return n.what + " " + text(pid, e.args[n.path]), true
	}
	if n, ok := oldChanges[e.number]; ok {
		return n.what + " " + text(pid, e.args[n.path]), true
	}
	switch e.number {
	case unix.SYS_OPENAT:
		return opened(pid, e.args[1], e.args[2])
	case sysOpen:
		return opened(pid, e.args[0], e.args[1])
	case unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV:
		return written(pid, e.args[0])
	case unix.SYS_FTRUNCATE:
		return "truncate " + file(pid, e.args[0]), true
	case unix.SYS_SENDTO:
		return sent(pid, e.args[1], e.args[2])
	case unix.SYS_SENDMSG:
		return sentMessage(pid, e.args[1])
	case unix.SYS_IOCTL:
		return asked(e.args[1])
	case unix.SYS_SETSOCKOPT: // IPT_SO_SET_REPLACE and IPT_SO_SET_ADD_COUNTERS of iptables-legacy
		if (e.args[1] == unix.IPPROTO_IP || e.args[1] == unix.IPPROTO_IPV6) && (e.args[2] == 64 || e.args[2] == 65) {
			return "replace iptables", true
		}
	case unix.SYS_EXIT_GROUP:
		return "exit", !trial(pid)
	}
	return "", false
}

// trial reports whether a process is one by which its parent finds out what the kernel can: Go's runtime forks such ones,
// which never execute anything.
func trial(pid int) bool {
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") // it stands still, so it is there
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return false
	}
	parent, err := strconv.Atoi(fields[1])
	return err == nil && program(parent) == program(pid)
}

func opened(pid int, path, flags uint64) (string, bool) {
	if flags&(unix.O_CREAT|unix.O_TRUNC) == 0 && flags&unix.O_ACCMODE == unix.O_RDONLY {
		return "", false
	}
	name := text(pid, path)
	if name == "/dev/null" {
		return "", false
	}
	if flags&unix.O_CREAT != 0 {
		return "create " + name, true
	}
	return "open " + name, flags&unix.O_TRUNC != 0 // what is written to it counts by itself
}

// written is a write to a file, a pipe or a socket; the runtime's own wake-ups and what is said to people do not count.
func written(pid int, fd uint64) (string, bool) {
	switch name := file(pid, fd); {
	case fd == 2, strings.HasPrefix(name, "anon_inode:"):
		return "", false
	case fd == 1, strings.HasPrefix(name, "pipe:"):
		return "answer", true
	case strings.HasPrefix(name, "socket:"):
		return "send", true
	default:
		return "write " + name, true
	}
}

// file is what a descriptor stands for.
func file(pid int, fd uint64) string {
	name, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.FormatUint(fd, 10))
	if err != nil {
		return "?"
	}
	return name
}

// asked is an ioctl that sets something of a link: SIOCETHTOOL and the SIOCSIF ones, SIOCBR of bridges.
func asked(request uint64) (string, bool) {
	switch {
	case request == unix.SIOCETHTOOL:
		return "ethtool", true
	case request >= 0x89a0 && request <= 0x89a3:
		return "bridge ioctl", true
	}
	return "", false
}

const headerLen = 16 // of nlmsghdr, netlink(7)

func sentMessage(pid int, at uint64) (string, bool) {
	header, ok := memoryOf(pid, at, 56) // struct msghdr
	if !ok {
		return "send", true
	}
	vector, ok := memoryOf(pid, binary.NativeEndian.Uint64(header[16:]), 16)
	if !ok {
		return "send", true
	}
	return sent(pid, binary.NativeEndian.Uint64(vector), binary.NativeEndian.Uint64(vector[8:]))
}

// sent is a message; those of netlink that only ask change nothing.
func sent(pid int, at, length uint64) (string, bool) {
	header, ok := memoryOf(pid, at, headerLen)
	if !ok || length < headerLen {
		return "send", true
	}
	kind := binary.NativeEndian.Uint16(header[4:])
	if kind >= 0x100 || strings.HasPrefix(program(pid), "xtables") || strings.HasPrefix(program(pid), "nft") {
		return "change nftables", kind < 0x100 || !asksNFT(kind)
	}
	if name, ok := routeMessages[kind]; ok {
		return name, true
	}
	return fmt.Sprintf("netlink message %d", kind), kind < unix.RTM_BASE || kind%4 != unix.RTM_GETLINK%4
}

// asksNFT: of nftables' messages every third one, from NFT_MSG_GETTABLE on, only asks.
func asksNFT(kind uint16) bool { return kind>>8 == unix.NFNL_SUBSYS_NFTABLES && kind&0xff%3 == 1 }

var routeMessages = map[uint16]string{
	unix.RTM_NEWLINK: "RTM_NEWLINK", unix.RTM_DELLINK: "RTM_DELLINK", unix.RTM_SETLINK: "RTM_SETLINK",
	unix.RTM_NEWADDR: "RTM_NEWADDR", unix.RTM_DELADDR: "RTM_DELADDR", unix.RTM_NEWROUTE: "RTM_NEWROUTE", unix.RTM_DELROUTE: "RTM_DELROUTE",
	unix.RTM_NEWNEIGH: "RTM_NEWNEIGH", unix.RTM_DELNEIGH: "RTM_DELNEIGH", unix.RTM_NEWRULE: "RTM_NEWRULE", unix.RTM_DELRULE: "RTM_DELRULE",
	unix.RTM_NEWQDISC: "RTM_NEWQDISC", unix.RTM_DELQDISC: "RTM_DELQDISC", unix.RTM_NEWTFILTER: "RTM_NEWTFILTER", unix.RTM_DELTFILTER: "RTM_DELTFILTER",
}

// text is a string in a program's memory.
func text(pid int, at uint64) string {
	for _, most := range [...]int{256, 64, 16} { // near the end of what is mapped there is less
		if raw, ok := memoryOf(pid, at, most); ok {
			name, _, _ := bytes.Cut(raw, []byte{0})
			return string(name)
		}
	}
	return "?"
}

// memoryOf reads a program's memory.
func memoryOf(pid int, at uint64, length int) ([]byte, bool) {
	out := make([]byte, length)
	n, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &out[0], Len: uint64(length)}}, []unix.RemoteIovec{{Base: uintptr(at), Len: length}}, 0)
	return out, err == nil && n == length
}
