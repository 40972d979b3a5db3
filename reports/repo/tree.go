package repo

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Module is the import path of the repository's root.
const Module = "github.com/vppdrill/vppdrill"

// Tree is the repository as the rules see it.
type Tree struct {
	// Files are all text files that belong to the project, in path order.
	Files []File
	// Sources are the Go files among them, in path order, tests included.
	Sources []Source
	// Pictures are the paths of files that are no text.
	Pictures []string
	// Broken lists what could not be parsed or type-checked.
	Broken []Finding
}

// File is one text file.
type File struct {
	// Path is relative to the root, with slashes.
	Path string
	Text []byte
}

// Source is one Go file.
type Source struct {
	File
	Fset   *token.FileSet
	Syntax *ast.File
	// Info is nil for tests and for files outside the default build.
	Info *types.Info
}

// Folder is the package's path relative to the root, "." for the root itself.
func (s Source) Folder() string { return path.Dir(s.Path) }

// Test reports whether the file is compiled for tests alone.
func (s Source) Test() bool { return strings.HasSuffix(s.Path, "_test.go") }

// Generated reports whether line one says that a program wrote the file.
func (s Source) Generated() bool { return ast.IsGenerated(s.Syntax) }

// Line is the line of a position in this file, from 1.
func (s Source) Line(p token.Pos) int { return s.Fset.Position(p).Line }

// At makes a finding at a position of this file.
func (s Source) At(p token.Pos, format string, args ...any) Finding {
	return Finding{Path: s.Path, Line: s.Line(p), What: fmt.Sprintf(format, args...)}
}

// Imports yields the file's import paths with their positions, in source order.
func (s Source) Imports(yield func(string, token.Pos) bool) {
	for _, spec := range s.Syntax.Imports {
		if !yield(strings.Trim(spec.Path.Value, "`\""), spec.Pos()) {
			return
		}
	}
}

// Load reads the repository at root and type-checks what the default build compiles.
func Load(root string) (*Tree, error) {
	t := &Tree{}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("find the tree: %w", err)
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return t.add(name, filepath.ToSlash(rel), d)
	})
	if err != nil {
		return nil, fmt.Errorf("read the tree at %s: %w", root, err)
	}
	if err := t.typeCheck(root); err != nil {
		return nil, err
	}
	return t, nil
}

// strangers are what holds no source of the project at the root: git's own, a folder or in a work tree a file, and the folders that make run
// and make build write.
var strangers = []string{".git", "bin", "out"}

// add takes in one entry of the tree's walk.
func (t *Tree) add(name, rel string, d fs.DirEntry) error {
	if d.IsDir() {
		if slices.Contains(strangers, rel) {
			return fs.SkipDir
		}
		return nil
	}
	if !d.Type().IsRegular() || slices.Contains(strangers, rel) {
		return nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed by somebody else while the walk went on
	}
	if err != nil {
		return err
	}
	if bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
		t.Pictures = append(t.Pictures, rel) // the same test for binary files that git applies
		return nil
	}
	t.addText(rel, text)
	return nil
}

func (t *Tree) addText(rel string, text []byte) {
	f := File{Path: rel, Text: text}
	t.Files = append(t.Files, f)
	if !strings.HasSuffix(rel, ".go") || strings.Contains("/"+rel, "/testdata/") {
		return
	}
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Broken = append(t.Broken, Finding{Path: rel, What: "does not parse: " + err.Error()})
		return
	}
	t.Sources = append(t.Sources, Source{File: f, Fset: fset, Syntax: syntax})
}

// modules are the folders whose programs are type-checked: the root, and tools that are modules of their own. ipam/peers has tests alone.
var modules = []string{".", "reports/mutation"}

// typeCheck replaces the syntax of every non-test file of the default build by its type-checked twin.
func (t *Tree) typeCheck(root string) error {
	var pkgs []*packages.Package
	for _, m := range modules {
		if _, err := os.Stat(filepath.Join(root, m)); err != nil {
			continue // of a tiny tree
		}
		some, err := packages.Load(&packages.Config{
			Dir: filepath.Join(root, m),
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
				packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo,
		}, "./...")
		if err != nil {
			return fmt.Errorf("load the packages at %s: %w", root, err)
		}
		pkgs = append(pkgs, some...)
	}
	place := make(map[string]int, len(t.Sources))
	for i, s := range t.Sources {
		place[s.Path] = i
	}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Broken = append(t.Broken, Finding{Path: strings.TrimPrefix(p.PkgPath, Module+"/"), What: e.Error()})
		}
		for _, syntax := range p.Syntax {
			rel, err := filepath.Rel(root, p.Fset.Position(syntax.Package).Filename)
			if err != nil {
				continue
			}
			if i, ok := place[filepath.ToSlash(rel)]; ok {
				t.Sources[i].Fset, t.Sources[i].Syntax, t.Sources[i].Info = p.Fset, syntax, p.TypesInfo
			}
		}
	}
	return nil
}
