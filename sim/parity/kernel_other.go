//go:build !linux

package parity

import (
	"errors"
	"runtime"
	"syscall"
)

// errNoLinux is why no real VPP runs here.
var errNoLinux = errors.New("real VPPs need Linux and this is " + runtime.GOOS + ": the modelled one runs here")

func ownNamespace() error { return errNoLinux }

func diesWithUs() *syscall.SysProcAttr { return nil }

func ended(int) bool { return false }

func openWire(string) (wire, error) { return wire{}, errNoLinux }

func (w wire) close() {}

func (w wire) send([]byte) error { return errNoLinux }

func (w wire) read() [][]byte { return nil }
