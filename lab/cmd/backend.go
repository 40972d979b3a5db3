//go:build linux

package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/container"
	"github.com/vppdrill/vppdrill/lab/netns"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// backends are the ways of making a lab's machines, the usual one first. Each is a world of `vppdrill run` too.
func backends() []lab.Backend { return []lab.Backend{netns.Backend{}, container.Backend{}} }

// backendNamed is the backend of that world; nil where there is none.
func backendNamed(world string) lab.Backend {
	for _, b := range backends() {
		if b.Name() == world {
			return b
		}
	}
	return nil
}

// worlds are the backends' names, for people.
func worlds() string {
	var names []string
	for _, b := range backends() {
		names = append(names, b.Name())
	}
	return strings.Join(names, ", ")
}

// backendOf is how a lab's machines are made. One whose entry cannot be read is taken for the usual one's: what another
// has made of it is a stray then, which the next census finds.
func backendOf(h lab.StateDir) (lab.Backend, error) {
	if h.Backend == "" {
		return backends()[0], nil
	}
	if b := backendNamed(h.Backend); b != nil {
		return b, nil
	}
	return nil, cli.Broken(fmt.Errorf("lab %s was made by another version: world %q is none of %s", h.ID, h.Backend, worlds()))
}

// census removes what killed labs have left, whatever made them, and says so. A backend that cannot run here has left
// nothing but what it is told to have: that is said and left alone.
func (c *common) census(ctx context.Context, say io.Writer) error {
	if err := backends()[0].Check(ctx); err != nil {
		return err
	}
	for _, b := range backends() {
		gone, err := lab.Census(c.root, b)
		switch {
		case lab.IsCannotRun(err):
			fmt.Fprintf(say, "what killed labs of world %s have left stays: %s\n", b.Name(), cli.FirstLine(err.Error()))
		case err != nil:
			return cli.Broken(fmt.Errorf("remove what earlier labs left: %w", err))
		}
		if len(gone) > 0 {
			fmt.Fprintf(say, "removed what killed labs had left: %s\n", strings.Join(gone, " "))
		}
	}
	return kindCensus(ctx, c, say)
}
