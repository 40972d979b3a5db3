package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
)

// finding is one fact about this machine.
type finding struct {
	// What is the thing looked for, Found what was seen of it, empty for absent.
	What  string `json:"what"`
	Found string `json:"found,omitempty"`
	OK    bool   `json:"ok"`
	// For says what needs it.
	For string `json:"for"`
}

func doctorCommand(c Config) *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can run, and what is missing for the rest",
		Long: `Say what this machine can run. Exit code 0 when at least the simulator can run, which needs nothing; what only real
labs and browser tests need is told beside it.`,
		Example: "  vppdrill doctor --format json",
		Args:    args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("--format", format, "text", "json"); err != nil {
				return err
			}
			return examine(cmd, c, format)
		},
	}
	cmd.Flags().StringVar(&format, "format", format, "what to print: text or json")
	return cmd
}

func examine(cmd *cobra.Command, c Config, format string) error {
	var worlds []finding
	for _, name := range append([]string{"sim"}, labWorlds...) {
		f := finding{What: name, OK: c.Worlds[name] != nil, For: "world " + name}
		if f.OK {
			f.Found = "in this build"
		}
		worlds = append(worlds, f)
	}
	machine := examineMachine()
	if format == "json" {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
			Version string    `json:"version"`
			Worlds  []finding `json:"worlds"`
			Machine []finding `json:"machine"`
		}{c.Version, worlds, machine})
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "vppdrill %s on %s/%s, %d processors\n\nworlds\n", c.Version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	for _, f := range worlds {
		fmt.Fprintf(out, "  %-3s  %-16s  %s\n", yesNo(f.OK), f.What, orWord(f.Found, "not in this build"))
	}
	fmt.Fprintln(out, "\nmachine")
	for _, f := range machine {
		fmt.Fprintf(out, "  %-3s  %-16s  %-34s  for %s\n", yesNo(f.OK), f.What, orWord(f.Found, "not found"), f.For)
	}
	if c.Worlds["sim"] == nil {
		return exit{exitCannotRun, fmt.Errorf("no world of this build can run here")}
	}
	return nil
}

// examineMachine looks and changes nothing.
func examineMachine() []finding {
	root := finding{What: "root", OK: os.Geteuid() == 0, For: "labs: namespaces and interfaces"}
	if root.OK {
		root.Found = "yes"
	}
	return []finding{
		root,
		program("VPP", "labs: real VPP nodes", vppPlaces()...),
		device("/dev/net/tun", "labs: tap interfaces"),
		device("/dev/vhost-net", "labs: tap v2 with vhost"),
		device("/proc/self/ns/net", "labs: network namespaces"),
		program("ip", "labs: a look at what they made", "ip", "/sbin/ip", "/usr/sbin/ip"),
		device("/var/run/docker.sock", "labs in containers and kind"),
		program("kind", "labs in kind", "kind"),
		program("Chromium", "tests of the HTML report", "chromium", "chromium-browser", "google-chrome"),
		program("golangci-lint", "make check: the lint part", "golangci-lint"),
	}
}

// vppPlaces is where a VPP is looked for, in order: VPPDRILL_VPP, PATH, the usual folders.
func vppPlaces() []string {
	places := []string{"vpp", "/usr/bin/vpp"}
	if set := os.Getenv("VPPDRILL_VPP"); set != "" {
		places = append([]string{set}, places...)
	}
	more, err := filepath.Glob("/opt/*/bin/vpp")
	if err != nil { // only a bad pattern errs, and this one is a constant
		panic(err)
	}
	return append(places, more...)
}

func program(what, purpose string, names ...string) finding {
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			return finding{What: what, Found: path, OK: true, For: purpose}
		}
	}
	return finding{What: what, For: purpose}
}

func device(path, purpose string) finding {
	f := finding{What: path, For: purpose}
	if _, err := os.Stat(path); err == nil {
		f.OK, f.Found = true, "there"
	}
	f.What = strings.TrimPrefix(f.What, "/var/run/")
	return f
}

func yesNo(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}

func orWord(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
