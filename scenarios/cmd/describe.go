package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// describeCommand is `vppdrill describe`: what files may say, made from the code that reads them.
func describeCommand(c Config) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "describe",
		Short: "Print what files may say: actions, laws, faults, settings, an agent's settings, the schemas",
		Long: `Print what scenario files and agents' configuration may say, with an example each. All of it is made from the code
that reads the files.`,
		Example: `  vppdrill describe actions restart-vpp
  vppdrill describe laws reachable
  vppdrill describe schema > scenario.schema.json`,
		Args: cli.NoCommand,
		RunE: help,
	}
	cmd.AddCommand(
		entriesCommand(c, "actions", "List the actions of a timeline, with arguments and examples", "restart-vpp", actionsOf),
		entriesCommand(c, "laws", "List the laws: the rule of each, what happens where it is broken, the evidence that it needs", "one-owner", lawsOf),
		entriesCommand(c, "faults", "List the faults, random and injected, with examples", "dropReply", faultsOf),
		entriesCommand(c, "settings", "List the fields of a scenario file, with defaults and examples", "config.ipam", settingsOf),
		entriesCommand(c, "agent", "List the keys of an agent's configuration file", "IPAMConfig", agentOf),
		schemaCommand(c))
	return cmd
}

func schemaCommand(c Config) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema [scenario|agent]",
		Short: "Print the JSON schema of scenario files, or of an agent's configuration file, for editors",
		Example: `  vppdrill describe schema > scenario.schema.json
  vppdrill describe schema agent > agent.schema.json`,
		Args:      cli.Args(0, 1, "at most one kind of file"),
		ValidArgs: []string{"scenario", "agent"},
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		var text []byte
		switch {
		case len(args) == 0 || args[0] == "scenario":
			text = scenarios.Schema(lawsOf(c)...)
		case args[0] == "agent" && c.AgentSchema.Text != nil:
			text = c.AgentSchema.Text()
		default:
			return cli.Usagef("describe schema: there is no schema of %q%s", args[0], cli.Hint(args[0], cmd.ValidArgs))
		}
		_, err := cmd.OutOrStdout().Write(text)
		return err
	}
	return cmd
}

