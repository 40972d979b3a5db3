//go:build linux

package cmd

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// Goal: a bad order of an image is one line and exit code 2, and makes nothing. Method: a table.
func TestBadImageUsage(t *testing.T) {
	if err := labCommandNeeds(); err != nil {
		t.Skip(err.Error())
	}
	for args, want := range map[string]string{
		"":                                  "either --from-host or --vpp-image",
		"--from-host --vpp-image a:1":       "either --from-host or --vpp-image",
		"--vpp-image a:1 --vpp /usr/bin/x":  "--vpp goes with --from-host",
		"--vpp-image UPPER":                 `"UPPER" is no name of an image`,
		"--from-host --tag a:b:c":           `"a:b:c" is no name of an image`,
		"--from-host --format xml":          `--format "xml" is none of text, json`,
		"--from-host here":                  "no arguments",
		"--from-host --tag vppdrill/vpp@25": `is no name of an image`,
	} {
		words := append([]string{"lab", "--labs", t.TempDir(), "image"}, strings.Fields(args)...)
		out, code, err := call(t, words...)
		if code != cli.ExitUsage || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: code %d, %v, want %q\n%s", args, code, err, want, out)
		}
	}
}
