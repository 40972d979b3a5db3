package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vppdrill/vppdrill/ipam/noun"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// watchPause is between looks at the watched files.
const watchPause = 300 * time.Millisecond

// watched does something now and again whenever one of the files changes, until ctx ends. What a half-written file breaks is said, and the
// next change is waited for.
func watched(ctx context.Context, errOut io.Writer, files []string, do func() error) error {
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return cli.Usagef("run: --watch: %s is no file that could change", name)
		}
	}
	for {
		before := stamps(files)
		if err := do(); err != nil && ctx.Err() == nil {
			if _, line := cli.Code(err); line != "" {
				fmt.Fprintln(cli.Plain(errOut), "vppdrill: "+line)
			}
		}
		fmt.Fprintf(errOut, "vppdrill: waiting for a change of %s; an interrupt ends it\n", noun.Count(len(files), "file"))
		for stamps(files) == before {
			select {
			case <-ctx.Done():
				return errors.New("interrupted")
			case <-time.After(watchPause):
			}
		}
	}
}

// stamps tell apart what files are now from what they were.
func stamps(files []string) (all string) {
	for _, name := range files {
		if info, err := os.Stat(name); err == nil { // an editor may have it away for a moment
			all += fmt.Sprintln(name, info.Size(), info.ModTime().UnixNano())
		} else {
			all += name + "\n"
		}
	}
	return all
}
