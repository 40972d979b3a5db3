//go:build linux

package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/container"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// call runs one command line and returns what it printed and its exit code.
func call(t *testing.T, args ...string) (out string, code int, err error) {
	t.Helper()
	root := &cobra.Command{Use: "vppdrill", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(Commands(Build{Version: "test"})...)
	var b bytes.Buffer
	root.SetOut(&b)
	root.SetErr(&b)
	root.SetArgs(args)
	err = root.ExecuteContext(context.Background())
	code, _ = cli.Code(err)
	return b.String(), code, err
}

// Goal: the doctor finds something to say of everything it looks for, names the command that mends each thing that is
// missing, and says the same as JSON. Method: this machine, whatever it has.
func TestDoctor(t *testing.T) {
	t.Setenv(vppproc.Environment, "/nosuch/vpp")
	out, code, err := call(t, "doctor")
	if err != nil || code != 0 {
		t.Fatalf("%d %v", code, err)
	}
	for _, word := range []string{"yes  sim ", "no   netns ", "netns --in-vm", "VPP", "netem", "Docker", "kind", "/dev/vhost-net", "hugepages", "/dev/net/tun"} {
		if !strings.Contains(out, word) {
			t.Errorf("%q is not in\n%s", word, out)
		}
	}
	out, _, err = call(t, "doctor", "--format", "json")
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Worlds, Machine []Finding }
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Worlds) != 5 || !answer.Worlds[0].OK || answer.Worlds[1].OK {
		t.Errorf("%+v", answer.Worlds)
	}
	for _, w := range answer.Worlds {
		if !w.OK && (w.Found == "" || w.Fix == "") {
			t.Errorf("world %s cannot run here, because of %q, and nothing fixes it", w.What, w.Found)
		}
	}
	for _, f := range answer.Machine {
		if !f.OK && f.Fix == "" {
			t.Errorf("nothing fixes %s", f.What)
		}
	}
}

// Goal: bad usage is one line and exit code 2, and makes nothing. Method: a table.
func TestBadUsage(t *testing.T) {
	if err := labCommandNeeds(); err != nil {
		t.Skip(err.Error())
	}
	root := t.TempDir() + "/labs"
	for args, want := range map[string]string{
		"lab up a b":                             "at most one file",
		"lab up --nodes 0":                       "less than 1",
		"lab up --nodes 2 nothing.yaml":          "--nodes and --pods are for labs without one",
		"lab up nothing.yaml":                    "nothing.yaml",
		"lab up --world kind file.yaml":          "world kind takes no file",
		"lab up --world kind --pods 3":           "pods are yours to make",
		"lab up --world kind --nodes 0":          "a kind cluster has 1 to",
		"lab up --world kind --lab Big":          "one to eight lower case",
		"lab up --world kind --vpp /bin/vpp":     "--vpp goes with --vpp-from-host",
		"lab up --world kind --node-image A:b:c": "lab up:",
		"lab up --node-image x":                  "are for world kind",
		"lab up --ip-family ipv6":                "are for world kind",
		"lab up --world kind --ip-family ipv":    `--ip-family "ipv" is none of ipv4, ipv6, dual; did you mean "ipv4"?`,
		"lab up --format xml":                    `--format "xml" is none of text, json`,
		"lab exec node-1":                        "wants NODE[/POD]",
		"lab exec node-1 -- true":                "there is no lab",
		"lab status --lab nope":                  "there is no lab nope",
		"lab graph --as png":                     `"png" is none of mermaid, dot, svg`,
		"lab capture node-1":                     "a node and an interface",
		"lab do":                                 "wants an action",
		"lab upp":                                `unknown command "upp"`,
		"doctor --format xml":                    `--format "xml" is none of text, json`,
		"lab down nope":                          "there is no lab nope",

		"lab up --world contaner":                                       "none of netns, container, kind; did you mean container?",
		"lab up --world kint":                                           `--world "kint" is none of netns, container, kind; did you mean kind?`,
		"lab up --world container --vpp /usr/bin/vpp":                   "--vpp is a binary of this machine",
		"lab up --vpp-image a:1":                                        "--vpp-image is for world container",
		"lab up --world container --vpp-image UPPER":                    `"UPPER" is no name of an image`,
		"lab up --world netns --vpp-image vppdrill/vpp:25.10":           "--vpp-image is for world container",
		"lab up --world netns --dry-run testdata/host-nic.yaml":         `topology.nic "host-eth1": an agent takes an interface of that name`,
		"lab up --world container testdata/host-nic.yaml --format text": `topology.nic "host-eth1"`,
	} {
		words := strings.Fields(args)
		if words[0] == "lab" {
			words = append([]string{"lab", "--labs", root}, words[1:]...) // away from the machine's own labs
		}
		out, code, err := call(t, words...)
		if code != cli.ExitUsage || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: code %d, %v, want %q\n%s", args, code, err, want, out)
		}
	}
	if dirs, err := lab.StateDirs(root); err != nil || len(dirs) > 0 {
		t.Errorf("labs were made: %v, %v", dirs, err)
	}
}

// labCommandNeeds says what labs lack here.
func labCommandNeeds() error {
	return backends()[0].Check(context.Background())
}

// Goal: a machine that cannot make a lab is told in one line with exit code 3, and nothing is made. Method: a VPP and
// an image that are not there.
func TestCannotRun(t *testing.T) {
	if err := labCommandNeeds(); err != nil {
		t.Skip(err.Error())
	}
	t.Setenv(vppproc.Environment, "/nowhere/vpp")
	t.Setenv(container.Environment, "vppdrill/nothing:1")
	root := t.TempDir() + "/labs"
	for args, want := range map[string]string{
		"":                            "VPPDRILL_VPP=/nowhere/vpp: no such program",
		"--dry-run":                   "VPPDRILL_VPP=/nowhere/vpp: no such program",
		"--vpp /nowhere/else":         "--vpp=/nowhere/else: no such program",
		"--world container":           "", // no engine, or no such image
		"--world container --dry-run": "",
	} {
		out, code, err := call(t, append([]string{"lab", "--labs", root, "up"}, strings.Fields(args)...)...)
		if code != cli.ExitCannotRun || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: code %d, %v, want %q\n%s", args, code, err, want, out)
		}
	}
	if dirs, err := lab.StateDirs(root); err != nil || len(dirs) > 0 {
		t.Errorf("labs were made: %v, %v", dirs, err)
	}
}

// Goal: a lab whose entry names a world that this version does not know is told, and left alone.
func TestUnknownWorld(t *testing.T) {
	if _, err := backendOf(lab.StateDir{ID: "x", Backend: "kind"}); err == nil || !strings.Contains(err.Error(), `world "kind" is none of netns, container`) {
		t.Errorf("%v", err)
	}
	for _, b := range append(backends(), nil) {
		h, want := lab.StateDir{ID: "x"}, backends()[0].Name() // an entry that cannot be read
		if b != nil {
			h.Backend, want = b.Name(), b.Name()
		}
		if got, err := backendOf(h); err != nil || got.Name() != want {
			t.Errorf("%+v: %v, %v", h, got, err)
		}
	}
}
