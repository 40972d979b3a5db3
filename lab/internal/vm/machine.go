package vm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/image"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Config is a machine and what it is to do.
type Config struct {
	// Order is what to do; its Modules are the kernel's affair.
	Order Order
	// Init is the command line of the machine's first process: a program of this machine that calls Main, with words.
	Init []string
	// Kernel is the kernel's folder, as FindKernel takes it.
	Kernel string
	// MemoryMB is the machine's memory, CPUs how many processors it has; 0: DefaultMemoryMB, DefaultCPUs.
	MemoryMB, CPUs int
	// Accel is how QEMU executes the machine: AccelKVM, AccelTCG, or empty for what works.
	Accel string
	// Stdout and Stderr get what the command prints.
	Stdout, Stderr io.Writer
	// Say gets a line for people about the machine itself.
	Say func(line string)
}

// Sizes of a machine. A lab of five nodes has five VPPs of 200 MB; this program in the initramfs takes 150 MB.
const (
	DefaultMemoryMB = 3072
	MinMemoryMB     = 768
	DefaultCPUs     = 2
)

// Patience with a machine.
const (
	// bootPatience is for a boot without KVM, which takes some 20 s on an idle machine; kvmPatience for one with, which
	// takes two or three: a cloud's machine may show a /dev/kvm that executes nothing.
	bootPatience = 3 * time.Minute
	kvmPatience  = 25 * time.Second
	// Silence is how long a machine may say nothing, which says so every aliveEvery.
	Silence = 2 * time.Minute
	// interruptPatience is how long the command may take to end after an interrupt: labs are taken down.
	interruptPatience = time.Minute
	// offPatience is how long a machine may take to power off.
	offPatience = 10 * time.Second
)

// Run starts a machine, lets it do its order and returns the command's exit code. When ctx ends, the command gets an
// interrupt, and its exit code still comes through. An error is of one line: lab.ErrCannotRun where no machine can be
// had here, otherwise the machine ended, or was ended, before the command did.
func Run(ctx context.Context, c Config) (code int, err error) {
	qemu, kernel, err := ready(c)
	if err != nil {
		return 0, err
	}
	accels := c.accels()
	for i, accel := range accels {
		m := &machine{accel: accel, console: &tail{}, trouble: &tail{}}
		code, err = m.run(ctx, qemu, kernel, c)
		if err == nil || m.alive || ctx.Err() != nil || i == len(accels)-1 {
			break
		}
		c.Say(fmt.Sprintf("with %s: %s; again without, slower; %s=%s begins there", kvm, err, AccelEnvironment, AccelTCG))
	}
	return code, err
}

// machine is one that runs.
type machine struct {
	accel string
	// alive: its first process has spoken.
	alive bool
	qemu  *spawn.Process
	// control is this side of the control port.
	control net.Conn
	conns   []net.Conn
	// console has the kernel's last lines, trouble QEMU's own.
	console, trouble *tail
	copies           sync.WaitGroup
}

// run starts the machine and waits for its command's end.
func (m *machine) run(ctx context.Context, qemu string, k Kernel, c Config) (code int, err error) {
	runtime.LockOSThread() // QEMU is killed when the thread that started it ends
	defer runtime.UnlockOSThread()
	defer m.close()
	if err := m.start(ctx, qemu, k, c); err != nil {
		return 0, err
	}
	defer m.qemu.Kill()
	return m.attend(ctx)
}

func (m *machine) close() {
	for _, c := range m.conns {
		_ = c.Close() // the machine is gone
	}
}