func entriesCommand(c Config, name, short, example string, of func(Config) []scenarios.Entry) *cobra.Command {
	var format cli.Format
	cmd := &cobra.Command{
		Use:   name + " [NAME…]",
		Short: short,
		Long:  short + ".\n\nNAME is a name or the beginning of several.",
		Example: fmt.Sprintf(`  vppdrill describe %s
  vppdrill describe %s %s`, name, name, example),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := named(name, of(c), args)
			if err != nil {
				return err
			}
			if format == cli.JSON {
				return cli.WriteJSON(cmd.OutOrStdout(), list)
			}
			return tellEntries(cmd.OutOrStdout(), list, len(args) > 0)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			for _, e := range of(c) {
				names = append(names, e.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cli.AddFormat(cmd, &format)
	return cmd
}

// named picks entries by name, by what names begin with, or, where none does, by a word that names have.
func named(what string, list []scenarios.Entry, names []string) ([]scenarios.Entry, error) {
	if len(names) == 0 {
		return list, nil
	}
	var out, more []scenarios.Entry
	var all []string
	for _, e := range list {
		all = append(all, e.Name)
	}
	for _, name := range names {
		before := len(out)
		for _, e := range list {
			if e.Name == name || name != "" && strings.HasPrefix(e.Name, name) {
				out = append(out, e)
			}
		}
		for _, e := range list {
			if len(out) == before && slices.Contains(strings.FieldsFunc(e.Name, func(r rune) bool { return r == '-' || r == '.' }), name) {
				more = append(more, e)
			}
		}
		out, more = append(out, more...), nil
		if len(out) == before {
			return nil, cli.Usagef("describe %s: there is no %q%s", what, name, cli.Hint(name, all))
		}
	}
	return out, nil
}

// tellEntries prints a table, or each entry with all that is known of it.
func tellEntries(w io.Writer, list []scenarios.Entry, whole bool) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, e := range list {
		if !whole {
			extra := ""
			if e.Default != "" {
				extra = " Default: " + e.Default + "."
			}
			fmt.Fprintf(t, "%s\t%s%s\n", e.Name, e.Doc, extra)
			if e.Why != "" {
				fmt.Fprintf(t, "\tElse: %s\n", e.Why)
			}
			if e.Example != "" {
				fmt.Fprintf(t, "\t%s\n", e.Example)
			}
			continue
		}
		fmt.Fprintf(t, "%s\t%s\n", e.Name, e.Doc)
		for _, row := range [...][2]string{{"else", e.Why}, {"values", e.Type}, {"default", e.Default}, {"example", e.Example}} {
			if row[1] != "" {
				fmt.Fprintf(t, "\t%s: %s\n", row[0], row[1])
			}
		}
		for _, a := range e.Arguments {
			text := a.Doc + " (" + a.Type
			if a.Default != "" {
				text += "; default " + a.Default
			}
			fmt.Fprintf(t, "  %s\t%s)\n", a.Name, text)
		}
	}
	return t.Flush()
}

// line is a line of a scenario, with the key of the section that it is in.
type line struct{ text, section string }

// lines are the lines of every scenario of the catalogue as it is written out, shortest first: where examples come from.
func (c Config) lines() []line {
	if c.Catalog == nil {
		return nil
	}
	all, err := c.Catalog()
	if err != nil {
		return nil
	}
	var lines []line
	for _, s := range all {
		s := *s
		s.Workload = scenarios.Workload{}
		var above []string // sections by their depth
		for text := range strings.Lines(string(s.Marshal())) {
			own := strings.TrimSpace(text)
			depth := (len(text) - len(strings.TrimLeft(text, " "))) / 2
			above = append(above[:min(depth, len(above))], strings.TrimSuffix(own, ":"))
			in := ""
			if n := len(above); n > 1 {
				in = above[n-2]
			}
			lines = append(lines, line{own, in})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return len(a.text) - len(b.text) })
	return lines
}

func actionsOf(c Config) []scenarios.Entry {
	list, lines := scenarios.Actions(), c.lines()
	for i := range list {
		e := &list[i]
		e.Example = "- {do: " + e.Name + "}"
		for _, l := range lines {
			if strings.HasPrefix(l.text, "- {") && (strings.Contains(l.text, "do: "+e.Name+",") || strings.Contains(l.text, "do: "+e.Name+"}")) {
				e.Example = l.text
				break
			}
		}
	}
	return list
}

func lawsOf(c Config) (list []scenarios.Entry) {
	for _, l := range c.Laws() {
		when := "at every instant"
		if l.When == fact.Settled {
			when = "whenever the cluster is quiet"
		}
		var needs []string
		for _, n := range l.Needs {
			needs = append(needs, string(n))
		}
		text := "judged " + when
		if needs != nil {
			text += ", by " + strings.Join(needs, ", ")
		}
		if l.Foreign {
			text += "; any CNI agent owes it"
		} else {
			text += "; a contract of this agent's design"
		}
		list = append(list, scenarios.Entry{Name: l.Name, Doc: l.Rule, Why: l.Why, Type: text, Example: "laws: [" + l.Name + "]"})
	}
	return list
}

// agentOf are the keys of an agent's configuration file.
func agentOf(c Config) []scenarios.Entry {
	if c.AgentSettings == nil {
		return nil
	}
	return c.AgentSettings()
}

func faultsOf(c Config) (list []scenarios.Entry) {
	for _, e := range settingsOf(c) {
		if name, ok := strings.CutPrefix(e.Name, "faults."); ok {
			e.Name = name
			list = append(list, e)
		}
	}
	if c.FaultWords != nil {
		list = append(list, c.FaultWords()...)
	}
	return list
}

func settingsOf(c Config) []scenarios.Entry {
	list, lines := scenarios.Settings(), c.lines()
	for i := range list {
		e := &list[i]
		path := strings.Split(e.Name, ".")
		last := path[len(path)-1]
		value := e.Example
		for _, l := range lines {
			if value != "" {
				break
			}
			if v, ok := strings.CutPrefix(l.text, last+": "); ok && len(path) > 1 && fits(*e, v) && (!strings.Contains(v, "{") || l.section == path[len(path)-2]) {
				value = v
				break
			}
		}
		if value == "" {
			value = exampleValue(*e)
		}
		e.Example = last + ": " + value
		for k := len(path) - 2; k >= 0; k-- {
			e.Example = path[k] + ": {" + e.Example + "}"
		}
	}
	return list
}

// fits reports whether a value that some scenario gives a field of the same name shows something of this one.
func fits(e scenarios.Entry, value string) bool {
	list := strings.HasPrefix(e.Type, "list of ")
	return value != "0" && value != e.Default && !strings.Contains(value, "|") && list == strings.HasPrefix(value, "[") &&
		(e.Type != "whole number" || !strings.ContainsAny(value, ".{"))
}

// exampleValue is a value of a kind, for what no scenario of the catalogue sets.
func exampleValue(e scenarios.Entry) string {
	kind, _, _ := strings.Cut(e.Type, ", required")
	first, _, _ := strings.Cut(kind, ", ")
	list := false
	if inner, ok := strings.CutPrefix(first, "list of "); ok {
		first, list = inner, true
	}
	value := map[string]string{"time": "30s", "range": "10.1.0.0/16", "address": "192.168.16.254", "word": "web", "node": "node-1", "pod": "default/web-1",
		"number": "0.5", "whole number": "2", "0 to 1": "0.01", "actions": "{at: 10s, do: restart-vpp, node: any}", "fault": `"(Nth 1 (Kind persist (Refuse)))"`,
		"rows": "…", "all": "all", "true": "true", "sections": "{}"}[first]
	if value == "" {
		value = strings.Split(first, " to ")[0]
	}
	if e.Default != "" && !list {
		value = e.Default
	}
	if list {
		value = "[" + value + "]"
	}
	return value
}
