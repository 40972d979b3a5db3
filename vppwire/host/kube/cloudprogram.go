package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"time"
)

// CloudProgram is a Cloud behind a program, such as a script around a cloud's own command line. It is run for each
// request, as
//
//	PROGRAM aliases NODE PROVIDER-ID            prints the alias ranges of the machine's first interface, one a line
//	PROGRAM add-alias NODE PROVIDER-ID CIDR     adds one; one that is there already is none the worse
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
