package repo

import (
	"go/ast"
	"go/token"
	"go/types"
)

// orderFree reports whether a body consists of steps that commute: deleting the key, counting, setting an element of
// another map under the same key or to a constant, or setting a field of the element itself, each to something that calls nothing.
func orderFree(r *ast.RangeStmt) bool {
	own := map[string]bool{}
	for _, x := range []ast.Expr{r.Key, r.Value} {
		if id, ok := x.(*ast.Ident); ok && id.Name != "_" {
			own[id.Name] = true
		}
	}
	key := ""
	if id, ok := r.Key.(*ast.Ident); ok {
		key = id.Name
	}
	for _, stmt := range r.Body.List {
		if !commutes(stmt, key, own) {
			return false
		}
	}
	return true
}

// commutes judges one statement. key names the range's key; own holds it, the value and what was made of them.
func commutes(stmt ast.Stmt, key string, own map[string]bool) bool {
	switch st := stmt.(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.ExprStmt:
		call, ok := st.X.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return false
		}
		fun, ok := call.Fun.(*ast.Ident)
		return ok && fun.Name == "delete" && types.ExprString(call.Args[1]) == key
	case *ast.AssignStmt:
		if len(st.Lhs) != 1 || len(st.Rhs) != 1 || hasCall(st.Rhs[0]) {
			return false
		}
		switch to := st.Lhs[0].(type) {
		case *ast.Ident:
			own[to.Name] = own[to.Name] || st.Tok == token.DEFINE
			return st.Tok == token.DEFINE
		case *ast.IndexExpr:
			return st.Tok == token.ASSIGN && (types.ExprString(to.Index) == key || isConstant(st.Rhs[0]) && !hasCall(to.Index))
		case *ast.SelectorExpr:
			id, ok := to.X.(*ast.Ident)
			return ok && st.Tok == token.ASSIGN && own[id.Name]
		}
	}
	return false
}

// isConstant reports whether an expression is a literal, true or false: however often it is set, it is the same.
func isConstant(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return x.Name == "true" || x.Name == "false"
	}
	return false
}

func hasCall(x ast.Expr) bool {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		if _, ok := n.(*ast.CallExpr); ok {
			found = true
		}
		return !found
	})
	return found
}
