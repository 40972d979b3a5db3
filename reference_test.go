package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd"
)

// entriesOf is what `vppdrill describe WHAT` lists.
func entriesOf(t *testing.T, what string) (list []scenarios.Entry) {
	t.Helper()
	var out bytes.Buffer
	if code := cmd.Execute(t.Context(), config(), []string{"describe", what, "--format", "json"}, &out, &out); code != 0 {
		t.Fatalf("%s: code %d: %s", what, code, out.String())
	}
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// cell is a text in a table of Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(text)
}

// span is a text as code in a table, or nothing.
func span(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

// referencePages are the pages below docs/reference: what files may say, and the figures of metrics.prom and of /metrics.
func referencePages(t *testing.T) map[string]string {
	pages := map[string]string{}
	write := func(name, title, about string, body func(b *strings.Builder)) {
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\n%s\nThis page is made from the code (`make golden`).\n\n", title, about)
		body(&b)
		pages["docs/reference/"+name+".md"] = b.String()
	}
	actions := entriesOf(t, "actions")
	write("actions", "Actions of a timeline", fmt.Sprintf("The %d actions, as `vppdrill describe actions` prints them. Each may stand `at` a time, `after` the last one, or `when` the\ncluster is settled.", len(actions)), func(b *strings.Builder) {
		for _, a := range actions {
			fmt.Fprintf(b, "## %s\n\n%s\n\n    %s\n\n", a.Name, a.Doc, a.Example)
			if len(a.Arguments) > 0 {
				b.WriteString("| argument | values | default | means |\n|---|---|---|---|\n")
				for _, g := range a.Arguments {
					fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", g.Name, cell(g.Type), span(g.Default), cell(g.Doc))
				}
				b.WriteString("\n")
			}
		}
	})
	laws := entriesOf(t, "laws")
	write("laws", "Laws", fmt.Sprintf("The %d laws, as `vppdrill describe laws` prints them: the rule, why it matters, and the evidence that a world must\ndeliver for it to be judged.", len(laws)), func(b *strings.Builder) {
		for _, l := range laws {
			fmt.Fprintf(b, "## %s\n\n**%s** %s\n\n*%s.*\n\n", l.Name, l.Doc, l.Why, strings.ToUpper(l.Type[:1])+l.Type[1:])
		}
	})
	const injecting = "inject"
	if !slices.ContainsFunc(entriesOf(t, "actions"), func(e scenarios.Entry) bool { return e.Name == injecting }) {
		t.Errorf("there is no action %q, which the page of faults names", injecting)
	}
	for _, p := range []struct{ name, title, about string }{
		{"faults", "Faults", "as `vppdrill describe faults` prints them: fields of the section `faults`, and what action `" + injecting + "` takes."},
		{"settings", "Settings of a scenario file", "as `vppdrill describe settings` prints them: every field outside of the timeline, by its path."},
	} {
		list := entriesOf(t, p.name)
		write(p.name, p.title, fmt.Sprintf("The %d %s,\n%s", len(list), p.name, p.about), func(b *strings.Builder) {
			b.WriteString("| name | values | default | does | example |\n|---|---|---|---|---|\n")
			for _, e := range list {
				fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", e.Name, cell(e.Type), span(e.Default), cell(e.Doc), span(e.Example))
			}
		})
	}
	write("metrics", "Metrics of a run", "What `metrics.prom` of `--out DIR` holds, in OpenMetrics' text format: one value for each scenario, world and seed.", func(b *strings.Builder) {
		b.WriteString("| metric | means |\n|---|---|\n")
		for line := range strings.Lines(metricsOf(t)) {
			if help, ok := strings.CutPrefix(strings.TrimSpace(line), "# HELP "); ok {
				name, means, _ := strings.Cut(help, " ")
				fmt.Fprintf(b, "| `%s` | %s |\n", name, cell(means))
			}
		}
	})
	write("daemon-metrics", "Metrics of agents and controllers", `What programs that go on running show at /metrics: agents and controllers at the address of --rest, ipamd at --introspection,
an audit at --metrics. Figures of addresses and blocks are worked out of what the machine holds at the moment of asking;
of controllers the leader alone shows them. A lab shows its leader's, with what its API server and its EC2 were asked, at metrics.sock
of its folder plane. fixtures/kubernetes/monitoring/dashboard.json is a dashboard of Grafana that asks for them.
`, daemonMetrics)
	write("vpp-messages", "Messages of the modelled VPP", `What the modelled VPP answers of VPP 25.10's binary API, by module of govpp's bindings. Messages are counted with their replies and
details; the last column names requests and events. [Test your govpp program](../tutorials/govpp.md) says what happens to the others.
`, func(b *strings.Builder) { messagesBody(t, b) })
	return pages
}

// metricsOf is the metrics.prom of a small run.
func metricsOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file, into := filepath.Join(dir, "x.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(file, []byte("# Two nodes.\nname: x\ntopology: {nodes: 2}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code := cmd.Execute(t.Context(), config(), []string{"run", file, "--out", into}, &out, &out); code != 0 {
		t.Fatal(out.String())
	}
	text, err := os.ReadFile(filepath.Join(into, "metrics.prom"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
