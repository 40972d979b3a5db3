package mutation

import (
	"go/ast"
	"go/token"
	"go/types"
)

// comparisons turn each comparison into its opposite.
var comparisons = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
}

// not is a guard that turns a bool round.
func not(on string, _ int) (string, string) { return "(" + on + " != (", "))" }

// never and always are guards that keep a bool from being looked at: it counts as false, or as true.
func never(on string, _ int) (string, string)  { return "(!" + on + " && (", "))" }
func always(on string, _ int) (string, string) { return "(" + on + " || (", "))" }

// ifOff is a guard that makes a bool false. Its switch is asked only where that makes a difference.
func ifOff(on string, _ int) (string, string) { return "((", ") && !" + on + ")" }

// orOn is a guard that makes a bool true. Its switch is asked only where that makes a difference.
func orOn(on string, _ int) (string, string) { return "((", ") || " + on + ")" }

// negated turns a comparison round. Errors compared with nil belong to swallowed.
func negated(c *cursor) {
	e, ok := c.node.(*ast.BinaryExpr)
	if !ok || comparisons[e.Op] == 0 || !c.boolean(e) || c.isError(e.X) || c.isError(e.Y) {
		return
	}
	c.wrap(e, c.src.of(e.X)+" "+comparisons[e.Op].String()+" "+c.src.of(e.Y), not)
}

// dropped leaves out one operand of && or ||.
func dropped(c *cursor) {
	e, ok := c.node.(*ast.BinaryExpr)
	if !ok || e.Op != token.LAND && e.Op != token.LOR || !c.boolean(e) {
		return
	}
	for i, operand := range [2]ast.Expr{e.X, e.Y} {
		if b, ok := operand.(*ast.BinaryExpr); ok && b.Op == e.Op || !c.boolean(operand) || c.precaution(operand) {
			continue
		}
		guard := ifOff
		switch acts := acts(operand); {
		case e.Op == token.LAND && acts:
			guard = always
		case e.Op == token.LAND:
			guard = orOn
		case acts:
			guard = never
		}
		other := [2]ast.Expr{e.Y, e.X}[i]
		from, to := c.src.offset(operand.Pos()), c.src.offset(operand.End())
		c.plant(operand, []edit{{from: c.src.offset(e.Pos()), to: c.src.offset(e.End()), text: c.src.of(other)}},
			func(on string, number int) []edit {
				before, behind := guard(on, number)
				return around(from, to, before, behind)
			})
	}
}

// acts reports whether an expression may do something beside having a value: then a fault that leaves it out must leave
// it out whole.
func acts(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		_, call := n.(*ast.CallExpr)
		found = found || call
		return !found
	})
	return found
}

// precaution reports whether a condition looks at whether there is anything at all: without it, a program does nothing
// in more steps, or dies.
func (c *cursor) precaution(e ast.Expr) bool {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok || comparisons[b.Op] == 0 {
		return false
	}
	for _, x := range [2]ast.Expr{b.X, b.Y} {
		if call, ok := x.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "len" {
				return true
			}
		}
		if c.isNil(x) {
			return true
		}
	}
	return false
}

// bounds are comparisons with the bound in and out.
var bounds = map[token.Token]struct {
	helper string
	other  token.Token
}{
	token.LSS: {"Less", token.LEQ}, token.LEQ: {"LessOrEqual", token.LSS}, token.GTR: {"Greater", token.GEQ}, token.GEQ: {"GreaterOrEqual", token.GTR},
}

// offByOne takes a bound in or out, and forgets to add or subtract one.
func offByOne(c *cursor) {
	e, ok := c.node.(*ast.BinaryExpr)
	if !ok || c.constant(e) || !c.integer(e.X) || !c.integer(e.Y) || c.constant(e.X) && c.constant(e.Y) {
		return
	}
	instance := "" // a shift of a constant takes its type from where it stands, which the helper must give it
	if b, ok := c.src.info.TypeOf(e.X).(*types.Basic); ok {
		instance = "[" + b.Name() + "]"
	}
	from, to, op := c.src.offset(e.Pos()), c.src.offset(e.End()), c.src.offset(e.OpPos)
	if b, ok := bounds[e.Op]; ok && !c.precaution(e) {
		c.plant(e, []edit{{from: op, to: op + len(e.Op.String()), text: b.other.String()}}, func(_ string, number int) []edit {
			pair := around(from, to, helper(b.helper+instance, number), ")")
			pair[0].inner, pair[1].inner = true, true
			return append(pair, edit{from: op, to: op + len(e.Op.String()), text: ","})
		})
	}
	one, ok := e.Y.(*ast.BasicLit)
	if !ok || one.Value != "1" || c.constant(e.X) {
		return
	}
	switch e.Op {
	case token.ADD:
		c.wrap(e, c.src.of(e.X), func(_ string, number int) (string, string) { return helper("Less1"+instance, number), ")" })
	case token.SUB:
		c.wrap(e, c.src.of(e.X), func(_ string, number int) (string, string) { return helper("Plus1"+instance, number), ")" })
	}
}

// integer reports whether an expression is of an integer type that is known here: no type parameter.
func (c *cursor) integer(e ast.Expr) bool {
	t := c.src.info.TypeOf(e)
	if t == nil {
		return false
	}
	if _, ok := t.(*types.TypeParam); ok {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}
