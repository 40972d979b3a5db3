package mutation

import (
	"go/ast"
	"go/types"
)

// declared are the functions of a package by their objects.
func declared(files []*ast.File, info *types.Info) map[types.Object]*ast.FuncDecl {
	all := map[types.Object]*ast.FuncDecl{}
	for _, file := range files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				all[info.Defs[f.Name]] = f
			}
		}
	}
	return all
}

// touched is what a piece of code may read or change: fields, of whatever they are fields, and variables.
type touched struct {
	vars map[*types.Var]bool
	// unknown: it calls what cannot be looked into.
	unknown bool
	seen    map[types.Object]bool
}

// touches is what a statement may read or change, with all that it calls.
func (c *cursor) touches(s ast.Stmt) *touched {
	t := &touched{vars: map[*types.Var]bool{}, seen: map[types.Object]bool{}}
	t.look(c.src, s)
	return t
}

// look takes in all that is below a node.
func (t *touched) look(src *source, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if v, ok := src.info.Uses[n].(*types.Var); ok {
				t.vars[v.Origin()] = true
				t.unknown = t.unknown || !v.IsField() && shares(v.Type())
			}
		case *ast.CallExpr:
			t.call(src, n)
		}
		return !t.unknown
	})
}

// shares reports whether a variable of a type may be another name for what a field holds: a list, a table, a function.
func shares(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic, *types.Struct:
		return false
	case *types.Pointer:
		_, ok := u.Elem().Underlying().(*types.Struct)
		return !ok
	}
	return true
}

// call takes in what a call does. Functions of other packages are known where they are given values alone, which they
// can not change.
func (t *touched) call(src *source, n *ast.CallExpr) {
	if src.info.Types[n.Fun].IsType() {
		return // a conversion
	}
	var id *ast.Ident
	switch f := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		t.unknown = true
		return
	}
	switch f := src.info.Uses[id].(type) {
	case *types.Builtin:
	case *types.Func:
		f = f.Origin()
		if d := src.declared[f]; d != nil {
			if !t.seen[f] {
				t.seen[f] = true
				t.look(src, d.Body)
			}
			return
		}
		t.unknown = t.unknown || !byValue(f)
	default:
		t.unknown = true
	}
}

// byValue reports whether a function takes nothing by which it could change or call anything of its caller's: numbers,
// texts, times.
func byValue(f *types.Func) bool {
	signature := f.Signature()
	if r := signature.Recv(); r != nil && !plainValue(r.Type()) {
		return false
	}
	for p := range signature.Params().Variables() {
		if !plainValue(p.Type()) {
			return false
		}
	}
	return true
}

func plainValue(t types.Type) bool {
	switch t.String() {
	case "time.Time", "net/netip.Addr", "net/netip.Prefix":
		return true
	}
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

// apart reports whether two statements have nothing to do with each other but what they stand on: the variables by
// which both are reached, as a method's receiver, may be the same, as long as neither assigns to them.
func (c *cursor) apart(a, b ast.Stmt) bool {
	x, y := c.touches(a), c.touches(b)
	if x.unknown || y.unknown {
		return false
	}
	for v := range x.vars { //vppdrill:unordered all of them must be so
		if y.vars[v] && !c.stands(v, a, b) {
			return false
		}
	}
	return true
}

// stands reports whether a variable is only what fields are selected from, or methods called on, in both statements and
// is a pointer, so that nothing of the variable itself is read or changed. What is behind it is told by its fields.
func (c *cursor) stands(v *types.Var, a, b ast.Stmt) bool {
	if v.IsField() {
		return false
	}
	p, ok := v.Type().Underlying().(*types.Pointer)
	if !ok {
		_, basic := v.Type().Underlying().(*types.Basic)
		return (basic || plainValue(v.Type())) && !c.assigns(a, v) && !c.assigns(b, v)
	}
	if _, ok := p.Elem().Underlying().(*types.Struct); !ok {
		return false
	}
	return !c.assigns(a, v) && !c.assigns(b, v)
}

// assigns reports whether a statement gives a variable another value.
func (c *cursor) assigns(s ast.Stmt, v *types.Var) bool {
	var to []ast.Expr
	switch s := s.(type) {
	case *ast.AssignStmt:
		to = s.Lhs
	case *ast.IncDecStmt:
		to = []ast.Expr{s.X}
	}
	for _, e := range to {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok && c.src.info.Uses[id] == v {
			return true
		}
	}
	return false
}
