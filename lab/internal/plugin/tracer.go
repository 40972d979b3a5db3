package plugin

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Call is one system call that others could see.
type Call struct {
	// Program is the base name of whoever makes it, What the call with what it is about.
	Program, What string
}

// String is "host-local: create /var/lib/cni/networks/net/10.1.0.2".
func (c Call) String() string { return c.Program + ": " + c.What }

// Tracer counts the calls of the programs that it is given, and ends them before one.
type Tracer struct {
	// KillAt is the number of that call, from 1 on; 0 only counts. Alone: only the program that makes it is killed, not
	// those that it works for.
	KillAt int
	Alone  bool

	mu     sync.Mutex
	calls  []Call
	killed bool
}

// Calls are those so far.
func (t *Tracer) Calls() []Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Call(nil), t.calls...)
}

// Killed is the call that was not made any more, false for none.
func (t *Tracer) Killed() (Call, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.killed {
		return Call{}, false
	}
	return t.calls[t.KillAt-1], true
}

// note counts a call and reports that it is not to be made.
func (t *Tracer) note(c Call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, c)
	t.killed = t.killed || len(t.calls) == t.KillAt
	return len(t.calls) == t.KillAt
}

// traced are the threads of the programs under way.
type traced struct {
	mu   sync.Mutex
	pids map[int]bool
	over bool
}

func (x *traced) add(pid int) (fresh bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	fresh = !x.pids[pid]
	x.pids[pid] = true
	if x.over {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return fresh
}

func (x *traced) remove(pid int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.pids, pid)
}

// kill ends all of them, and those still to come.
func (x *traced) kill() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	for pid := range x.pids { //vppdrill:unordered each by itself
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE |
	unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL

// run executes a program under ptrace on the calling thread, which is the tracer of all that the program starts.
func (t *Tracer) run(ctx context.Context, o Order, files [3]uintptr) error {
	pid, err := syscall.ForkExec(o.Path, []string{o.Path}, &syscall.ProcAttr{Env: o.Env, Files: files[:], Dir: "/",
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true}})
	if err != nil {
		return fmt.Errorf("start %s under ptrace: %w", o.Path, err)
	}
	all := &traced{pids: map[int]bool{pid: true}}
	defer context.AfterFunc(ctx, all.kill)()
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != nil || !ws.Stopped() {
		return fmt.Errorf("%s did not start: %v, %w", o.Path, ws, err)
	}
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return errors.Join(err, syscall.Kill(pid, syscall.SIGKILL))
	}
	_ = unix.PtraceSyscall(pid, 0) // one that was killed is waited for below
	var end unix.WaitStatus
	for {
		who, err := unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil: // ECHILD: all have ended
			return t.ending(ctx, end)
		case ws.Stopped():
			fresh := all.add(who)
			_ = unix.PtraceSyscall(who, t.stopped(all, who, ws, fresh))
		default:
			all.remove(who)
			if who == pid {
				end = ws
			}
		}
	}
}

// ending is what became of the program that was started first.
func (t *Tracer) ending(ctx context.Context, ws unix.WaitStatus) error {
	_, killed := t.Killed()
	switch {
	case killed && ws.Signaled():
		return ErrKilled
	case ctx.Err() != nil && ws.Signaled():
		return context.Cause(ctx)
	case ws.Signaled():
		return fmt.Errorf("signal: %s", ws.Signal())
	case ws.ExitStatus() != 0:
		return fmt.Errorf("exit status %d", ws.ExitStatus())
	}
	return nil
}

// stopped looks at a thread that has stopped and returns the signal that it goes on with.
func (t *Tracer) stopped(all *traced, who int, ws unix.WaitStatus, fresh bool) int {
	sig := ws.StopSignal()
	switch {
	case sig == unix.SIGTRAP|0x80:
		if info, ok := callOf(who); ok {
			if what, seen := effect(who, info); seen && t.note(Call{program(who), what}) {
				if t.Alone {
					_ = syscall.Kill(groupOf(who), syscall.SIGKILL)
				} else {
					all.kill()
				}
			}
		}
		return 0
	case sig == unix.SIGTRAP, fresh && sig == unix.SIGSTOP: // an event, or a thread's first stop
		return 0
	}
	return int(sig)
}

// entry is a system call that begins: ptrace_syscall_info of ptrace(2).
type entry struct {
	number uint64
	args   [6]uint64
}

// callOf is the call that a thread begins; false where it ends one.
func callOf(pid int) (entry, bool) {
	const getSyscallInfo, begins = 0x420e, 1
	var raw [88]byte
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, getSyscallInfo, uintptr(pid), uintptr(len(raw)), uintptr(unsafe.Pointer(&raw[0])), 0, 0); errno != 0 ||
		raw[0] != begins {
		return entry{}, false
	}
	e := entry{number: binary.NativeEndian.Uint64(raw[24:])}
	for i := range e.args {
		e.args[i] = binary.NativeEndian.Uint64(raw[32+8*i:])
	}
	return e, true
}

// program is the base name of what a thread executes.
func program(pid int) string {
	exe, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return "?"
	}
	return filepath.Base(exe)
}

// groupOf is the process of a thread.
func groupOf(pid int) int {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status") // it stands still, so it is there
	_, rest, _ := strings.Cut(string(text), "Tgid:")
	line, _, _ := strings.Cut(rest, "\n")
	group, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return pid
	}
	return group
}
