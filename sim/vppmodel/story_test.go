package vppmodel_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Goal: the behaviours that clients trip over are written down as stories a reader can follow. Method: each file of
// testdata/stories is one topic and one VPP; every line is one call through govpp's generated client, answered with its
// retval. "text" prints the whole state. Rewrite with go test -rewrite and read the diff.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		s := newScript()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				line = strings.TrimSpace(line)
				if line == "text" {
					out.WriteString(s.vpp.Text())
					continue
				}
				out.WriteString(line + " -> " + s.do(line) + "\n")
			}
			return out.String()
		})
	})
}
