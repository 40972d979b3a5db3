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

// tells reports whether a call only says something to people: a log line, a panic.
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
	return name == "panic" || name == "log" || strings.HasPrefix(name, "log") && !strings.HasPrefix(name, "login") || name == "debugf" || name == "warnf" || name == "infof"
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

// swapped changes the order of two statements of which one is a call and both are about the same thing. Each statement is in one
// pair at most.
func swapped(c *cursor) {
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
		if !simple(a) || !simple(b) || call(a) == nil && call(b) == nil || !c.related(a, b) {
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

// related reports whether two statements speak of one variable.
func (c *cursor) related(a, b ast.Stmt) bool {
	seen := map[types.Object]bool{}
	ast.Inspect(a, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := c.src.info.Uses[id].(*types.Var); ok && !v.IsField() {
				seen[v] = true
			}
		}
		return true
	})
	found := false
	ast.Inspect(b, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && seen[c.src.info.Uses[id]] {
			found = true
		}
		return !found
	})
	return found
}
