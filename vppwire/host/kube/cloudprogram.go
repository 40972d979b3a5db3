package kube

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// CloudProgram is a Cloud and its CloudRoutes behind a program, such as a script around a cloud's own command line. It is run for each
// request, as
//
//	PROGRAM aliases NODE PROVIDER-ID            prints the alias ranges of the machine's first interface, one a line
//	PROGRAM add-alias NODE PROVIDER-ID CIDR     adds one; one that is there already is none the worse
//	PROGRAM routes CLUSTER                      prints the network's routes, one a line: NAME CIDR NODE, with - for NODE where it
//	                                            leads to no machine, and with blackhole behind it where that is gone
//	PROGRAM add-route NODE PROVIDER-ID CIDR NAME
//	                                            adds one; one that is there already is none the worse
//	PROGRAM delete-route NODE CIDR NAME         deletes one; one that is not there is none the worse
//
// and says by its exit code what became of it: 0 done, 2 refused, so that nothing was done and nothing will be,
// anything else unknown. What it prints to its standard error is told. A request that takes too long ends the program,
// and counts as unknown.
type CloudProgram string

// refusedCode is what a program ends with that has done nothing.
const refusedCode = 2

// Aliases implements Cloud.
func (p CloudProgram) Aliases(ctx context.Context, node, providerID string) ([]string, error) {
	out, err := p.run(ctx, "aliases", node, providerID)
	return strings.Fields(out), err
}

// AddAlias implements Cloud.
func (p CloudProgram) AddAlias(ctx context.Context, node, providerID string, cidr netip.Prefix) error {
	_, err := p.run(ctx, "add-alias", node, providerID, cidr.String())
	return err
}

// noNode stands for a node where there is none.
const noNode = "-"

// Routes implements CloudRoutes.
func (p CloudProgram) Routes(ctx context.Context, cluster string) ([]nodeipam.Route, error) {
	out, err := p.run(ctx, "routes", cluster)
	if err != nil {
		return nil, err
	}
	var list []nodeipam.Route
	for line := range strings.Lines(out) {
		w := strings.Fields(line)
		hole := len(w) == 4 && w[3] == "blackhole"
		switch {
		case len(w) == 0:
			continue
		case len(w) != 3 && !hole:
			return nil, fmt.Errorf("%s routes: line %q is not NAME CIDR NODE, with blackhole behind it or not", p, strings.TrimSpace(line))
		}
		r := nodeipam.Route{Name: w[0], Destination: w[1], Node: w[2], Blackhole: hole}
		if r.Node == noNode {
			r.Node = ""
		}
		list = append(list, r)
	}
	return list, nil
}

// CreateRoute implements CloudRoutes.
func (p CloudProgram) CreateRoute(ctx context.Context, providerID string, r nodeipam.Route) error {
	_, err := p.run(ctx, "add-route", r.Node, providerID, r.Destination, r.Name)
	return err
}

// DeleteRoute implements CloudRoutes.
func (p CloudProgram) DeleteRoute(ctx context.Context, r nodeipam.Route) error {
	_, err := p.run(ctx, "delete-route", cmp.Or(r.Node, noNode), r.Destination, r.Name)
	return err
}

// programGrace is how long a program's children may hold its output after it has been ended.
const programGrace = time.Second

func (p CloudProgram) run(ctx context.Context, args ...string) (string, error) {
	var out, said bytes.Buffer
	c := exec.CommandContext(ctx, string(p), args...)
	c.Stdout, c.Stderr, c.WaitDelay = &out, &said, programGrace
	err := c.Run()
	if err == nil {
		return out.String(), nil
	}
	why := strings.Join(strings.Fields(said.String()), " ")
	if why == "" {
		why = err.Error()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == refusedCode && ctx.Err() == nil {
		return "", fmt.Errorf("%s %s: %w: %s", p, args[0], ErrRefused, why)
	}
	return "", fmt.Errorf("%s %s: %s", p, args[0], why)
}
