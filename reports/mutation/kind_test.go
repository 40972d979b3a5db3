package mutation

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// parsed makes a source of a program's text.
func parsed(t *testing.T, text string) *source {
	t.Helper()
	s := &source{path: "a.go", file: "a.go", folder: "vppwire/agent", text: []byte(text), fset: token.NewFileSet()}
	var err error
	if s.syntax, err = parser.ParseFile(s.fset, "a.go", text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		t.Fatal(err)
	}
	s.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{}}
	config := types.Config{Importer: importer.Default()}
	if s.pkg, err = config.Check(module+"/a", s.fset, []*ast.File{s.syntax}, s.info); err != nil {
		t.Fatal(err)
	}
	s.declared = declared([]*ast.File{s.syntax}, s.info)
	return s
}

// numbered finds the faults of a source.
func numbered(s *source) []*Mutant {
	found := findIn(s)
	for i, m := range found {
		m.Number = i + 1
	}
	return found
}

// Goal: each kind of fault is planted where it belongs, and nowhere else. Method: stories of small functions; each
// fault is shown as the difference that it makes, and the function with all of them behind their switches.
func TestKinds(t *testing.T) {
	told := map[string]bool{}
	datadriven.Walk(t, "testdata/kinds", func(t *testing.T, path string) {
		kind := filepath.Base(path)
		told[kind] = true
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := parsed(t, "package a\n\n"+d.Input+"\n")
			var out strings.Builder
			var mine []*Mutant
			for _, m := range numbered(s) {
				if m.Kind != kind {
					continue
				}
				m.Number = len(mine) + 1
				mine = append(mine, m)
				fmt.Fprintf(&out, "%d %s\n- %s\n+ %s\n", m.Number, m.Func, strings.ReplaceAll(m.Before, "\n", "\n- "), strings.ReplaceAll(m.After, "\n", "\n+ "))
			}
			if len(mine) == 0 {
				return "none"
			}
			planted := strings.ReplaceAll(string(plant(s, mine)), switchName+".", "")
			for line := range strings.Lines(planted[strings.Index(planted, "\n"):]) {
				if d.HasArg("planted") && strings.TrimSpace(line) != "" {
					out.WriteString("| " + line)
				}
			}
			return out.String()
		})
	})
	for _, k := range kinds {
		if !told[k.Name] {
			t.Errorf("no story of %s in testdata/kinds", k.Name)
		}
	}
}

// Goal: a fault behind its switch is the fault itself, and with no switch on nothing has changed. Method: a small
// program in which each kind has places: one package of it as it is, one with everything planted, one for each fault
// with that alone; the planted one must do what each of the others does, and each kind must make a difference
// somewhere.
func TestPlantedIsPlain(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program of a hundred packages")
	}
	text, err := os.ReadFile("testdata/program/program.go")
	if err != nil {
		t.Fatal(err)
	}
	s := parsed(t, string(text))
	mutants := numbered(s)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module "+module+"\n\ngo 1.26\n")
	write(switchName+"/switch.go", switches+"\nfunc Set(n int) { on = n }\n")
	write("planted/program.go", string(plant(s, mutants)))
	write("p0/program.go", string(text))
	imports := fmt.Sprintf("import (\n%q\n%q\n%q\np0 %q\n", "fmt", module+"/"+switchName, module+"/planted", module+"/p0")
	calls := "compare(0, \"none\", p0.Run)\n"
	for _, m := range mutants {
		write(fmt.Sprintf("p%d/program.go", m.Number), string(apply(text, m.plain)))
		imports += fmt.Sprintf("p%d %q\n", m.Number, fmt.Sprintf("%s/p%d", module, m.Number))
		calls += fmt.Sprintf("compare(%d, %q, p%d.Run)\n", m.Number, m.Kind, m.Number)
	}
	write("main.go", "package main\n"+imports+")\nvar usual = p0.Run()\nfunc main() {\n"+calls+"}\n"+`
func compare(n int, kind string, plain func() string) {
	`+switchName+`.Set(n)
	got, want := program.Run(), plain()
	if got != want {
		fmt.Printf("fault %d of %s\nplanted\n%s\nplain\n%s\n", n, kind, got, want)
	} else if got != usual {
		fmt.Println(kind, "told")
	}
}
`)
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	told := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		kind, ok := strings.CutSuffix(line, " told\n")
		if told[kind] = true; !ok {
			t.Fatalf("%s", out)
		}
	}
	for _, k := range kinds {
		if !told[k.Name] {
			t.Errorf("no fault of %s makes a difference to the program", k.Name)
		}
	}
}
