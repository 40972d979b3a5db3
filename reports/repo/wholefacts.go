package repo

import (
	"go/ast"
	"go/types"
)

// wholeFacts is the rule by which a world cannot forget a field of what it tells.
func wholeFacts() Rule {
	return Rule{
		Name: "whole-facts",
		Why:  "a field that a world forgets reads as zero, and a law judges by it; write the zero where it is meant",
		Check: func(t *Tree) (found []Finding) {
			for _, s := range t.Sources {
				if s.Info == nil || s.Test() {
					continue
				}
				ast.Inspect(s.Syntax, func(n ast.Node) bool {
					if lit, ok := n.(*ast.CompositeLit); ok {
						for _, name := range omitted(s.Info, lit) {
							found = append(found, s.At(lit.Pos(), "%s without %s", types.ExprString(lit.Type), name))
						}
					}
					return true
				})
			}
			return found
		},
	}
}

// omitted are the fields that a literal of something told does not set; none of other literals.
func omitted(info *types.Info, lit *ast.CompositeLit) (names []string) {
	named, ok := info.TypeOf(lit).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != Module+"/scenarios/fact" {
		return nil
	}
	fields, ok := named.Underlying().(*types.Struct)
	if told, _, _ := types.LookupFieldOrMethod(named, false, named.Obj().Pkg(), "what"); !ok || told == nil || lit.Type == nil {
		return nil
	}
	set := map[string]bool{}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return nil // without names the compiler wants all of them
		}
		if key, ok := kv.Key.(*ast.Ident); ok {
			set[key.Name] = true
		}
	}
	for i := range fields.NumFields() {
		if name := fields.Field(i).Name(); !set[name] {
			names = append(names, name)
		}
	}
	return names
}
