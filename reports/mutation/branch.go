package mutation

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// leaves reports whether a body does nothing but leave: a bare return or one of plain values, continue, break.
func leaves(body *ast.BlockStmt) bool {
	if len(body.List) != 1 {
		return false
	}
	switch s := body.List[0].(type) {
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE || s.Tok == token.BREAK
	case *ast.ReturnStmt:
		for _, r := range s.Results {
			switch r.(type) {
			case *ast.Ident, *ast.BasicLit, *ast.SelectorExpr:
			default:
				return false
			}
		}
		return true
	}
	return false
}

// unless plants an if whose body is not done, though its condition is looked at.
func (c *cursor) unless(s *ast.IfStmt) {
	plain := c.src.of(s.Cond)
	if b, ok := s.Cond.(*ast.BinaryExpr); ok && b.Op == token.LOR {
		plain = "(" + plain + ")"
	}
	c.wrap(s.Cond, plain+" && false", ifOff)
}

// errorCheck is the error that a condition compares with nil: err != nil.
func (c *cursor) errorCheck(cond ast.Expr) bool {
	b, ok := cond.(*ast.BinaryExpr)
	return ok && b.Op == token.NEQ && c.isError(b.X) && c.isNil(b.Y)
}

// swallowed does not look at an error, and does not pass one on.
func swallowed(c *cursor) {
	switch s := c.node.(type) {
	case *ast.IfStmt:
		if c.errorCheck(s.Cond) {
			c.unless(s)
		}
	case *ast.ReturnStmt:
		for _, r := range s.Results {
			if id, ok := r.(*ast.Ident); ok && c.isError(r) && id.Name != "nil" {
				c.wrap(r, "nil", func(_ string, number int) (string, string) { return helper("Swallow", number), ")" })
			}
		}
	}
}

// unwaited goes on where a guard would leave, and takes a time for over.
func unwaited(c *cursor) {
	switch s := c.node.(type) {
	case *ast.IfStmt:
		if s.Else == nil && leaves(s.Body) && c.boolean(s.Cond) && !c.errorCheck(s.Cond) && !c.precaution(s.Cond) {
			c.unless(s)
		}
	case *ast.CallExpr:
		c.timeOver(s)
	}
}

// timeOver plants times that count as over: nothing is added to them, or now is not compared with them.
func (c *cursor) timeOver(call *ast.CallExpr) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) != 1 {
		return
	}
	if t := c.src.info.TypeOf(f.X); t == nil || t.String() != "time.Time" {
		return
	}
	arg := call.Args[0]
	isNow := func(e ast.Expr) bool {
		text := strings.ToLower(c.src.of(e))
		return text == "now" || strings.HasSuffix(text, ".now")
	}
	switch name := f.Sel.Name; {
	case name == "Add" && !c.constant(arg):
		c.wrap(arg, "0", func(_ string, number int) (string, string) { return helper("Zero", number), ")" })
	case name == "Before" && isNow(f.X), name == "After" && isNow(arg):
		c.wrap(call, "false", ifOff)
	case name == "After" && isNow(f.X), name == "Before" && isNow(arg):
		c.wrap(call, "true", orOn)
	}
}

// unhandled leaves out what is done under a condition.
func unhandled(c *cursor) {
	s, ok := c.node.(*ast.IfStmt)
	if !ok || s.Else != nil || leaves(s.Body) || c.errorCheck(s.Cond) || !c.boolean(s.Cond) || c.elseOf(s) || onlyTells(s.Body) {
		return
	}
	c.unless(s)
}

// elseOf reports whether an if is the else of another.
func (c *cursor) elseOf(s *ast.IfStmt) bool {
	outer, ok := c.parent().(*ast.IfStmt)
	return ok && outer.Else == s
}

// wrongBranch takes the else for the then, or a condition that is no comparison the wrong way round.
func wrongBranch(c *cursor) {
	s, ok := c.node.(*ast.IfStmt)
	if !ok || !c.boolean(s.Cond) || c.errorCheck(s.Cond) {
		return
	}
	if b, ok := s.Cond.(*ast.BinaryExpr); ok && (s.Else == nil || comparisons[b.Op] != 0) {
		return // negated plants there
	}
	plain := "!(" + c.src.of(s.Cond) + ")"
	if u, ok := s.Cond.(*ast.UnaryExpr); ok {
		plain = c.src.of(u.X)
	} else if _, ok := s.Cond.(*ast.BinaryExpr); !ok {
		plain = "!" + c.src.of(s.Cond)
	}
	c.wrap(s.Cond, plain, not)
}

// cut ends a loop after its first turn.
func cut(c *cursor) {
	var body *ast.BlockStmt
	switch s := c.node.(type) {
	case *ast.RangeStmt:
		if c.unordered(s.X) {
			return // the first of a map is another one in each run
		}
		body = s.Body
	case *ast.ForStmt:
		if s.Cond == nil {
			return
		}
		body = s.Body
	default:
		return
	}
	if n := len(body.List); n == 0 || ends(body.List[n-1]) {
		return
	}
	at := c.src.offset(body.Rbrace)
	c.plant(c.node, []edit{{from: at, to: at, text: "; break "}}, func(on string, _ int) []edit {
		return []edit{{from: at, to: at, text: "; if " + on + " { break }; "}}
	})
	m := c.found[len(c.found)-1]
	first := c.src.offset(c.node.Pos())
	m.Before, _ = difference(c.src.text, []edit{{from: first, to: first}})
	m.After = m.Before + " … break }"
}

// ends reports whether a loop's last statement leaves it.
func ends(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok != token.CONTINUE
	}
	return false
}

// flipped says true for false, and false for true.
func flipped(c *cursor) {
	id, ok := c.node.(*ast.Ident)
	if !ok || id.Name != "true" && id.Name != "false" || c.src.info.Uses[id] == nil || c.src.info.Uses[id].Parent() != types.Universe {
		return
	}
	if t := c.src.info.TypeOf(id); t == nil || t.String() != "bool" && t.String() != "untyped bool" {
		return
	}
	switch p := c.parent().(type) {
	case *ast.AssignStmt, *ast.ReturnStmt, *ast.CallExpr:
	case *ast.KeyValueExpr:
		if p.Key == c.node {
			return
		}
	default:
		return
	}
	other := map[string]string{"true": "false", "false": "true"}[id.Name]
	c.wrap(id, other, func(on string, _ int) (string, string) { return "(" + on + " != ", ")" })
}
