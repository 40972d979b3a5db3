package cli

import (
	"errors"
	"fmt"
	"strings"
)

// Exit codes of every command. 130 is what shells report for a process that SIGINT ended (128+2).
const (
	ExitHeld        = 0
	ExitBroken      = 1
	ExitUsage       = 2
	ExitCannotRun   = 3
	ExitInterrupted = 130
)

// exitCodes are what each code means, in order.
var exitCodes = []struct {
	code    int
	meaning string
}{
	{ExitHeld, "all laws hold"},
	{ExitBroken, "a law is broken, or an expectation failed"},
	{ExitUsage, "bad usage or input (one line, nothing written), or a run that could not be judged"},
	{ExitCannotRun, "this world cannot run here, or cannot do what the scenario asks"},
	{ExitInterrupted, "interrupted; finished runs are reported"},
}

// ExitCodes is the table of exit codes, a line each.
func ExitCodes() string {
	var b strings.Builder
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "  %-4d %s\n", e.code, e.meaning)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Exit is an error that knows its exit code. Without Err it has been told already.
type Exit struct {
	Code int
	Err  error
}

// Error is the error's own text, empty for one that has been told.
func (e Exit) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e Exit) Unwrap() error { return e.Err }

// Usagef is bad usage or input: nothing was changed.
func Usagef(format string, args ...any) error { return Exit{ExitUsage, fmt.Errorf(format, args...)} }

// BadInput is an error of a file or a flag as bad usage.
func BadInput(err error) error { return Exit{ExitUsage, err} }

// Broken is what did not come out as it must; nil has been told already.
func Broken(err error) error { return Exit{ExitBroken, err} }

// CannotRun is what this machine, or this build, cannot do.
func CannotRun(err error) error { return Exit{ExitCannotRun, err} }

// Coded reports whether an error, or what it wraps, has an exit code.
func Coded(err error) bool { return errors.As(err, new(Exit)) }

// Code is the exit code of a command's error, and the line to be told of it, empty for none.
func Code(err error) (code int, line string) {
	if err == nil {
		return ExitHeld, ""
	}
	code = ExitUsage
	var e Exit
	if errors.As(err, &e) {
		code, err = e.Code, e
	}
	return code, FirstLine(err.Error())
}

// FirstLine keeps an error to one line, as a terminal full of usage hides it.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
