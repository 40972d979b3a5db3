package repo

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// libraryPage names the packages that users may import, one in each row of a table.
const libraryPage = "docs/library.md"

// libraryRow is the package and the example of a row.
var libraryRow = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\|[^|]*\\| ?([^|]*?) ?\\|$")

// exampleOf is a function of a package's tests.
var exampleOf = regexp.MustCompile("^`(\\w+)` of `([a-z0-9/]+)`$")

// libraryNamed is the rule by which the page of the library is true.
func libraryNamed() Rule {
	return Rule{
		Name: "library",
		Why:  "who imports a package must know whether the next release keeps it, and finds an example where one is named",
		Check: func(t *Tree) (found []Finding) {
			for _, f := range t.Files {
				if f.Path == libraryPage {
					found = t.libraryFindings(f)
				}
			}
			return found
		},
	}
}

func (t *Tree) libraryFindings(f File) (found []Finding) {
	_, folders := t.folders()
	listed := map[string]bool{}
	for _, row := range libraryRow.FindAllStringSubmatch(string(f.Text), -1) {
		folder, example := row[1], row[2]
		switch {
		case listed[folder]:
			found = append(found, Finding{Path: f.Path, What: "lists " + folder + " twice"})
		case !slices.Contains(folders, folder):
			found = append(found, Finding{Path: f.Path, What: "lists " + folder + ", which is no package"})
		case matchesAny(private, folder) || strings.Contains("/"+folder+"/", "/internal/"):
			found = append(found, Finding{Path: f.Path, What: "lists " + folder + ", which users cannot or should not import"})
		}
		listed[folder] = true
		if e := exampleOf.FindStringSubmatch(example); e != nil && !t.hasExample(e[2], e[1]) {
			found = append(found, Finding{Path: f.Path, What: fmt.Sprintf("names %s of %s, which is not there", e[1], e[2])})
		}
	}
	for _, p := range public {
		if slices.Contains(folders, p.name) && !listed[p.name] && p.name != "lab/suite/ran" && !matchesAny(private, p.name) {
			found = append(found, Finding{Path: f.Path, What: "does not list " + p.name + ", which is kept for users"})
		}
	}
	return found
}

// hasExample reports whether a folder's tests have an example of a name.
func (t *Tree) hasExample(folder, name string) bool {
	for _, s := range t.Sources {
		if s.Folder() != folder || !s.Test() {
			continue
		}
		for _, d := range s.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == name {
				return true
			}
		}
	}
	return false
}
