package cmd

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/ipam/plan"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// execute runs one command line and returns what it prints, its error and its exit code.
func execute(args ...string) string {
	ipam := &cobra.Command{Use: "vppdrill", SilenceErrors: true, SilenceUsage: true}
	ipam.AddCommand(Commands()...)
	ipam.SetFlagErrorFunc(cli.FlagError)
	var out bytes.Buffer
	ipam.SetArgs(append([]string{"ipam"}, args...))
	ipam.SetOut(&out)
	ipam.SetErr(&out)
	err := ipam.Execute()
	code, _ := cli.Code(err)
	if err != nil && err.Error() != "" {
		fmt.Fprintf(&out, "error: %s\n", err)
	}
	if code != 0 {
		fmt.Fprintf(&out, "exit %d\n", code)
	}
	return out.String()
}

// Goal: what a person who plans an address range reads: the figures, the findings with what to do, and each mistake in
// one line. Method: story goldens; "plan FLAGS" has the file below it, "explain FLAGS" too when it begins with FILE.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			dir := t.TempDir()
			t.Chdir(dir)
			args := []string{d.Cmd}
			for _, a := range d.CmdArgs {
				if len(a.Vals) == 0 {
					args = append(args, a.Key)
					continue
				}
				args = append(args, a.Key+"="+strings.Join(a.Vals, ","))
			}
			if d.Input != "" {
				if err := os.WriteFile("file.yaml", []byte(d.Input+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "file.yaml")
			}
			return execute(args...)
		})
	})
}

// Goal: every rule of the lint is seen at work in a story. Method: the goldens are searched.
func TestEveryRuleHasAStory(t *testing.T) {
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		t.Skip("goldens are being written")
	}
	files, err := filepath.Glob("testdata/stories/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, r := range plan.Rules() {
		if !strings.Contains(all.String(), "  error "+r.Name+": ") && !strings.Contains(all.String(), "  warning "+r.Name+": ") {
			t.Errorf("no story has a finding of rule %s", r.Name)
		}
	}
}
