package mutation

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// unordered reports whether an expression is a map.
func (c *cursor) unordered(e ast.Expr) bool {
	t := c.src.info.TypeOf(e)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// tells reports whether a call only says something to people: a log line, a note, a panic.
func tells(call *ast.CallExpr) bool {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && (x.Name == "fmt" || x.Name == "errors") {
			return true
		}
		name = f.Sel.Name
	}
	name = strings.ToLower(name)
	return name == "panic" || name == "log" || name == "note" || strings.HasPrefix(name, "log") && !strings.HasPrefix(name, "login") || name == "debugf" || name == "warnf" || name == "infof"
}

// onlyTells reports whether a body does nothing but say something to people.
func onlyTells(body *ast.BlockStmt) bool {
	return !slices.ContainsFunc(body.List, func(s ast.Stmt) bool {
		x, ok := s.(*ast.ExprStmt)
		if !ok {
			return true
		}
		call, ok := x.X.(*ast.CallExpr)
		return !ok || !tells(call)
	})
}

// call is the call that a statement is, nil when it is none that matters.
func call(s ast.Stmt) *ast.CallExpr {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	c, ok := x.X.(*ast.CallExpr)
	if !ok || tells(c) {
		return nil
	}
	return c
}

func isDelete(c *ast.CallExpr) bool {
	f, ok := c.Fun.(*ast.Ident)
	return ok && (f.Name == "delete" || f.Name == "clear")
}

// uncalled leaves out a call.
func uncalled(c *cursor) {
	s, ok := c.node.(*ast.ExprStmt)
	if !ok || !c.inList() {
		return
	}
	if call := call(s); call != nil && !isDelete(call) {
		c.omit(s)
	}
}

// stale leaves out what changes a field, an element or a table.
func stale(c *cursor) {
	if !c.inList() {
		return
	}
	switch s := c.node.(type) {
	case *ast.ExprStmt:
		if call := call(s); call != nil && isDelete(call) {
			c.omit(s)
		}
	case *ast.IncDecStmt:
		if held(s.X) {
			c.omit(s)
		}
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE && !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { return !held(e) }) {
			c.omit(s)
		}
	}
}

// held reports whether an expression is a part of something: a field or an element.
func held(e ast.Expr) bool {
	switch e.(type) {
	case *ast.SelectorExpr, *ast.IndexExpr:
		return true
	}
	return false
}

// notes reports whether a call only takes pointers for later: what is assigned to what they point to behind it counts
// as well as before it.
func notes(s ast.Stmt) bool {
	c := call(s)
	if c == nil {
		return false
	}
	f, ok := c.Fun.(*ast.SelectorExpr)
	return ok && f.Sel.Name == "invoke"
}

// swapped changes the order of two statements of which one is a call and one changes what the other speaks of. Each
// statement is in one pair at most. What a wiring mode says is a set of objects, whose order means nothing.
func swapped(c *cursor) {
	if c.src.folder == "vppwire/mode" {
		return
	}
	var list []ast.Stmt
	switch b := c.node.(type) {
	case *ast.BlockStmt:
		list = b.List
	case *ast.CaseClause:
		list = b.Body
	default:
		return
	}
	for i := 0; i+1 < len(list); i++ {
		a, b := list[i], list[i+1]
		if !simple(a) || !simple(b) || notes(a) || notes(b) || call(a) == nil && call(b) == nil || !c.related(a, b) || c.apart(a, b) {
			continue
		}
		i++ // b is taken
		start, middle, next, end := c.src.offset(a.Pos()), c.src.offset(a.End()), c.src.offset(b.Pos()), c.src.offset(b.End())
		if string(c.src.text[start:middle]) == string(c.src.text[next:end]) {
			continue
		}
		plain := []edit{{from: start, to: middle, text: c.src.of(b)}, {from: next, to: end, text: c.src.of(a)}}
		c.plant(a, plain, func(on string, _ int) []edit {
			pair := around(start, end, "for mutantTurn := range 2 { if (mutantTurn == 0) != "+on+" { ", " } }")
			return append(pair, edit{from: middle, to: middle, text: " } else { ", span: end - start - 1, closing: true})
		})
	}
}

// simple reports whether a statement declares nothing and leaves nothing.
func simple(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return call(s) != nil
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	case *ast.IncDecStmt:
		return true
	}
	return false
}

// related reports whether what one of two statements changes, or asks to change itself, is something that the other
// speaks of.
func (c *cursor) related(a, b ast.Stmt) bool {
	touches := func(one, other ast.Stmt) bool {
		for _, changed := range c.changed(one) {
			for _, used := range c.paths(other) {
				if changed == used || strings.HasPrefix(used, changed+".") || strings.HasPrefix(changed, used+".") {
					return true
				}
			}
		}
		return false
	}
	return touches(a, b) || touches(b, a)
}

// changed are the paths that a statement assigns to, or calls a method of, or gives to a call as its first argument:
// "a.out".
func (c *cursor) changed(s ast.Stmt) []string {
	var changed []string
	add := func(e ast.Expr) {
		if p := c.path(e); p != "" {
			changed = append(changed, p)
		}
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, e := range s.Lhs {
			add(e)
		}
	case *ast.IncDecStmt:
		add(s.X)
	case *ast.ExprStmt:
		call := s.X.(*ast.CallExpr)
		if f, ok := call.Fun.(*ast.SelectorExpr); ok {
			add(f.X)
		}
		if len(call.Args) > 0 {
			add(call.Args[0])
		}
	}
	return changed
}

// paths are the longest paths that a statement speaks of.
func (c *cursor) paths(s ast.Stmt) []string {
	var paths []string
	ast.Inspect(s, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		if call, ok := e.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok { // a method is no part of what it is a method of
				if p := c.path(f.X); p != "" {
					paths = append(paths, p)
				}
			}
			return true
		}
		if p := c.path(e); p != "" {
			paths = append(paths, p)
			return false
		}
		return true
	})
	return paths
}

// path is a variable and its fields, "a.journal.seq", of a field or of an element; empty for anything else.
func (c *cursor) path(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		if _, ok := c.src.info.Uses[e].(*types.Var); ok {
			return e.Name
		}
	case *ast.SelectorExpr:
		if p := c.path(e.X); p != "" {
			return p + "." + e.Sel.Name
		}
	case *ast.IndexExpr:
		return c.path(e.X)
	case *ast.StarExpr:
		return c.path(e.X)
	case *ast.ParenExpr:
		return c.path(e.X)
	}
	return ""
}
