package repo

import (
	"strings"
	"testing"
)

// TestPublicProgram goal: a name of the public list stands for exactly what it names, a package for what others use of it, and a
// name of nothing is found. Method: a package with a function, a method of each kind, a generic function, what nobody outside can
// call and what nobody does, and a test of another package.
func TestPublicProgram(t *testing.T) {
	tree := Sketch(map[string]string{"x/y/a.go": `package y
type T struct{}
func (T) A() {}
func (*T) B() {}
func (T) c() {}
type hidden struct{}
func (hidden) D() {}
type G[K any] struct{}
func (*G[K]) E() {}
func F() {}
func H[A, B any]() {}
func (T) Idle() {}
func Unused() {}
`, "z/z_test.go": `package z
import "github.com/vppdrill/vppdrill/x/y"
func use(t *y.T, g *y.G[any]) { t.A(); t.B(); g.E(); y.F(); y.H[int, int]() }
`})
	for _, c := range []struct {
		name string
		refs string
	}{
		{"x/y", "p0.T.A (*p0.T).B (*p0.G[any]).E p0.F p0.H[any, any]"},
		{"x/y.T", "p0.T.A (*p0.T).B p0.T.Idle"},
		{"x/y.T.B", "(*p0.T).B"},
		{"x/y.F", "p0.F"},
		{"x/y.None", ""},
		{"x/z", ""},
	} {
		source, found := programOf(tree, []string{c.name})
		_, list, _ := strings.Cut(source, "[]any{\n")
		list, _, _ = strings.Cut(list, "}\n\nfunc main")
		var refs []string
		for line := range strings.Lines(list) {
			refs = append(refs, strings.TrimSuffix(strings.TrimSpace(line), ","))
		}
		if got := strings.TrimSpace(strings.Join(refs, " ")); got != c.refs {
			t.Errorf("%s: program refers to %q, want %q", c.name, got, c.refs)
		}
		if missing := len(found) > 0; missing != (c.refs == "") {
			t.Errorf("%s: findings %v", c.name, found)
		}
	}
}

// TestUnreachable goal: every function that deadcode prints is a finding, but for generated ones. Method: a report as deadcode
// prints it.
func TestUnreachable(t *testing.T) {
	const report = `[{"Name":"y","Path":"` + Module + `/x/y","Funcs":[
		{"Name":"T.A","Position":{"File":"x/y/a.go","Line":3,"Col":1},"Generated":false},
		{"Name":"F","Position":{"File":"x/y/a.go","Line":9,"Col":1},"Generated":false},
		{"Name":"made","Position":{"File":"x/y/b.go","Line":2,"Col":1},"Generated":true}]}]`
	found, err := Unreachable([]byte(report))
	if err != nil || len(found) != 2 {
		t.Fatalf("%v, %v, want 2 findings", found, err)
	}
	if !strings.HasPrefix(found[0].String(), "x/y/a.go:3: T.A is reached by no program") {
		t.Errorf("finding reads %s", found[0])
	}
	if _, err := Unreachable([]byte("no JSON")); err == nil {
		t.Error("what is no report was read as an empty one")
	}
}
