package repo

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/tools/go/packages"
)

// elsewhere are the systems beside Linux that releases are for. All processors of one system have the same sources here.
var elsewhere = [...]string{"darwin/arm64", "windows/amd64"}

// portable are the packages that must compile there: the program, and what its users' tests import most.
var portable = []string{".", "./sim/vppmodel/socket", "./scenarios/suite"}

// Elsewhere type-checks the program for the other systems that it is released for. Nothing is compiled, and of other modules only what
// they declare is looked at, so that it takes seconds and not the minutes of a build.
func Elsewhere(root string) ([]Finding, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("find the tree: %w", err)
	}
	var found [len(elsewhere)][]Finding
	var group errgroup.Group
	for i, system := range elsewhere {
		group.Go(func() (err error) {
			found[i], err = compiles(root, system, portable...)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var all []Finding
	for _, f := range found {
		all = append(all, f...)
	}
	return all, nil
}

func compiles(root, system string, names ...string) (found []Finding, err error) {
	goos, goarch, _ := strings.Cut(system, "/")
	fset := token.NewFileSet()
	pkgs, err := packages.Load(&packages.Config{
		Dir: root, Fset: fset,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
		Env: append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		ParseFile: func(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
			f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
			if rel, outside := filepath.Rel(root, name); f != nil && (outside != nil || strings.HasPrefix(rel, "..")) {
				withoutBodies(f)
			}
			return f, err
		},
	}, names...)
	if err != nil {
		return nil, fmt.Errorf("load the packages at %s for %s: %w", root, system, err)
	}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		if p.PkgPath != Module && !strings.HasPrefix(p.PkgPath, Module+"/") {
			return // its functions were cut out, so that its complaints are ours
		}
		for _, e := range p.Errors {
			found = append(found, Finding{Path: strings.TrimPrefix(p.PkgPath, Module+"/"), What: "does not compile for " + system + ": " + e.Error()})
		}
	})
	return found, nil
}

// withoutBodies leaves of a file's functions what callers see.
func withoutBodies(f *ast.File) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			fn.Body = nil
		}
	}
}
