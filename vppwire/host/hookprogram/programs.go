//go:build linux

package hookprogram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Programs are a node's hooks.
type Programs struct {
	// Node is this node's name. Of has paths and time limit, defaults applied.
	Node string
	Of   agent.HookPrograms
	// Log is for people; needed.
	Log *slog.Logger
}

// Check refuses programs that this machine does not have or may not run.
func Check(of agent.HookPrograms) error {
	for _, h := range [...]struct{ key, program string }{{PostAdd, of.PostAdd}, {PreRemoval, of.PreRemoval}} {
		if h.program == "" {
			continue
		}
		info, err := os.Stat(h.program)
		if err == nil && !info.Mode().IsRegular() {
			err = errors.New("it is no file")
		}
		if err == nil && info.Mode().Perm()&0o111 == 0 {
			err = errors.New("it may not be executed")
		}
		if path := (*os.PathError)(nil); errors.As(err, &path) {
			err = path.Err
		}
		if err != nil {
			return fmt.Errorf("hook %s %s: %w", h.key, h.program, err)
		}
	}
	return nil
}

// outputMax is how much of what a program says is logged, in bytes.
const outputMax = 1024

// Run runs the program of a hook, where there is one. What went well is one line of the log; the error of what did not is
// one line too, with the exit code and what the program said. It ends with ctx.
func (p *Programs) Run(ctx context.Context, h agent.Hook) error {
	e := eventOf(p.Node, h)
	program := p.Of.PostAdd
	if h.Before {
		program = p.Of.PreRemoval
	}
	if program == "" {
		return nil
	}
	in, err := json.Marshal(e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.Of.Timeout, fmt.Errorf("killed after %s", p.Of.Timeout))
	defer cancel()
	begun := time.Now()
	said, err := execute(ctx, program, append(in, '\n'))
	if err != nil {
		return fmt.Errorf("%s: %s: %w%s", e.Hook, program, err, said.behind())
	}
	p.Log.Info("hook", "hook", e.Hook, "namespace", e.PodNamespace, "pod", e.PodName, "container", e.ContainerID, "program", program,
		"exit", 0, "took", time.Since(begun), "output", said.line())
	return nil
}

// execute runs a program to its end.
func execute(ctx context.Context, program string, in []byte) (*output, error) {
	// The kernel kills the program when the thread that has started it ends, not when the agent does: this one stays.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	said := &output{}
	c := exec.CommandContext(ctx, program)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(in), said, said
	c.Dir = "/"
	c.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	c.Cancel = func() error { return unix.Kill(-c.Process.Pid, unix.SIGKILL) }
	c.WaitDelay = time.Second // for children that have left the group and hold the output
	err := c.Run()
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		return said, nil // what it has left running is its own affair
	case ctx.Err() != nil:
		return said, context.Cause(ctx)
	case errors.As(err, &exit) && exit.Exited():
		return said, fmt.Errorf("exit code %d", exit.ExitCode())
	}
	return said, err
}

// output keeps the beginning of what a program says.
type output struct {
	text []byte
	more bool
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	kept := b[:min(len(b), outputMax-len(o.text))]
	o.text = append(o.text, kept...)
	o.more = o.more || len(kept) < len(b)
	return len(b), nil
}

// line is what was said on one line.
func (o *output) line() string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(o.text), "?")), " ")
	if o.more {
		text += " …"
	}
	return text
}

// behind is line behind an error.
func (o *output) behind() string {
	if len(o.text) == 0 {
		return ""
	}
	return ": " + o.line()
}
