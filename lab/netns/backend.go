package netns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/spawn"
)

// Backend implements lab.Backend with network namespaces.
type Backend struct{}

// Name implements lab.Backend.
func (Backend) Name() string { return "netns" }

// Check implements lab.Backend.
func (Backend) Check(context.Context) error {
	if os.Geteuid() != 0 {
		return cannot("world netns needs root: namespaces and interfaces")
	}
	name := fmt.Sprintf("vd-check-%d-%d", os.Getpid(), checks.Add(1)) // several labs may be checked at the same time
	err := create(name)
	if err == nil {
		err = remove(name)
	}
	switch {
	case errors.Is(err, unix.EPERM):
		return cannot("world netns needs the capability SYS_ADMIN: network namespaces are refused")
	case err != nil:
		return cannot("world netns cannot make network namespaces: %s", err)
	}
	return nil
}

// checks numbers this process's trial namespaces.
var checks atomic.Int64

// cannot is an ErrCannotRun of one line.
func cannot(format string, args ...any) error { return unable{fmt.Sprintf(format, args...)} }

type unable struct{ text string }

func (u unable) Error() string        { return u.text }
func (u unable) Is(target error) bool { return target == lab.ErrCannotRun }

// Open implements lab.Backend.
func (Backend) Open(_ context.Context, site lab.Site) (lab.Ground, error) { return newGround(site) }

// Sweep implements lab.Backend: processes first, then namespaces, whose links go with them.
func (Backend) Sweep(id, dir string) error {
	var errs []error
	for _, p := range recorded(dir) {
		errs = append(errs, p.Kill())
	}
	for _, p := range spawn.Marked(id) {
		errs = append(errs, p.Kill())
	}
	names, err := named(prefix(id))
	errs = append(errs, err)
	for _, n := range names {
		errs = append(errs, remove(n))
	}
	return errors.Join(errs...)
}

// Strays implements lab.Backend.
func (Backend) Strays() ([]string, error) {
	names, err := named("vd-")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range names {
		id, _, ok := strings.Cut(strings.TrimPrefix(n, "vd-"), "-")
		if ok && id != "check" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}
