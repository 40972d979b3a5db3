package linux

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// namespaces makes so many empty network namespaces and returns their paths. When the test ends, nothing is left.
func namespaces(t testing.TB, n int) []string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("skipped: making network namespaces needs root")
	}
	var paths []string
	for range n {
		path, end, err := namespace()
		if err != nil {
			t.Skipf("skipped: this machine lets nobody make network namespaces: %v", err)
		}
		t.Cleanup(end)
		paths = append(paths, path)
	}
	return paths
}

// namespace makes one that lives as long as a thread that is in it, so until end or until this process is gone.
func namespace() (path string, end func(), err error) {
	made, stop, ended := make(chan string), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err = unix.Unshare(unix.CLONE_NEWNET); err == nil {
			path = fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), unix.Gettid())
		}
		close(made)
		<-stop
	}()
	<-made
	return path, func() { close(stop); <-ended }, err
}
