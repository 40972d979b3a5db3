package spawn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// KillWithin kills the processes that are in a network namespace, by its path. A namespace that is not there has none.
func KillWithin(netns string) error {
	space, err := os.Stat(netns)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	procs, err := filepath.Glob("/proc/[0-9]*")
	errs := []error{err}
	for _, dir := range procs {
		of, err := os.Stat(filepath.Join(dir, "ns", "net"))
		if err != nil || !os.SameFile(space, of) {
			continue // it has ended, or is elsewhere
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("kill process %d in %s: %w", pid, netns, err))
		}
	}
	return errors.Join(errs...)
}
