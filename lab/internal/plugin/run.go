package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Order is one execution.
type Order struct {
	Path string
	// Args are what follows the program's name; plugins have none. A Tracer's program gets none.
	Args  []string
	Env   []string
	Stdin []byte
	// Netns is the path of the network namespace to run in. Binds hold for the program alone, in their order.
	Netns string
	Binds []Bind
	// Tracer, where set, counts the program's calls, and may end it.
	Tracer *Tracer
}

// Outcome is what a program printed.
type Outcome struct{ Stdout, Stderr []byte }

// ErrKilled: the Tracer ended the program.
var ErrKilled = errors.New("killed before a system call")

// Run executes a program and returns when it has ended, together with all that it started where it is traced. One that
// is still there when ctx ends is killed.
func Run(ctx context.Context, o Order) (Outcome, error) {
	in, err := memory("stdin", o.Stdin)
	if err != nil {
		return Outcome{}, err
	}
	defer func() { _ = in.Close() }()
	var outs [2]*os.File
	for i, name := range [...]string{"stdout", "stderr"} {
		if outs[i], err = memory(name, nil); err != nil {
			return Outcome{}, err
		}
		defer func() { _ = outs[i].Close() }()
	}
	err = within(o.Netns, o.Binds, func() error {
		if o.Tracer != nil {
			return o.Tracer.run(ctx, o, [3]uintptr{in.Fd(), outs[0].Fd(), outs[1].Fd()})
		}
		cmd := exec.CommandContext(ctx, o.Path, o.Args...)
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Env, in, outs[0], outs[1]
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		return cmd.Run()
	})
	var out Outcome
	for i, into := range [...]*[]byte{&out.Stdout, &out.Stderr} {
		text, bad := io.ReadAll(io.NewSectionReader(outs[i], 0, 1<<24))
		*into, err = bytes.TrimSpace(text), errors.Join(err, bad)
	}
	return out, err
}

// memory is a file that is nowhere, with text to read.
func memory(name string, text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.WriteAt(text, 0)
	return f, err
}

// Bind has a folder show another one.
type Bind struct{ At, From string }

// within calls f on a thread in a network namespace and a mount namespace of its own, in which the binds hold.
func within(netns string, binds []Bind, f func() error) error {
	return throwaway(func() error {
		ns, err := os.Open(netns)
		if err != nil {
			return err
		}
		defer func() { _ = ns.Close() }() // it was only entered
		if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("make mount namespace: %w", err)
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
			return fmt.Errorf("separate mounts: %w", err)
		}
		for _, b := range binds {
			if err := unix.Mount(b.From, b.At, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
				return fmt.Errorf("show %s at %s: %w", b.From, b.At, err)
			}
		}
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace %s: %w", netns, err)
		}
		return f()
	})
}

// throwaway calls f on a thread that ends afterwards: what it has done to itself is nobody's.
func throwaway(f func() error) error {
	result := make(chan error, 1)
	var on func()
	on = func() {
		runtime.LockOSThread() // and never unlocked
		if unix.Gettid() == os.Getpid() {
			// A process's first thread never ends. While it is held here the next goroutine gets another one.
			done := make(chan struct{})
			go func() { defer close(done); on() }()
			<-done
			runtime.UnlockOSThread()
			return
		}
		result <- f()
	}
	go on()
	return <-result
}
