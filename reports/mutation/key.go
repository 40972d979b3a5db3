package mutation

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// wrongKey looks up another key, and gives two arguments or two fields each the value of the other.
func wrongKey(c *cursor) {
	switch n := c.node.(type) {
	case *ast.IndexExpr:
		if c.unordered(n.X) && pure(n.Index) && !c.constant(n.Index) {
			if other := c.neighbour(n.Index); other != "" {
				c.wrap(n.Index, other, func(_ string, number int) (string, string) { return helper("Other", number), ", " + other + ")" })
			}
		}
	case *ast.CallExpr:
		if c.asks(n) {
			c.exchange(n.Args)
		}
	case *ast.CompositeLit:
		var values []ast.Expr
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				values = append(values, kv.Value)
			}
		}
		if t := c.src.info.TypeOf(n); t != nil {
			if _, ok := t.Underlying().(*types.Struct); ok {
				c.exchange(values)
			}
		}
	}
}

// asks reports whether a call is one of this module's functions.
func (c *cursor) asks(call *ast.CallExpr) bool {
	var id *ast.Ident
	switch f := call.Fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return false
	}
	f, ok := c.src.info.Uses[id].(*types.Func)
	return ok && f.Pkg() != nil && strings.HasPrefix(f.Pkg().Path(), strings.SplitN(c.src.pkg.Path(), "/", 2)[0]) && !tells(call)
}

// exchange plants, for neighbours of one type among some values, that each has the other's. A value is in one pair at
// most.
func (c *cursor) exchange(values []ast.Expr) {
	for i := 0; i+1 < len(values); i++ {
		a, b := values[i], values[i+1]
		if !c.same(a, b) || c.src.of(a) == c.src.of(b) {
			continue
		}
		i++ // b is taken
		textA, textB := c.src.of(a), c.src.of(b)
		startA, endA, startB, endB := c.src.offset(a.Pos()), c.src.offset(a.End()), c.src.offset(b.Pos()), c.src.offset(b.End())
		plain := []edit{{from: startA, to: endA, text: textB}, {from: startB, to: endB, text: textA}}
		c.plant(a, plain, func(_ string, number int) []edit {
			return slices.Concat(around(startA, endA, helper("Other", number), ", "+textB+")"),
				around(startB, endB, helper("Other", number), ", "+textA+")"))
		})
	}
}

// same reports whether two values are names of variables, or their fields, of one type.
func (c *cursor) same(a, b ast.Expr) bool {
	if !pure(a) || !pure(b) || c.constant(a) || c.constant(b) || c.isNil(a) || c.isNil(b) {
		return false
	}
	for _, e := range [2]ast.Expr{a, b} {
		if !c.src.info.Types[e].IsValue() {
			return false
		}
	}
	ta, tb := c.src.info.TypeOf(a), c.src.info.TypeOf(b)
	if ta == nil || tb == nil || !types.Identical(ta, tb) {
		return false
	}
	_, isFunc := ta.Underlying().(*types.Signature)
	return !isFunc
}

// neighbour is what somebody could take for a key: another field of the same value, or another variable, of the same
// type.
func (c *cursor) neighbour(key ast.Expr) string {
	t := c.src.info.TypeOf(key)
	switch k := key.(type) {
	case *ast.SelectorExpr:
		return c.field(k, t)
	case *ast.Ident:
		return c.variable(k, t)
	}
	return ""
}

// field is another field of the value whose field a selector is.
func (c *cursor) field(k *ast.SelectorExpr, t types.Type) string {
	of := c.src.info.TypeOf(k.X)
	if of == nil {
		return ""
	}
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	s, ok := of.Underlying().(*types.Struct)
	if !ok {
		return ""
	}
	for f := range s.Fields() {
		if f.Name() != k.Sel.Name && f.Name() != "_" && types.Identical(f.Type(), t) && (f.Exported() || f.Pkg() == c.src.pkg) {
			return c.src.of(k.X) + "." + f.Name()
		}
	}
	return ""
}

// variable is the nearest variable of the function that is declared before a use of another.
func (c *cursor) variable(k *ast.Ident, t types.Type) string {
	scope := c.src.pkg.Scope().Innermost(k.Pos())
	for ; scope != nil && scope != c.src.pkg.Scope(); scope = scope.Parent() {
		best, at := "", token.NoPos
		for _, name := range scope.Names() {
			v, ok := scope.Lookup(name).(*types.Var)
			if ok && name != k.Name && name != "_" && v.Pos() < c.statement().Pos() && v.Pos() > at && types.Identical(v.Type(), t) {
				best, at = name, v.Pos()
			}
		}
		if best != "" {
			return best
		}
	}
	return ""
}

// statement is the innermost statement of a list around the present node.
func (c *cursor) statement() ast.Node {
	for i := len(c.stack) - 1; i > 0; i-- {
		switch c.stack[i-1].(type) {
		case *ast.BlockStmt, *ast.CaseClause:
			return c.stack[i]
		}
	}
	return c.node
}
