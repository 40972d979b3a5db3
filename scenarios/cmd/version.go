package cmd

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

func versionCommand(c Config) *cobra.Command {
	var format cli.Format
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version; capsules replay only with theirs",
		Example: "  vppdrill version --format json",
		Args:    cli.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := struct {
				Version  string `json:"version"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{c.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			if format == cli.JSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "vppdrill %s (%s, %s)\n", v.Version, v.Go, v.Platform)
			return err
		},
	}
	cli.AddFormat(cmd, &format)
	return cmd
}

// Version is the version that the Go toolchain recorded in this program: a release, or the revision that it was built
// from. Where the sources are not known by that (they were changed, or there is no revision), the build's own ID follows,
// so that two builds of different sources never have one version.
func Version() string { return version() }

var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel" + buildID()
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		if strings.HasSuffix(v, "+dirty") {
			v += buildID()
		}
		return v
	}
	revision, known := "", true
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = "-" + s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			known = false
		}
	}
	switch {
	case revision == "":
		return "devel" + buildID()
	case !known:
		return "devel" + revision + "-dirty" + buildID()
	}
	return "devel" + revision
})

// buildID is "-" and what distinguishes this build from those of other sources: a hash of the ID that Go's linker puts into
// an ELF file, else of the whole file. It is "" where the program's file cannot be read.
func buildID() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	h := sha256.New()
	if f, err := elf.Open(name); err == nil {
		defer func() { _ = f.Close() }() // it was only read
		if id := f.Section(".note.go.buildid"); id != nil {
			if data, err := id.Data(); err == nil {
				_, _ = h.Write(data) // a hash takes everything
				return fmt.Sprintf("-%x", h.Sum(nil)[:4])
			}
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return fmt.Sprintf("-%x", h.Sum(nil)[:4])
}
