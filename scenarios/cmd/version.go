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
		Short:   "Print version and commit; capsules replay only with their version",
		Example: "  vppdrill version --format json",
		Args:    cli.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := struct {
				Version string `json:"version"`
				source
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{c.Version, builtFrom(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			if format == cli.JSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "vppdrill %s (%s, %s)\n%s", v.Version, v.Go, v.Platform, v.source)
			return err
		},
	}
	cli.AddFormat(cmd, &format)
	return cmd
}

// What a build from sources without their repository says about itself, by the linker's -X: otherwise the Go toolchain
// records it.
var release, commit, date string

// source is what a program was built from; what is not known is "".
type source struct {
	// Commit is git's, Date the commit's, as RFC 3339 has it.
	Commit string `json:"commit,omitempty"`
	Date   string `json:"date,omitempty"`
	// Changed: files differed from the commit's.
	Changed bool `json:"changed,omitempty"`
}

func builtFrom() source {
	s := source{Commit: commit, Date: date}
	info, ok := debug.ReadBuildInfo()
	if !ok || commit != "" {
		return s
	}
	for _, x := range info.Settings {
		switch x.Key {
		case "vcs.revision":
			s.Commit = x.Value
		case "vcs.time":
			s.Date = x.Value
		case "vcs.modified":
			s.Changed = x.Value == "true"
		}
	}
	return s
}

// String is a line about the commit; "" where none is known.
func (s source) String() string {
	if s.Commit == "" {
		return ""
	}
	text := "commit " + s.Commit
	if s.Date != "" {
		text += " of " + s.Date
	}
	if s.Changed {
		text += ", with changes"
	}
	return text + "\n"
}

// Version is the version that the linker was given, or that the Go toolchain recorded in this program: a release, or the
// revision that it was built from. Where the sources are not known by that (they were changed, or there is no revision), the build's own ID follows,
// so that two builds of different sources never have one version.
func Version() string { return version() }

var version = sync.OnceValue(func() string {
	if release != "" {
		return release
	}
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
