package mutation

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// module is the import path of the repository's root.
const module = "github.com/vppdrill/vppdrill"

// areas are the folders that faults are planted into, by what they are for: what runs unchanged in clusters and in the
// simulator. What only a real host has is not in the program that the simulator drives. Where faults are chosen, areas
// take turns.
var areas = []struct {
	name    string
	folders []string
}{
	{"agent", []string{"vppwire/agent", "vppwire/agent/nodeid"}},
	{"wiring", []string{"vppwire", "vppwire/mode", "vppwire/linkname"}},
	{"addresses", []string{"ipam", "ipam/space", "ipam/contiv"}},
	{"other systems", []string{"ipam/datastore", "ipam/nodeipam", "ipam/internal/cidrset", "ipam/cilium"}},
}

// Find returns every place of the tree at root where a fault can be planted, in the order of files and places, with
// their switches' numbers from 1.
func Find(root string) ([]*Mutant, error) {
	sources, err := load(root)
	if err != nil {
		return nil, err
	}
	var all []*Mutant
	for _, s := range sources {
		all = append(all, findIn(s)...)
	}
	return inOrder(all), nil
}

// inOrder sorts mutants by their places and numbers them from 1.
func inOrder(all []*Mutant) []*Mutant {
	slices.SortStableFunc(all, func(a, b *Mutant) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	for i, m := range all {
		m.Number = i + 1
	}
	return all
}

// load reads and type-checks the product's files in the tree at root.
func load(root string) ([]*source, error) {
	var patterns []string
	for _, a := range areas {
		for _, folder := range a.folders {
			patterns = append(patterns, "./"+folder)
		}
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	loaded, err := packages.Load(&packages.Config{Dir: root, Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles |
		packages.NeedImports | packages.NeedDeps | packages.NeedExportFile | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("load the product at %s: %w", root, err)
	}
	var sources []*source
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("load %s: %w", p.PkgPath, p.Errors[0])
		}
		people, functions := forPeople(p.Syntax, p.TypesInfo), declared(p.Syntax, p.TypesInfo)
		for i, file := range p.CompiledGoFiles {
			rel, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			rel = filepath.ToSlash(rel)
			sources = append(sources, &source{path: rel, file: file, folder: path.Dir(rel), text: text,
				fset: p.Fset, syntax: p.Syntax[i], info: p.TypesInfo, pkg: p.Types, people: people, declared: functions})
		}
	}
	return sources, nil
}

// findIn returns the places of one file. Generated files have none.
func findIn(s *source) []*Mutant {
	if ast.IsGenerated(s.syntax) {
		return nil
	}
	var found []*Mutant
	for _, d := range s.syntax.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || text(f.Name.Name) || s.people[s.info.Defs[f.Name]] {
			continue
		}
		c := &cursor{src: s}
		ast.PreorderStack(f, nil, func(n ast.Node, stack []ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && (tells(call) || reserves(call)) {
				return false
			}
			if n == f {
				return true
			}
			c.node, c.stack = n, stack
			for _, k := range kinds {
				c.kind = k.Name
				k.find(c)
			}
			return true
		})
		found = append(found, c.found...)
	}
	return found
}

// text reports whether a function, by its name, writes things for people or judges what people wrote: no cluster
// behaves otherwise for a fault in it, and its tests compare every word.
func text(name string) bool {
	switch name {
	case "String", "GoString", "Error", "Format", "MarshalText", "Validate":
		return true
	}
	return strings.HasPrefix(name, "validate") || strings.HasSuffix(name, "Text") || strings.HasSuffix(name, "String")
}

// forPeople are the functions of a package that are used, and by none but those whose name says that they write for
// people, or those that only they use. Exported ones may be used elsewhere and are none of them.
func forPeople(files []*ast.File, info *types.Info) map[types.Object]bool {
	users := map[types.Object]map[types.Object]bool{}
	for _, file := range files {
		for _, d := range file.Decls {
			var user types.Object // nil: a variable's beginning
			if f, ok := d.(*ast.FuncDecl); ok {
				user = info.Defs[f.Name]
			}
			ast.Inspect(d, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				if f, ok := info.Uses[id].(*types.Func); ok && !f.Exported() {
					used := types.Object(f.Origin())
					if users[used] == nil {
						users[used] = map[types.Object]bool{}
					}
					users[used][user] = true
				}
				return true
			})
		}
	}
	people := map[types.Object]bool{}
	for more := true; more; {
		more = false
		for f, by := range users { // in any order: it goes on until nothing changes
			if people[f] {
				continue
			}
			all := true
			for user := range by { // in any order: all are asked
				all = all && user != nil && (user == f || text(user.Name()) || people[user])
			}
			if all {
				people[f], more = true, true
			}
		}
	}
	return people
}

// reserves reports whether a call only makes room: how much changes nothing but time.
func reserves(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "make"
	case *ast.SelectorExpr:
		x, ok := f.X.(*ast.Ident)
		return ok && x.Name == "slices" && (f.Sel.Name == "Grow" || f.Sel.Name == "Clip")
	}
	return false
}
