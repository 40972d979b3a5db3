package cmd

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// completeScenarios completes a scenario by its file or by its name in the catalogue.
func (c Config) completeScenarios(_ *cobra.Command, _ []string, begun string) (names []string, _ cobra.ShellCompDirective) {
	if c.Catalog != nil {
		all, err := c.Catalog()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		for _, s := range all {
			if strings.HasPrefix(s.Name, begun) {
				names = append(names, s.Name+"\t"+s.Goal)
			}
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// completeExhibits completes the museum's exhibits.
func (c Config) completeExhibits(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
	if c.Museum.Exhibits != nil {
		for _, e := range c.Museum.Exhibits() {
			names = append(names, e.Name+"\tlaw "+e.Law)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeCapsule completes the one capsule that a command takes.
func completeCapsule(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"capsule"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeWords gives the flags of all commands that mean the same everywhere the words that they take.
func completeWords(cmd *cobra.Command) {
	for flag, words := range map[string][]string{"format": {string(cli.Text), string(cli.JSON)}, "world": labWorlds} { //vppdrill:unordered each by itself
		for _, flags := range [...]*pflag.FlagSet{cmd.LocalNonPersistentFlags(), cmd.PersistentFlags()} {
			if flags.Lookup(flag) != nil {
				if _, known := cmd.GetFlagCompletionFunc(flag); !known {
					complete(cmd, flag, words...)
				}
			}
		}
	}
	for _, sub := range cmd.Commands() {
		completeWords(sub)
	}
}

// complete completes a flag's words.
func complete(cmd *cobra.Command, flag string, words ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("cmd: " + err.Error()) // the flag does not exist: a broken caller
	}
}
