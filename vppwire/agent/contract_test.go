package agent_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// TestContractNamesAll: the contract of Step in doc.go names every event and every effect. Method: whatever has the
// method event or effect in the package's sources is looked for in the sections Events and Effects, as a word of its
// own.
func TestContractNamesAll(t *testing.T) {
	files := token.NewFileSet()
	doc, err := parser.ParseFile(files, "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	text := doc.Doc.Text()
	_, events, _ := strings.Cut(text, "# Events")
	events, effects, _ := strings.Cut(events, "# Effects")
	if effects == "" {
		t.Fatal("doc.go has no sections Events and Effects")
	}
	section := map[string]string{"event": events, "effect": effects}
	found := map[string]int{}
	for _, name := range []string{"eventtext.go", "effecttext.go"} {
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || section[fn.Name.Name] == "" {
				continue
			}
			found[fn.Name.Name]++
			receiver := fn.Recv.List[0].Type.(*ast.Ident).Name
			if !regexp.MustCompile(`\b` + receiver + `\b`).MatchString(section[fn.Name.Name]) {
				t.Errorf("doc.go does not say what becomes of %s %s", fn.Name.Name, receiver)
			}
		}
	}
	if found["event"] < 20 || found["effect"] < 9 {
		t.Errorf("only %v were found: the test looks in the wrong place", found)
	}
}
