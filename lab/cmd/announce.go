//go:build linux

package cmd

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/vppdrill/vppdrill/lab"
)

// announced is what a lab makes of this machine, told before it does; from is where its VPPs are from.
func announced(b lab.Backend, from string) string {
	machines := "network namespaces of this machine"
	if _, is := b.(lab.Supplier); is {
		machines = "containers"
	}
	return fmt.Sprintf("nodes and pods become %s, and each node starts a real VPP: %s", machines, from)
}

// toldOnce is which worlds' runs have told what they make: a session of many scenarios tells it once.
var toldOnce sync.Map

// announceRuns tells of a world's runs, the first time. What this machine lacks is told by the run itself.
func announceRuns(ctx context.Context, out io.Writer, b lab.Backend) {
	if _, told := toldOnce.LoadOrStore(b.Name(), true); told {
		return
	}
	if from, err := (upFlags{}).supply(ctx, b); err == nil {
		fmt.Fprintf(out, "vppdrill: world %s: %s; all of it goes when the run ends\n", b.Name(), announced(b, from))
	}
}
