package repo

import (
	"go/ast"
	"path"
	"strings"
	"unicode"
)

// users are the names of functions and methods, by package, that somebody outside of the package uses: what files of a folder
// that imports the package select, tests and examples included, and the words of the package's own doc.go. Methods are told
// by their names alone, so a common name counts as used where only another type's is.
func (t *Tree) users() map[string]map[string]bool {
	used := make(map[string]map[string]bool)
	add := func(folder, name string) {
		if used[folder] == nil {
			used[folder] = make(map[string]bool)
		}
		used[folder][name] = true
	}
	imports := make(map[string]map[string]bool) // what the files of one package import of ours
	for _, s := range t.Sources {
		room := s.room()
		for imported := range s.Imports {
			if folder, ours := strings.CutPrefix(imported, Module+"/"); ours {
				if imports[room] == nil {
					imports[room] = make(map[string]bool)
				}
				imports[room][folder] = true
			}
		}
	}
	for _, s := range t.Sources {
		if s.Syntax.Doc != nil && !s.Test() {
			for _, w := range strings.FieldsFunc(s.Syntax.Doc.Text(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
				add(s.Folder(), w)
			}
		}
		folders := imports[s.room()]
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				for folder := range folders { // in any order: a set
					add(folder, sel.Sel.Name)
				}
			}
			return true
		})
	}
	return used
}

// room is the package of a file, where a folder's external tests are one of their own.
func (s Source) room() string { return path.Join(s.Folder(), s.Syntax.Name.Name) }
