package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/host/cnisocket"
	"github.com/vppdrill/vppdrill/vppwire/host/journal"
	"github.com/vppdrill/vppdrill/vppwire/host/vpp"
)

// Exit codes, as `vppdrill --help` lists them.
const (
	exitBroken    = 1
	exitUsage     = 2
	exitCannotRun = 3
)

// Commands are the commands of this package.
func Commands() []*cobra.Command { return []*cobra.Command{agentCommand()} }

// exit is an error that knows its exit code.
type exit struct {
	code int
	err  error
}

// Error is one line.
func (e exit) Error() string { return strings.ReplaceAll(e.err.Error(), "\n", "; ") }

// Unwrap returns the error itself.
func (e exit) Unwrap() error { return e.err }

// ExitCode tells main the code.
func (e exit) ExitCode() int { return e.code }

// usagef is bad usage or input: nothing was changed.
func usagef(format string, args ...any) error { return exit{exitUsage, fmt.Errorf(format, args...)} }

// cannotRun are the errors that say that this machine, as it is now, cannot run an agent.
var cannotRun = []error{vpp.ErrAbsent, vpp.ErrForbidden, vpp.ErrIncompatible, journal.ErrLocked, cnisocket.ErrInUse,
	vppwire.ErrNoNamespace, fs.ErrNotExist, fs.ErrPermission}

// judged gives an error that stopped an agent its code.
func judged(err error) error {
	var told exit
	if err == nil || errors.As(err, &told) {
		return err
	}
	for _, known := range cannotRun {
		if errors.Is(err, known) {
			return exit{exitCannotRun, fmt.Errorf("agent: %w", err)}
		}
	}
	return exit{exitBroken, fmt.Errorf("agent: %w", err)}
}
