package spawn

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	vns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Config is what to start.
type Config struct {
	// Cmd is the command; Start sets its output and its process group.
	Cmd *exec.Cmd
	// Netns is the path of the network namespace to start in; empty is the caller's own.
	Netns string
	// Output is the file that gets everything the process prints, appended; empty is nowhere.
	Output string
	// Record is the file that gets the process's identity; empty is none.
	Record string
}

// Process is one that this process has started.
type Process struct {
	cmd    *exec.Cmd
	id     ID
	record string
	done   chan struct{}
	once   sync.Once
}

// Start starts the command in its namespace, in a process group of its own so that an interrupt typed at the terminal
// reaches only whoever decides in which order things end.
func Start(c Config) (*Process, error) {
	if c.Output != "" {
		out, err := os.OpenFile(c.Output, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return nil, err
		}
		defer func() { _ = out.Close() }() // the child has its own descriptor
		c.Cmd.Stdout, c.Cmd.Stderr = out, out
	}
	if c.Cmd.SysProcAttr == nil {
		c.Cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.Cmd.SysProcAttr.Setpgid = true
	if err := Inside(c.Netns, c.Cmd.Start); err != nil {
		return nil, err
	}
	p := &Process{cmd: c.Cmd, record: c.Record, done: make(chan struct{})}
	id, _, err := identify(c.Cmd.Process.Pid)
	if err == nil {
		p.id = id
		if c.Record != "" {
			err = os.WriteFile(c.Record, []byte(id.String()+"\n"), 0o644)
		}
	}
	go func() {
		_ = c.Cmd.Wait() // how it ended is told by whoever ended it, or by its log
		close(p.done)
	}()
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("record process: %w", err)
	}
	return p, nil
}

// PID is the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// ID is the process's identity.
func (p *Process) ID() ID { return p.id }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended says how the process ended, as "exit status 1" or "signal: killed"; only after Done.
func (p *Process) Ended() string {
	<-p.done
	return p.cmd.ProcessState.String()
}

// End sends sig and waits until the process is gone; after patience, where it is not 0, it is killed.
func (p *Process) End(sig syscall.Signal, patience time.Duration) {
	_ = p.cmd.Process.Signal(sig) // it may have ended by itself
	if patience > 0 {
		select {
		case <-p.done:
		case <-time.After(patience):
			_ = p.cmd.Process.Kill()
		}
	}
	<-p.done
	p.once.Do(func() {
		if p.record != "" {
			_ = os.Remove(p.record) // a record of a dead process is harmless
		}
	})
}

// stopPatience is how long a process that is asked to end may take.
const stopPatience = 5 * time.Second

// Pause stops the process where it is, or lets it go on. One that has ended stays so.
func (p *Process) Pause(pause bool) error {
	sig := syscall.SIGCONT
	if pause {
		sig = syscall.SIGSTOP
	}
	if err := p.cmd.Process.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Kill ends it at once and returns when it is gone; Stop asks first.
func (p *Process) Kill() { p.End(syscall.SIGKILL, 0) }

// Stop asks it to end, kills it when it does not, and returns when it is gone.
func (p *Process) Stop() { p.End(syscall.SIGTERM, stopPatience) }

// Inside calls f on a thread in a network namespace. Processes and sockets that f makes stay there. The empty path is
// the caller's own.
func Inside(netns string, f func() error) error {
	if netns == "" {
		return f()
	}
	return Elsewhere(func() error {
		fd, err := unix.Open(netns, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open network namespace %s: %w", netns, err)
		}
		defer func() { _ = unix.Close(fd) }()
		if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace %s: %w", netns, err)
		}
		return f()
	})
}

// Elsewhere calls f on a thread that may change its network namespace. The thread comes back: a process's first one
// never ends, would keep a namespace and all links in it for ever, and shows what it is in at /proc/PID/ns/net.
func Elsewhere(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		own, err := vns.Get()
		if err != nil {
			result <- err
			return
		}
		err = f()
		back := errors.Join(vns.Set(own), own.Close())
		if back == nil {
			runtime.UnlockOSThread() // otherwise it ends with this goroutine where it can
		}
		result <- errors.Join(err, back)
	}()
	return <-result
}

// mark is the variable that a lab's processes carry.
const mark = "VPPDRILL_LAB"

// Mark is the environment entry of the processes of one lab.
func Mark(lab string) string { return mark + "=" + lab }

// Marked finds the processes that carry a lab's mark, this one left out.
func Marked(lab string) []ID {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []ID
	for _, e := range entries {
		pid := number(e.Name())
		if pid == 0 || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err != nil || !strings.Contains("\x00"+string(env), "\x00"+Mark(lab)+"\x00") {
			continue
		}
		if id, err := Identify(pid); err == nil {
			out = append(out, id)
		}
	}
	return out
}
