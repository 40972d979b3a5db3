//go:build !linux

package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// NeedsLinux refuses what this build leaves out: what is a plural, "netns labs".
func NeedsLinux(what string) error {
	return CannotRun(fmt.Errorf("%s need Linux, and this is vppdrill for %s/%s", what, runtime.GOOS, runtime.GOARCH))
}

// LinuxCommand stands for a command of Linux: it is in no list, and whoever knows it reads why it is not here.
func LinuxCommand(name, what string) *cobra.Command {
	return &cobra.Command{Use: name, Short: what + " (Linux)", Hidden: true, DisableFlagParsing: true, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return CannotRun(fmt.Errorf("%s: %s needs Linux, and this is vppdrill for %s/%s", cmd.CommandPath(), what, runtime.GOOS, runtime.GOARCH))
		}}
}
