// Command unrun names the scenarios of the catalogue whose present text has not passed on a real VPP, nor was refused
// by labs.
//
// It decides nothing itself: what is open is package lab/suite/ran's. It changes nothing and never fails for what is
// open, since not every machine has a VPP; it exits with 2 when it could not look. Start at list. Run it in the
// repository's root.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/vppdrill/vppdrill/lab/suite/ran"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
)

func main() {
	if err := list(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "unrun:", err)
		os.Exit(2)
	}
}

// list writes one line that counts them, and one that names them.
func list(out io.Writer) error {
	text, err := os.ReadFile(ran.File)
	if err != nil {
		return err
	}
	table, err := ran.Parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", ran.File, err)
	}
	all, err := catalog.All()
	if err != nil {
		return err
	}
	open := table.Open(all)
	if len(open) == 0 {
		_, err = fmt.Fprintf(out, "all %d scenarios have passed on a real VPP as they are now, or labs refuse them\n", len(all))
		return err
	}
	_, err = fmt.Fprintf(out, "warning: %d of %d scenarios have not passed on a real VPP as they are now; go test ./lab/suite -whole -record runs them:\n%s\n",
		len(open), len(all), strings.Join(open, ", "))
	return err
}
