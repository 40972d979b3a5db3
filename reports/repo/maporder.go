package repo

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// unordered is the comment that allows one map range; the words after it say why nobody can see the order. The same may
// be said in prose, as inAnyOrder.
const (
	unordered  = "//vppdrill:unordered"
	inAnyOrder = "// in any order:"
)

// orderSeen are packages beside the deterministic ones whose results people compare: scenarios and reports.
var orderSeen = []string{"scenarios/...", "reports/..."}

// keepsOrder are the only functions that may be handed a map's iterator: what they return does not show the order.
var keepsOrder = map[string]string{
	"slices": "Sorted SortedFunc SortedStableFunc",
	"maps":   "Collect Insert",
}

func mapOrder() Rule {
	return Rule{
		Name: "map-order",
		Why: "Go shuffles map iteration on purpose; an order that somebody sees makes two runs of one seed differ. " +
			"Sort the keys, sort what was collected right after the loop, or say `" + unordered + " reason`",
		Check: func(t *Tree) []Finding {
			var found []Finding
			for _, b := range t.Broken {
				b.What = "cannot be judged: " + b.What
				found = append(found, b)
			}
			for _, s := range t.Sources {
				if s.Test() || !isDeterministic(s.Folder()) && !matchesAny(orderSeen, s.Folder()) {
					continue
				}
				if s.Info == nil && !couldRange(s) {
					continue
				}
				if s.Info == nil {
					found = append(found, Finding{Path: s.Path, What: "is outside the default build, so its map ranges cannot be judged"})
					continue
				}
				found = append(found, mapRangesOf(s)...)
			}
			return found
		},
	}
}

// couldRange reports whether a file that has no types has anything that a map's order could show in.
func couldRange(s Source) bool {
	could := false
	for path := range s.Imports {
		could = could || path == "maps"
	}
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		if _, ok := n.(*ast.RangeStmt); ok {
			could = true
		}
		return !could
	})
	return could
}

// mapRangesOf finds ranges and iterators over maps that are neither sorted, order-free nor annotated.
func mapRangesOf(s Source) []Finding {
	var found []Finding
	names, notes, excused := localNames(s), notesOf(s), map[ast.Node]bool{}
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			excuseSorted(names, n.List, excused)
		case *ast.CaseClause:
			excuseSorted(names, n.Body, excused)
		case *ast.CallExpr:
			if pkg, name := callee(names, n); word(keepsOrder[pkg], name) {
				for _, arg := range n.Args {
					excused[arg] = true
				}
			} else if isMapIterator(names, n) && !excused[n] && !notes.allow(s.Line(n.Pos())) {
				found = append(found, s.At(n.Pos(), "maps.%s in a visible order", name))
			}
		case *ast.RangeStmt:
			if orderFree(n) {
				excused[n.X] = true
			} else if isMap(s.Info, n.X) && !excused[n] && !notes.allow(s.Line(n.Pos())) {
				found = append(found, s.At(n.Pos(), "range over map %s in a visible order", types.ExprString(n.X)))
			}
		}
		return true
	})
	for line, reason := range notes { // in any order: Run sorts findings by place
		if reason == "" {
			found = append(found, Finding{Path: s.Path, Line: line, What: "an unordered map range needs a reason"})
		}
	}
	return found
}

func isMap(info *types.Info, x ast.Expr) bool {
	t := info.TypeOf(x)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// isMapIterator reports whether an expression is maps.Keys, maps.Values or maps.All of something.
func isMapIterator(names map[string]string, x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	pkg, name := callee(names, call)
	return pkg == "maps" && word("Keys Values All", name)
}

// callee names the function of a call of the form package.Name, by the package's path.
func callee(names map[string]string, call *ast.CallExpr) (pkg, name string) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	return names[id.Name], sel.Sel.Name
}

// excuseSorted excuses what only collects into one slice that a later statement of the same block sorts: map ranges,
// also inside of branches, and map iterators handed to slices.Collect and the like.
func excuseSorted(names map[string]string, list []ast.Stmt, excused map[ast.Node]bool) {
	for i, stmt := range list {
		later := list[i+1:]
		ast.Inspect(stmt, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false // its body runs at another time
			case *ast.RangeStmt:
				if into, ok := collects(n.Body.List); ok && into != "" && sortedIn(names, later, into) {
					// The iterator form, for k := range maps.Keys(m), is excused by the same sort.
					excused[n], excused[n.X] = true, true
				}
			case *ast.AssignStmt:
				if len(n.Lhs) == 1 && sortedIn(names, later, types.ExprString(n.Lhs[0])) {
					excuseIterators(names, n.Rhs, excused)
				}
			}
			return true
		})
	}
}

// excuseIterators excuses every map iterator in expressions.
func excuseIterators(names map[string]string, list []ast.Expr, excused map[ast.Node]bool) {
	for _, x := range list {
		ast.Inspect(x, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok && isMapIterator(names, e) {
				excused[n] = true
			}
			return true
		})
	}
}

// sortedIn reports whether any of the statements sorts the named slice.
func sortedIn(names map[string]string, list []ast.Stmt, slice string) bool {
	return slices.ContainsFunc(list, func(stmt ast.Stmt) bool { return sorts(names, stmt, slice) })
}

// collects reports whether statements do nothing but append to one variable, perhaps under conditions, and which one.
func collects(list []ast.Stmt) (string, bool) {
	into := ""
	for _, stmt := range list {
		name := ""
		switch st := stmt.(type) {
		case *ast.AssignStmt:
			if name = appendTarget(st); name == "" {
				return "", false
			}
		case *ast.IfStmt:
			inner, ok := collects(st.Body.List)
			if !ok || st.Else != nil {
				return "", false
			}
			name = inner
		case *ast.BranchStmt:
			if st.Tok != token.CONTINUE {
				return "", false
			}
		default:
			return "", false
		}
		if name != "" && into != "" && name != into {
			return "", false
		}
		if name != "" {
			into = name
		}
	}
	return into, true
}

// appendTarget is x of `x = append(x, …)`, else empty.
func appendTarget(a *ast.AssignStmt) string {
	if len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return ""
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	if id, ok := call.Fun.(*ast.Ident); !ok || id.Name != "append" {
		return ""
	}
	if into := types.ExprString(a.Lhs[0]); into == types.ExprString(call.Args[0]) {
		return into
	}
	return ""
}

// sorts reports whether a statement is a call that sorts the named slice.
func sorts(names map[string]string, stmt ast.Stmt, slice string) bool {
	e, ok := stmt.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || types.ExprString(call.Args[0]) != slice {
		return false
	}
	pkg, name := callee(names, call)
	return pkg == "slices" && strings.HasPrefix(name, "Sort") ||
		pkg == "sort" && word("Slice SliceStable Strings Ints Float64s Sort Stable", name)
}

// notes are the annotated lines of a file with their reasons.
type notes map[int]string

func notesOf(s Source) notes {
	n := notes{}
	for _, group := range s.Syntax.Comments {
		for _, c := range group.List {
			reason, ok := strings.CutPrefix(c.Text, unordered)
			if !ok {
				reason, ok = strings.CutPrefix(c.Text, inAnyOrder)
			}
			if ok {
				n[s.Line(c.Pos())] = strings.TrimSpace(reason)
			}
		}
	}
	return n
}

// allow reports whether the line itself or the one above carries a note.
func (n notes) allow(line int) bool {
	_, here := n[line]
	_, above := n[line-1]
	return here || above
}
