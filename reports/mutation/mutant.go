package mutation

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Mutant is one fault that can be planted.
type Mutant struct {
	// Number is its switch, from 1 in the order of files and places.
	Number int    `json:"number"`
	Kind   string `json:"kind"`
	// Name is set for one that a file lists.
	Name string `json:"name,omitempty"`
	// File is relative to the root, with slashes; Line and Column count from 1.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Func is the function around it, with its receiver's type.
	Func string `json:"func"`
	// Before and After are the lines that the fault changes, as they are and as the fault would have them.
	Before string `json:"before"`
	After  string `json:"after"`

	src *source
	// plain are the edits that make the fault and nothing else.
	plain []edit
	// guarded are the edits that plant the fault behind its switch.
	guarded func(on string, number int) []edit
}

// Place is "file:line:column kind function", which tells a mutant from most others of its tree; the name of a listed
// one stands behind.
func (m *Mutant) Place() string {
	place := fmt.Sprintf("%s:%d:%d %s %s", m.File, m.Line, m.Column, m.Kind, m.Func)
	if m.Name != "" {
		place += " " + m.Name
	}
	return place
}

// source is one file of the product.
type source struct {
	// path is relative to the root, with slashes; file is its name for the compiler.
	path, file, folder string
	text               []byte
	fset               *token.FileSet
	syntax             *ast.File
	info               *types.Info
	pkg                *types.Package
	// people are functions of the package that only write for people.
	people map[types.Object]bool
	// declared are the package's functions.
	declared map[types.Object]*ast.FuncDecl
}

func (s *source) offset(p token.Pos) int { return s.fset.Position(p).Offset }

func (s *source) of(n ast.Node) string { return string(s.text[s.offset(n.Pos()):s.offset(n.End())]) }

// cursor is one node of a function, where kinds look for a place to plant.
type cursor struct {
	src  *source
	node ast.Node
	// stack holds the nodes around node, the function first.
	stack []ast.Node
	kind  string
	found []*Mutant
}

// parent is the node around the present one.
func (c *cursor) parent() ast.Node { return c.stack[len(c.stack)-1] }

// inList reports whether the present node is a statement of a list of statements, so that more can stand in its place.
func (c *cursor) inList() bool {
	switch p := c.parent().(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	case *ast.CommClause:
		return p.Comm != c.node
	}
	return false
}

// plant notes a fault at a node. plain are the edits that make the fault, guarded those that make it behind a switch:
// on is the expression that tells whether it is on, number its number.
func (c *cursor) plant(at ast.Node, plain []edit, guarded func(on string, number int) []edit) {
	place := c.src.fset.Position(at.Pos())
	m := &Mutant{Kind: c.kind, File: c.src.path, Line: place.Line, Column: place.Column, Func: funcName(c.stack), src: c.src, plain: plain, guarded: guarded}
	m.Before, m.After = difference(c.src.text, plain)
	c.found = append(c.found, m)
}

// wrap plants a fault that replaces a node by plain, and is guarded by text around the node.
func (c *cursor) wrap(n ast.Node, plain string, guard func(on string, number int) (before, behind string)) {
	from, to := c.src.offset(n.Pos()), c.src.offset(n.End())
	c.plant(n, []edit{{from: from, to: to, text: plain}}, func(on string, number int) []edit {
		before, behind := guard(on, number)
		return around(from, to, before, behind)
	})
}

// omit plants the fault that a statement is not there.
func (c *cursor) omit(n ast.Node) {
	c.wrap(n, "", func(on string, _ int) (string, string) { return "if !" + on + " { ", " }" })
}

// boolean reports whether an expression is of type bool itself, and no constant.
func (c *cursor) boolean(e ast.Expr) bool {
	v, ok := c.src.info.Types[e]
	return ok && v.Value == nil && v.Type != nil && types.Identical(types.Default(v.Type), types.Typ[types.Bool])
}

// constant reports whether an expression has a value while the program is built.
func (c *cursor) constant(e ast.Expr) bool { return c.src.info.Types[e].Value != nil }

var errorType = types.Universe.Lookup("error").Type()

func (c *cursor) isError(e ast.Expr) bool {
	t := c.src.info.TypeOf(e)
	return t != nil && types.Identical(t, errorType)
}

// isNil reports whether an expression is the word nil.
func (c *cursor) isNil(e ast.Expr) bool { return c.src.info.Types[e].IsNil() }

// pure reports whether an expression is a name or a field of one, whose evaluation can be repeated.
func pure(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name != "_"
	case *ast.SelectorExpr:
		return pure(e.X)
	}
	return false
}

// funcName is the name of the function around a node: "Agent.Step".
func funcName(stack []ast.Node) string {
	f := stack[0].(*ast.FuncDecl)
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// difference are the lines that edits change, before and after. Lines that an edit empties are left out.
func difference(text []byte, edits []edit) (before, after string) {
	from, to := len(text), 0
	for _, e := range edits {
		from, to = min(from, e.from), max(to, e.to)
	}
	for from > 0 && text[from-1] != '\n' {
		from--
	}
	for to < len(text) && text[to] != '\n' {
		to++
	}
	moved := slices.Clone(edits)
	for i := range moved {
		moved[i].from -= from
		moved[i].to -= from
	}
	return tidy(string(text[from:to])), tidy(string(apply(text[from:to], moved)))
}

// tidy cuts the space around lines and leaves out empty ones.
func tidy(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
