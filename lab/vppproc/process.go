package vppproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Process is one life of a VPP.
type Process struct {
	cfg  Config
	proc *spawn.Process
}

// Start runs a VPP and returns when it is ready: it answers, it is one that labs can use, its boot commands have run,
// and its API socket exists. After an error nothing of it runs any more; its log is in Config.Dir.
func Start(ctx context.Context, cfg Config) (*Process, error) {
	if cfg.Ready == 0 {
		cfg.Ready = defaultReady
	}
	for _, name := range []string{APISocketFile, apiReal, CLISocketFile} {
		if err := os.Remove(filepath.Join(cfg.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("start VPP: %w", err)
		}
	}
	conf := filepath.Join(cfg.Dir, ConfFile)
	if err := os.WriteFile(conf, []byte(cfg.render()), 0o644); err != nil {
		return nil, fmt.Errorf("start VPP: %w", err)
	}
	cmd := exec.Command(cfg.Binary, "-c", conf)
	cmd.Env = append(os.Environ(), cfg.Env...)
	proc, err := spawn.Start(spawn.Config{Cmd: cmd, Netns: cfg.Netns, Output: filepath.Join(cfg.Dir, OutputFile),
		Record: filepath.Join(cfg.Dir, PIDFile)})
	if err != nil {
		if errors.Is(err, os.ErrPermission) {
			return nil, Cannot("start VPP %s: permission denied", cfg.Binary)
		}
		return nil, fmt.Errorf("start VPP %s: %w", cfg.Binary, err)
	}
	p := &Process{cfg: cfg, proc: proc}
	defer cfg.unlinkSegment()
	ctx, cancel := context.WithTimeout(ctx, cfg.Ready)
	defer cancel()
	if err := p.ready(ctx); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// ready waits for the API socket, checks what is behind it and boots it.
func (p *Process) ready(ctx context.Context) error {
	real, began := filepath.Join(p.cfg.Dir, apiReal), time.Now()
	var c Conn
	for {
		var err error
		if _, err = os.Stat(real); err == nil {
			if c, err = dial(real); err == nil {
				break
			}
		}
		select {
		case <-p.proc.Done():
			if ended := p.proc.Ended(); strings.Contains(ended, syscall.SIGILL.String()) {
				return Cannot("VPP %s is built for another processor than this one (%s): one built without -march=native runs on each", p.cfg.Binary, ended)
			}
			return Cannot("VPP %s ended while it started (%s): %s", p.cfg.Binary, p.proc.Ended(), p.lastWords())
		case <-ctx.Done():
			if errors.Is(err, os.ErrPermission) {
				return Cannot("VPP's API socket %s: permission denied", real)
			}
			return Cannot("VPP %s hangs: its process runs and does not answer on %s after %s: %s", p.cfg.Binary, real, time.Since(began).Round(100*time.Millisecond), p.lastWords())
		case <-time.After(5 * time.Millisecond):
		}
	}
	defer c.Close()
	if err := c.check(ctx, p.cfg.Binary); err != nil {
		return err
	}
	if err := c.rest(ctx); err != nil {
		return fmt.Errorf("set VPP's reassembly: %w", err)
	}
	for _, command := range p.cfg.Boot {
		text, err := c.CLI(ctx, command)
		if err != nil {
			return err
		}
		if refused(text) {
			return fmt.Errorf("vppctl %s: %s", command, strings.TrimSpace(text))
		}
	}
	if err := os.Symlink(apiReal, filepath.Join(p.cfg.Dir, APISocketFile)); err != nil {
		return fmt.Errorf("start VPP: %w", err)
	}
	return nil
}

// refused tells an error of VPP's command line, which comes as text with a return value of 0.
func refused(text string) bool {
	for _, word := range []string{"unknown input", "returned error", "error:", "failed"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// lastWords is the last line that VPP printed, for an error.
func (p *Process) lastWords() string {
	text, err := os.ReadFile(filepath.Join(p.cfg.Dir, OutputFile))
	if err != nil {
		return "it printed nothing"
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if last == "" {
		return "it printed nothing"
	}
	return last
}

// PID is the process's.
func (p *Process) PID() int { return p.proc.PID() }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.proc.Done() }

// Dial opens a connection; the caller closes it.
func (p *Process) Dial() (Conn, error) { return Dial(p.cfg.Dir) }

// Kill ends VPP at once, as a crash does, and returns when it is gone.
func (p *Process) Kill() { p.end(syscall.SIGKILL, 0) }

// Stop asks VPP to end, and kills it when it has not after three seconds.
func (p *Process) Stop() { p.end(syscall.SIGTERM, 3*time.Second) }

func (p *Process) end(sig syscall.Signal, patience time.Duration) {
	// First the name: who looks for the socket must not find that of a dead VPP. It may be gone already.
	_ = os.Remove(filepath.Join(p.cfg.Dir, APISocketFile))
	p.proc.End(sig, patience)
}

// Examine starts the VPP at binary in a folder of its own, asks what it is, and ends it.
func Examine(ctx context.Context, binary string) (version string, plugins []string, err error) {
	dir, err := os.MkdirTemp("", "vpp-look-")
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder that stays does no harm
	p, err := Start(ctx, Config{Binary: binary, Dir: dir, Sleep: time.Millisecond})
	if err != nil {
		return "", nil, err
	}
	defer p.Kill()
	c, err := p.Dial()
	if err != nil {
		return "", nil, err
	}
	defer c.Close()
	if version, err = c.Version(ctx); err != nil {
		return "", nil, err
	}
	plugins, err = c.Plugins(ctx)
	return version, plugins, err
}

// Pause stops VPP where it is, or lets it go on.
func (p *Process) Pause(pause bool) error { return p.proc.Pause(pause) }
