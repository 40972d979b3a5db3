package fabric

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// trials numbers this process's trial namespaces: several labs may be checked at the same time.
var trials atomic.Int64

// Try makes a namespace that does not stay, calls f with its name, and says what went wrong. Its name begins with
// prefix and "check-". What killed processes have left of their trials goes first.
func Try(prefix string, f func(name string) error) error {
	prefix += "check-"
	if err := sweepTrials(prefix); err != nil {
		return err
	}
	name := fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), trials.Add(1))
	if err := Create(name); err != nil {
		return err
	}
	return errors.Join(f(name), Remove(name))
}

// Check says in one line why this machine cannot have fabrics, for the world of that name; prefix is Try's. Nothing
// stays.
func Check(world, prefix string) error {
	if os.Geteuid() != 0 {
		return lab.Cannot("world %s needs root: namespaces and interfaces", world)
	}
	err := Try(prefix, func(string) error { return nil })
	switch {
	case errors.Is(err, unix.EPERM):
		return lab.Cannot("world %s needs the capability SYS_ADMIN: network namespaces are refused", world)
	case err != nil:
		return lab.Cannot("world %s cannot make network namespaces: %s", world, err)
	}
	return nil
}

// sweepTrials removes the trial namespaces of processes that are gone.
func sweepTrials(prefix string) error {
	names, err := Named(prefix)
	for _, name := range names {
		pid, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "-")
		n, bad := strconv.Atoi(pid)
		if bad != nil {
			continue // nobody's
		}
		if _, gone := spawn.Identify(n); errors.Is(gone, os.ErrNotExist) || errors.Is(gone, os.ErrProcessDone) {
			err = errors.Join(err, Remove(name))
		}
	}
	return err
}

// TryNetem says why this kernel cannot make links late and lossy, nil when it can; prefix is Try's. Nothing stays.
func TryNetem(prefix string) error {
	return Try(prefix, func(name string) error {
		s, err := Open(Path(name))
		if err != nil {
			return err
		}
		defer s.Close()
		return s.With("lo", "make late", func(l netlink.Link) error {
			return s.QdiscAdd(netlink.NewNetem(netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
				netlink.NetemQdiscAttrs{Latency: 1000}))
		})
	})
}
