package cmd

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// manCommand is for packages, which keep the pages compressed where man finds them.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write a manual page for each command",
		Example: "  vppdrill man /usr/local/share/man/man1",
		Hidden:  true,
		Args:    cli.Args(1, 1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return cli.BadInput(err)
			}
			// A page's date is its commit's, so that the same sources give the same package.
			head := &doc.GenManHeader{Section: "1", Source: "vppdrill " + Version(), Manual: "vppdrill"}
			if at, err := time.Parse(time.RFC3339, builtFrom().Date); err == nil {
				head.Date = &at
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, head, args[0])
		},
	}
}
