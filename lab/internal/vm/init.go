package vm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Inside reports whether this process runs in a machine of this package.
func Inside() bool {
	_, err := os.Stat(marker)
	return err == nil
}

// aliveEvery is how often a machine says that it works.
const aliveEvery = 5 * time.Second

// outputPatience is how long processes that the command left behind may go on to print.
const outputPatience = 2 * time.Second

// Main is a machine's first process. It does the order and powers the machine off. It returns only where it is not such
// a process.
func Main() error {
	if os.Getpid() != 1 {
		return errors.New("this is the first process of a virtual machine and not for people")
	}
	control, err := order()
	if err != nil {
		line := strings.ReplaceAll(err.Error(), "\n", "; ")
		fmt.Println(consoleMark + line) // the console
		if control != nil {
			_, _ = fmt.Fprintln(control, lineFailed+line) // nobody else is left to be told
		}
	}
	unix.Sync()
	return unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// order makes this machine a copy of the outer one and does its order.
func order() (control *os.File, err error) {
	text, err := os.ReadFile("/" + orderFile)
	if err != nil {
		return nil, err
	}
	var o Order
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("read order: %w", err)
	}
	if err := mountKernel("/"); err != nil {
		return nil, err
	}
	if err := loadModules(o.Modules); err != nil {
		return nil, err
	}
	ports, err := openPorts(portControl, portStdout, portStderr)
	if err != nil {
		return nil, err
	}
	control = ports[0]
	if err := enterRoot(o); err != nil {
		return control, err
	}
	if err := prepare(); err != nil {
		return control, err
	}
	code, err := run(o, control, ports[1], ports[2])
	if err != nil {
		return control, err
	}
	unix.Sync()
	_, err = fmt.Fprintf(control, "%s%d\n", lineExit, code)
	return control, err
}

// loadModules loads the kernel's modules in order.
func loadModules(list []Module) error {
	for _, module := range list {
		f, err := os.Open(filepath.Join("/", modulesFolder, module.File))
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(f.Fd()), "", 0)
		if errors.Is(err, unix.EEXIST) {
			err = nil
		}
		if err = errors.Join(err, f.Close()); err != nil && !module.Optional {
			return fmt.Errorf("load module %s: %w", module.File, err)
		}
	}
	return nil
}

// portPatience is how long the kernel may take to find the machine's ports.
const portPatience = 30 * time.Second

// openPorts opens virtio-serial ports by their names.
func openPorts(names ...string) ([]*os.File, error) {
	files := make([]*os.File, len(names))
	for end := time.Now().Add(portPatience); ; time.Sleep(10 * time.Millisecond) {
		devices, err := os.ReadDir("/sys/class/virtio-ports")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, d := range devices {
			name, _ := os.ReadFile(filepath.Join("/sys/class/virtio-ports", d.Name(), "name")) // comes later than the port
			i := slices.Index(names, strings.TrimSpace(string(name)))
			if i < 0 || files[i] != nil {
				continue
			}
			// Blocking, and not of Go's poller: what is written has reached the outer side when Write returns.
			fd, err := unix.Open("/dev/"+d.Name(), unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err != nil {
				return nil, fmt.Errorf("open port %s: %w", names[i], err)
			}
			files[i] = os.NewFile(uintptr(fd), names[i])
		}
		if !slices.Contains(files, nil) {
			return files, nil
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("the machine has no ports %s", strings.Join(names, ", "))
		}
	}
}

// openFiles is how many files a process of the machine may have open: a lab's owner has some for each pod.
const openFiles = 1 << 20

// prepare sets up what no file system does.
func prepare() error {
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(lo)
	}
	if err != nil {
		return fmt.Errorf("bring lo up: %w", err)
	}
	if err := unix.Sethostname([]byte("vppdrill-vm")); err != nil {
		return fmt.Errorf("name machine: %w", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: openFiles, Max: openFiles}); err != nil {
		return fmt.Errorf("allow open files: %w", err)
	}
	unlimited := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unlimited); err != nil {
		return fmt.Errorf("allow locked memory: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(marker), 0o755); err != nil {
		return err
	}
	return os.WriteFile(marker, nil, 0o644)
}

// run runs the command. Its output goes through pipes, as ports are opened by one process alone.
func run(o Order, control, stdout, stderr *os.File) (code int, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go spawn.Reap(ctx)
	environment(o.Env)
	cmd := exec.Command(o.Argv[0], o.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = o.Dir, os.Environ(), outputPatience
	cmd.Stdout, cmd.Stderr = struct{ io.Writer }{stdout}, struct{ io.Writer }{stderr}
	if _, err := fmt.Fprintln(control, lineAlive); err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	orders := make(chan string)
	go readLines(control, orders)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for {
		select {
		case line, open := <-orders:
			if !open { // the outer process is gone
				return 0, errors.New("nobody waits for the command")
			}
			if line == lineInterrupt {
				_ = cmd.Process.Signal(os.Interrupt) // it may have ended by itself
			}
		case <-alive.C:
			if _, err := fmt.Fprintln(control, lineAlive); err != nil {
				return 0, err
			}
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
				return 0, err
			}
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
				return signalled + int(status.Signal()), nil
			}
			return cmd.ProcessState.ExitCode(), nil
		}
	}
}

// environment takes over the outer environment, with folders of the machine's own where sockets and labs are made: a
// lab of the outer machine does not run here.
func environment(outer []string) {
	os.Clearenv()
	for _, entry := range outer {
		name, value, _ := strings.Cut(entry, "=")
		_ = os.Setenv(name, value) // an entry that the outer process had is a valid one
	}
	_ = os.Setenv("TMPDIR", temporary)
	_ = os.Setenv("VPPDRILL_LABS", labs)
}
