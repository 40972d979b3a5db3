package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Goal: each fault that no law saw is filed once, and none when the issues that there are cannot be listed. Method: the
// nightly job's script with a gh that writes down what it is asked for.
func TestFileSurvivors(t *testing.T) {
	folder, tools := t.TempDir(), t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(folder, "survivor-1.md"), "No law sees a\n\nbody of a\n")
	put(filepath.Join(folder, "survivor-2.md"), "No law sees a*\n\nbody of a*\n\nmore\n")
	const gh = `#!/bin/sh
case "$1 $2" in
"label create") ;;
"issue list") [ -z "$BROKEN" ] || exit 1; echo "No law sees a"; echo other ;;
"issue create") { echo "$4 $6"; cat; } >> "$CALLS" ;;
esac
`
	put(filepath.Join(tools, "gh"), gh)
	calls := filepath.Join(tools, "calls")
	for _, tc := range []struct{ broken, want string }{{"", "No law sees a* survivor\nbody of a*\n\nmore\n"}, {"yes", ""}} {
		put(calls, "")
		cmd := exec.Command("../../../.ci/file-survivors", folder)
		cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "CALLS="+calls, "BROKEN="+tc.broken)
		out, err := cmd.CombinedOutput()
		if (err != nil) != (tc.broken != "") {
			t.Errorf("broken %q: %v\n%s", tc.broken, err, out)
		}
		if got, err := os.ReadFile(calls); err != nil || string(got) != tc.want {
			t.Errorf("broken %q: filed %q, %v", tc.broken, got, err)
		}
	}
}
