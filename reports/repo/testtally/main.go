// Command testtally reads `go test -json` from standard input and says what a person wants to know of it.
//
// One line comes out for each package, the whole output of each failed test, every skipped test with its reason, and a
// last line that counts, before which each failed test is named once more. It never runs a test and never hides a line that it cannot read. Start at tally.
// Tests count by name, subtests included; a parent that fails only because of its subtest counts too. It exits with 1
// when anything failed and with 2 when no test ran at all. To show another kind of event, see tally.take.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Stdin, os.Stdout))
}

// run copies in to out in readable form and returns the exit code.
func run(in io.Reader, out io.Writer) int {
	t := newTally(out)
	if err := t.read(in); err != nil {
		fmt.Fprintln(out, "testtally:", err)
		return 2
	}
	return t.finish()
}
