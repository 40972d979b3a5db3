package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd"
)

// fence is a block of a page: its language, what stands behind it, its text.
var fence = regexp.MustCompile("(?ms)^```([a-z]+)(?: ([^\n]+))?\n(.*?)^```$")

// Goal: what the pages say is so. Method: each page's blocks in their order in a folder of its own: files are written, commands are run and
// must print the lines that follow them, in that order, with the exit code that is said (0 when none is); Go code must stand in the test
// that it names.
func TestPages(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, list...)
	}
	if len(pages) < 6 {
		t.Fatalf("only %d pages", len(pages))
	}
	nav, err := os.ReadFile("docs/mkdocs.yml")
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(nav), ": "+strings.TrimPrefix(page, "docs/")+"\n") {
			t.Errorf("%s is not in docs/mkdocs.yml", page)
		}
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			t.Chdir(t.TempDir())
			for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
				language, about, body := m[1], m[2], m[3]
				switch language {
				case "console":
					runBlock(t, body)
				case "yaml":
					if err := os.WriteFile(about, []byte(body), 0o644); err != nil {
						t.Fatal(err)
					}
				case "go":
					test, err := os.ReadFile(filepath.Join(root, about))
					if err != nil || !strings.Contains(string(test), body) {
						t.Errorf("%s does not hold the code of the page (%v)", about, err)
					}
				default:
					t.Errorf("a block of %s is run by nobody", language)
				}
			}
		})
	}
}

// runBlock runs the commands of a block.
func runBlock(t *testing.T, body string) {
	t.Helper()
	for part := range strings.SplitSeq(strings.TrimPrefix(body, "$ "), "\n$ ") {
		command, expected, _ := strings.Cut(part, "\n")
		words := shellWords(command)
		if len(words) < 2 || words[0] != "vppdrill" {
			t.Fatalf("%s is no command of vppdrill", command)
		}
		var out bytes.Buffer
		code := cmd.Execute(t.Context(), config(), words[1:], &out, &out)
		rest, want := out.String(), slices.Collect(strings.Lines(expected))
		exit := "exit code 0"
		for _, line := range want {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "exit code ") {
				exit = line
				continue
			}
			_, after, found := strings.Cut(rest, line)
			if !found {
				t.Errorf("$ %s\nprints no %q behind what was wanted before:\n%s", command, line, out.String())
				break
			}
			rest = after
		}
		if got := fmt.Sprintf("exit code %d", code); got != exit {
			t.Errorf("$ %s\n%s, want %s:\n%s", command, got, exit, out.String())
		}
	}
}

// shellWords are a command's words; single quotes hold one together.
func shellWords(command string) (words []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

// Goal: what the program tells of its own language is so. Method: every example of actions, laws, faults and settings is read as a file, whose
// fields must all be known and of their kinds; what concerns several fields may be wrong.
func TestReference(t *testing.T) {
	number := 0
	for _, what := range []string{"actions", "laws", "faults", "settings"} {
		var out bytes.Buffer
		if code := cmd.Execute(t.Context(), config(), []string{"describe", what, "--format", "json"}, &out, &out); code != 0 {
			t.Fatalf("%s: code %d: %s", what, code, out.String())
		}
		var list []scenarios.Entry
		if err := json.Unmarshal(out.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			number++
			file := "name: x\ntopology: {nodes: 9, podsPerNode: 2}\nduration: 2h\n" + e.Example + "\n"
			if first, _, _ := strings.Cut(e.Name, "."); what == "actions" {
				file = "name: x\ntopology: {nodes: 9}\ntimeline:\n  " + e.Example + "\n"
			} else if what == "settings" && (first == "topology" || first == "name" || first == "duration") {
				file = e.Example + "\n"
				if first != "name" {
					file += "name: x\n"
				}
			}
			_, err := scenarios.Parse("x.yaml", []byte(file))
			if e.Doc == "" || e.Example == "" || err != nil && !strings.Contains(e.Example, "…") && unknown.MatchString(err.Error()) {
				t.Errorf("%s %s: %q %v\n%s", what, e.Name, e.Doc, err, file)
			}
		}
	}
	if number < 150 {
		t.Errorf("only %d entries", number)
	}
}

// Goal: the pages of commands, of agents' settings and of the reference say what the program says. Method: each is made anew from its help and
// its lists, and compared; `make golden` rewrites them.
func TestGeneratedPages(t *testing.T) {
	pages := referencePages(t)
	pages["docs/commands.md"], pages["docs/agent-settings.md"] = commandsPage(t), settingsPage(t)
	for page, text := range pages {
		old, err := os.ReadFile(page)
		if *rewrite {
			err = os.WriteFile(page, []byte(text), 0o644)
		} else if string(old) != text {
			t.Errorf("%s is out of date: go test . -run GeneratedPages -rewrite", page)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// helpText is what a command prints about itself.
func helpText(t *testing.T, words ...string) string {
	t.Helper()
	var out bytes.Buffer
	if code := cmd.Execute(t.Context(), config(), append(words, "--help"), &out, &out); code != 0 {
		t.Fatalf("%q: code %d: %s", words, code, out.String())
	}
	return out.String()
}

// commandsPage is docs/commands.md: the groups of commands, exit codes, and each command's help.
func commandsPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nThis page is made from the program's own help (`make golden`).\n")
	root := helpText(t)
	_, codes, _ := strings.Cut(root, "Exit codes:\n")
	codes, _, _ = strings.Cut(codes, "\n\n")
	b.WriteString("\n## Exit codes\n\n| code | means |\n|---|---|\n")
	for line := range strings.Lines(codes) {
		code, means, _ := strings.Cut(strings.TrimSpace(line), " ")
		fmt.Fprintf(&b, "| %s | %s |\n", code, strings.TrimSpace(means))
	}
	_, jobs, _ := strings.Cut(root, "seed 7\n\n")
	jobs, _, _ = strings.Cut(jobs, "\nFlags:")
	names := commandNames(t)
	for job := range strings.SplitSeq(strings.TrimSpace(jobs), "\n\n") {
		title, list, _ := strings.Cut(job, ":\n")
		fmt.Fprintf(&b, "\n## %s\n", title)
		for line := range strings.Lines(list) {
			top := strings.Fields(line)[0]
			for _, name := range names {
				if name == top || strings.HasPrefix(name, top+" ") {
					fmt.Fprintf(&b, "\n### vppdrill %s\n\n", name)
					for line := range strings.Lines(helpText(t, strings.Fields(name)...)) {
						b.WriteString(strings.TrimRight("    "+line, " \n") + "\n")
					}
				}
			}
		}
	}
	return b.String()
}

// settingsPage is docs/agent-settings.md.
func settingsPage(t *testing.T) string {
	var out bytes.Buffer
	if code := cmd.Execute(t.Context(), config(), []string{"describe", "agent", "--format", "json"}, &out, &out); code != 0 {
		t.Fatal(out.String())
	}
	var list []scenarios.Entry
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(`# An agent's settings

` + "`vppdrill agent --config FILE`" + ` reads a file of Contiv's; keys may have any case. A setting that is not built is
refused by its key, with the alternative. No setting is silently ignored. ` + "`vppdrill describe agent`" + ` prints this table,
which is made from the code (` + "`make golden`" + `).

| key | values | default | does |
|---|---|---|---|
`)
	for _, e := range list {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.Name, e.Type, e.Default, e.Doc)
	}
	return b.String()
}

// unknown are the errors of a field that does not exist or is of another kind.
var unknown = regexp.MustCompile(`unknown|wants a|is not (a (number|time|range|whole|field|name)|one of)|must be [^h]`)
