package repo

import (
	"go/ast"
	"go/importer"
	"go/types"
	"slices"
)

// Sketch makes a tree of a few small files, for trying rules. Each package is type-checked on its own; imports that do
// not resolve are left open, as a rule that needs only the file's own types still works.
func Sketch(files map[string]string) *Tree {
	t := &Tree{}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.addText(name, []byte(files[name]))
	}
	for i := range t.Sources {
		s := &t.Sources[i]
		if s.Test() {
			continue
		}
		s.Info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
			Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
		check := types.Config{Importer: importer.Default(), Error: func(error) {}}
		_, _ = check.Check(Module+"/"+s.Folder(), s.Fset, []*ast.File{s.Syntax}, s.Info) // errors are expected, see above
	}
	return t
}
