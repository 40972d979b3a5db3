package parity

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// devices are the Linux devices that AF_PACKET interfaces are made on. Each is one end of a veth pair; the other end
// has a p behind its name and belongs to probes.
var devices = []string{"vd0", "vd1", "vd2", "vd3"}

// deviceMTU is theirs, in bytes: Linux' own choice.
const deviceMTU = 1500

// testbed is a network namespace without a name: it lives as long as the thread and the processes in it, so that
// nothing is left behind whatever ends.
type testbed struct {
	work  chan func()
	wires []wire
}

// newTestbed makes the namespace and the devices in it. It needs root.
func newTestbed() (*testbed, error) {
	sweep()
	r := &testbed{work: make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this function
		if err := ownNamespace(); err != nil {
			ready <- err
			return
		}
		err := addDevices()
		if err == nil {
			r.wires, err = openWires()
		}
		ready <- err
		for f := range r.work {
			f()
		}
	}()
	if err := <-ready; err != nil {
		return nil, err
	}
	return r, nil
}

// do runs f in the namespace.
func (r *testbed) do(f func() error) error {
	done := make(chan error)
	r.work <- func() { done <- f() }
	return <-done
}

func (r *testbed) close() {
	close(r.work)
	closeWires(r.wires)
}

// wire is the far end of a device.
func (r *testbed) wire(device string) wire {
	return r.wires[slices.IndexFunc(r.wires, func(w wire) bool { return w.device == device })]
}

// testbeds are the free ones; further ones are made on demand.
type testbeds struct {
	mu   sync.Mutex
	free []*testbed
}

func (i *testbeds) take() (*testbed, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n := len(i.free); n > 0 {
		r := i.free[n-1]
		i.free = i.free[:n-1]
		return r, nil
	}
	return newTestbed()
}

func (i *testbeds) leave(r *testbed) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.free = append(i.free, r)
}

func (i *testbeds) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, r := range i.free {
		r.close()
	}
	i.free = nil
}

// addDevices makes the devices. IPv6 is off, so that Linux sends nothing of its own.
func addDevices() error {
	for _, f := range []string{"all", "default"} {
		_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+f+"/disable_ipv6", []byte("1"), 0) // a kernel without IPv6 has none
	}
	for i, d := range devices {
		for _, line := range []string{
			fmt.Sprintf("link add %s address 02:00:00:00:0a:%02x type veth peer name %sp address 02:00:00:00:0b:%02x", d, i, d, i),
			fmt.Sprintf("link set %sp up", d),
		} {
			if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
				return fmt.Errorf("ip %s: %w: %s", line, err, strings.TrimSpace(string(out)))
			}
		}
	}
	return nil
}
