package netns

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Backend implements lab.Backend with network namespaces.
type Backend struct{}

// Name implements lab.Backend.
func (Backend) Name() string { return "netns" }

// Check implements lab.Backend.
func (b Backend) Check(context.Context) error { return fabric.Check(b.Name(), mark) }

// Sweep implements lab.Backend: processes first, then namespaces, whose links go with them.
func (Backend) Sweep(id, dir string) error {
	var errs []error
	for _, p := range recorded(dir) {
		errs = append(errs, p.Kill())
	}
	for _, p := range spawn.Marked(id) {
		errs = append(errs, p.Kill())
	}
	names, err := fabric.Named(prefix(id))
	errs = append(errs, err)
	for _, n := range names {
		errs = append(errs, fabric.Remove(n))
	}
	return errors.Join(errs...)
}

// Strays implements lab.Backend.
func (Backend) Strays() ([]string, error) {
	names, err := fabric.Named(mark)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range names {
		id, _, ok := strings.Cut(strings.TrimPrefix(n, mark), "-")
		if ok && id != "check" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}
