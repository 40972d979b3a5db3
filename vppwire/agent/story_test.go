package agent_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/vppwire/agent/story"
)

// TestStories plays the files of testdata/stories. Goal: what an agent asks for, in which order, and what it answers
// stay as they were reviewed. Method: each block's lines act one after the other; the output is every effect in its
// order, with runs of dataplane calls drawn together. After each block, what is under way is performed ("settle" does
// so midway).
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		l := story.New(t)
		l.CallsFirst = true
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := l.Play(d.Input)
			if err != nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
			if d.Cmd == "quiet" {
				return ""
			}
			return out
		})
	})
}
