package cmd

import (
	"strings"

	"github.com/spf13/cobra"
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

// complete completes a flag's words.
func complete(cmd *cobra.Command, flag string, words ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("cmd: " + err.Error()) // the flag does not exist: a broken caller
	}
}
