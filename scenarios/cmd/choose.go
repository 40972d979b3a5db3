package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/agentconfig"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/vppwire/inputfile"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// choose reads the scenarios that run is asked for: files, names of the catalogue, patterns of such names, and of all of
// them those with one of the labels. Labels alone choose from the catalogue.
func (c Config) choose(ctx context.Context, f runFlags, args []string) ([]*scenarios.Scenario, error) {
	words, err := c.matching(args)
	if err != nil {
		return nil, err
	}
	list, err := c.load(ctx, f.catalog || len(args) == 0, words)
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
		all, err := c.catalog()
		if err != nil {
			return nil, err
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

// load reads scenario files, or finds them in the catalogue: all of them, or those whose name is no file. The catalogue is read
// where one is no file: it takes longer than all else before a run.
func (c Config) load(ctx context.Context, catalog bool, files []string) ([]*scenarios.Scenario, error) {
	if catalog {
		all, err := c.catalog()
		if err == nil && len(all) == 0 {
			err = cli.CannotRun(errors.New("this build has no catalogue"))
		}
		return all, err
	}
	known := sync.OnceValues(func() ([]*scenarios.Scenario, error) {
		all, err := c.catalog()
		if c.Explorer.Lives != nil {
			all = append(all, c.Explorer.Lives()...)
		}
		return all, err
	})
	var list []*scenarios.Scenario
	for _, name := range files {
		s, err := cli.Promptly(ctx, func() (*scenarios.Scenario, error) { // a pipe may have nothing to say for ever
			return scenarios.Recover(name, func() (*scenarios.Scenario, error) { return scenarios.Load(name) })
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) {
			all, broken := known()
			if broken != nil {
				return nil, broken
			}
			s, err = fromCatalog(all, name)
		}
		if err != nil {
			return nil, cli.BadInput(notScenario(name, err))
		}
		if _, err := result.SelectLaws(s, c.Laws()); err != nil {
			return nil, cli.BadInput(err)
		}
		if err := c.Museum.checkPlanted(s); err != nil {
			return nil, cli.BadInput(err)
		}
		list = append(list, s)
	}
	return list, nil
}

// catalog is the whole catalogue, empty in a program without one.
func (c Config) catalog() ([]*scenarios.Scenario, error) {
	if c.Catalog == nil {
		return nil, nil
	}
	all, err := c.Catalog()
	if err != nil {
		return nil, cli.BadInput(err)
	}
	return all, nil
}

func fromCatalog(all []*scenarios.Scenario, name string) (*scenarios.Scenario, error) {
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	hint := ""
	if near := strictyaml.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return nil, fmt.Errorf("%s: no such file, and no scenario of the catalogue is called so%s", name, hint)
}

// notScenario says of a file that reads as an agent's configuration what it is: its keys are no scenario's, and the
// nearest ones would only mislead. Other errors stay as they are.
func notScenario(file string, err error) error {
	yaml, unread := inputfile.Read(file)
	if unread == nil && agentconfig.IsFile(yaml) {
		return fmt.Errorf("%s: this is an agent's configuration, which vppdrill agent --config takes; a scenario opens with its name and topology, see vppdrill init", file)
	}
	return err
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
