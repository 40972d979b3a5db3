package cmd

import (
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// choose reads the scenarios that run is asked for: files, names of the catalogue, patterns of such names, and of all of
// them those with one of the labels. Labels alone choose from the catalogue.
func (c Config) choose(f runFlags, args []string) ([]*scenarios.Scenario, error) {
	words, err := c.matching(args)
	if err != nil {
		return nil, err
	}
	list, err := c.load(f.catalog || len(args) == 0, words)
	if err != nil || len(f.labels) == 0 {
		return list, err
	}
	var chosen []*scenarios.Scenario
	var known []string
	for _, s := range list {
		known = append(known, s.Labels...)
		if slices.ContainsFunc(s.Labels, func(l string) bool { return slices.Contains(f.labels, l) }) {
			chosen = append(chosen, s)
		}
	}
	for _, l := range f.labels {
		if !slices.Contains(known, l) {
			return nil, cli.Usagef("run: --label %s: no scenario has it%s", l, cli.Hint(l, known))
		}
	}
	return chosen, nil
}

// matching replaces patterns by the names of the catalogue that they match, each once.
func (c Config) matching(args []string) (words []string, err error) {
	for _, arg := range args {
		if _, missing := os.Stat(arg); missing == nil || !strings.ContainsAny(arg, "*?[") {
			words = append(words, arg)
			continue
		}
		if _, err := path.Match(arg, ""); err != nil {
			return nil, cli.Usagef("run: %s: a pattern whose [ is not closed", arg)
		}
		var all []*scenarios.Scenario
		if c.Catalog != nil {
			if all, err = c.Catalog(); err != nil {
				return nil, cli.BadInput(err)
			}
		}
		before := len(words)
		for _, s := range all {
			if ok, _ := path.Match(arg, s.Name); ok && !slices.Contains(words, s.Name) {
				words = append(words, s.Name)
			}
		}
		if len(words) == before {
			return nil, cli.BadInput(fmt.Errorf("%s: no such file, and no scenario of the catalogue matches it", arg))
		}
	}
	return words, nil
}

// tellScenarios lists scenarios with what they are for.
func tellScenarios(w io.Writer, list []*scenarios.Scenario) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, s := range list {
		goal, _, _ := strings.Cut(s.Goal, ". ")
		_, err := fmt.Fprintf(t, "%s\t%s\t%s\n", s.Name, strings.Join(s.Labels, ","), strings.ReplaceAll(goal, "\n", " "))
		if err != nil {
			return err
		}
	}
	return t.Flush()
}