// start packs the initramfs and starts QEMU.
func (m *machine) start(ctx context.Context, qemu string, kernel Kernel, c Config) error {
	program, err := exec.LookPath(c.Init[0])
	if err != nil {
		return fmt.Errorf("find the machine's first program: %w", err)
	}
	libraries, err := image.Libraries(ctx, program)
	if err != nil {
		return lab.Cannot("this program cannot be the first of a machine: %s; a build with CGO_ENABLED=0 can", err)
	}
	fd, err := unix.MemfdCreate("initramfs", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("pack initramfs: %w", err)
	}
	archive := os.NewFile(uintptr(fd), "initramfs")
	defer func() { _ = archive.Close() }() // QEMU has its own
	c.Order.Writable = within(c.Order.Writable)
	if err := writeInitramfs(archive, program, libraries, kernel, c.Order); err != nil {
		return err
	}
	a := &arguments{}
	a.machine(c, m.accel)
	a.add("-kernel", kernel.Image, "-initrd", a.file(archive), "-append", kernelLine(c.Init[1:]))
	a.folder(tagRoot, "/", true)
	for i, dir := range c.Order.Writable {
		a.folder(tagWritable+strconv.Itoa(i), dir, false)
	}
	var conns []net.Conn
	for _, port := range []string{"", portControl, portStdout, portStderr} {
		conn, theirs, err := pair()
		if err != nil {
			return err
		}
		defer func() { _ = theirs.Close() }() // QEMU has its own
		m.conns, conns = append(m.conns, conn), append(conns, conn)
		a.port(port, theirs)
	}
	cmd := exec.Command(qemu, a.words...)
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = a.files, m.trouble, m.trouble
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if m.qemu, err = spawn.Start(spawn.Config{Cmd: cmd}); err != nil {
		return lab.Cannot("start %s: %s", qemu, err)
	}
	m.control = conns[1]
	m.copy(m.console, conns[0])
	m.copy(c.Stdout, conns[2])
	m.copy(c.Stderr, conns[3])
	return nil
}

// copy hands on what comes out of a port, and takes it also where nobody wants it any more: the machine would wait.
func (m *machine) copy(to io.Writer, from net.Conn) {
	m.copies.Go(func() {
		if _, err := io.Copy(to, from); err != nil {
			_, _ = io.Copy(io.Discard, from) // ends with the machine
		}
	})
}

// attend waits for the command's end.
func (m *machine) attend(ctx context.Context) (int, error) {
	lines := make(chan string)
	go readLines(m.control, lines)
	patience, what := bootPatience, "did not start"
	if m.accel == AccelKVM {
		patience = kvmPatience
	}
	done, limit := ctx.Done(), time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case line, open := <-lines:
			switch {
			case !open:
				return 0, m.fallen()
			case strings.HasPrefix(line, lineFailed):
				return 0, errors.New("virtual machine: " + strings.TrimPrefix(line, lineFailed))
			case strings.HasPrefix(line, lineExit):
				code, err := strconv.Atoi(strings.TrimPrefix(line, lineExit))
				if err != nil {
					return 0, fmt.Errorf("virtual machine: %q is no exit code", line)
				}
				m.qemu.End(syscall.Signal(0), offPatience)
				m.copies.Wait()
				return code, nil
			}
			if m.alive = true; done != nil {
				patience, what = Silence, "was silent"
				limit.Reset(patience)
			}
		case <-done:
			if !m.alive {
				return 0, ctx.Err()
			}
			done, patience, what = nil, interruptPatience, "did not end after an interrupt"
			limit.Reset(patience)
			if _, err := io.WriteString(m.control, lineInterrupt+"\n"); err != nil {
				return 0, m.fallen()
			}
		case <-limit.C:
			m.qemu.Kill()
			m.copies.Wait()
			if !m.alive {
				return 0, lab.Cannot("the virtual machine %s in %s%s", what, patience, m.console.said())
			}
			return 0, fmt.Errorf("the virtual machine %s for %s and was ended%s", what, patience, m.console.said())
		}
	}
}

// fallen is the error of a machine that went before its command.
func (m *machine) fallen() error {
	m.qemu.End(syscall.Signal(0), offPatience)
	m.copies.Wait()
	if why := m.trouble.said(); why != "" {
		return lab.Cannot("the virtual machine ended (%s)%s", m.qemu.Ended(), why)
	}
	if !m.alive {
		return lab.Cannot("the virtual machine did not start%s", m.console.said())
	}
	return fmt.Errorf("the virtual machine ended before its command%s", m.console.said())
}

// pair is a stream between this process and one that gets the file.
func pair() (net.Conn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a port: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "port"), os.NewFile(uintptr(fds[1]), "port")
	conn, err := net.FileConn(ours)
	if err = errors.Join(err, ours.Close()); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("make a port: %w", err), theirs.Close())
	}
	return conn, theirs, nil
}
