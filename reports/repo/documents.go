package repo

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// documents are the pages that people read first; package comments are read as pages too.
var documents = []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/kubernetes.md", "docs/agent.md", "docs/labs.md"}

// foreign are names in documents that other projects have and that look like ours.
var foreign = map[string]string{
	"DaemonSet": "Kubernetes", "DeletedFinalStateUnknown": "client-go", "GitHub": "a host",
}

func trueNames() Rule {
	return Rule{
		Name: "true-names",
		Why:  "a document that names a file, a function or a make target which is not there sends its reader away for good",
		Check: func(t *Tree) []Finding {
			n := t.names()
			var found []Finding
			for _, f := range t.Files {
				if slices.Contains(documents, f.Path) {
					found = append(found, n.page(f)...)
				}
				if f.Path == "ARCHITECTURE.md" && n.paths["reports/repo/public.go"] {
					for _, name := range PublicNames() {
						if !strings.Contains(string(f.Text), "`"+name+"`") {
							found = append(found, Finding{Path: f.Path, What: "does not list " + name + ", which reports/repo/public.go does"})
						}
					}
				}
			}
			for _, s := range t.Sources {
				if s.Syntax.Doc != nil && !s.Test() {
					found = append(found, n.comment(s)...)
				}
			}
			return found
		},
	}
}

// known is everything that a document can name.
type known struct {
	// paths are all files and folders, bases the files' own names.
	paths, bases map[string]bool
	// words are all identifiers in sources and all words of their strings.
	words map[string]bool
	// declared are the names at the top of packages, and Type.Method, by the packages' names and by their folders.
	declared map[string]map[string]bool
	// top are the names in the root; targets are make's.
	top, targets map[string]bool
}

func (t *Tree) names() known {
	n := known{map[string]bool{".": true}, map[string]bool{}, map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, f := range t.Files {
		n.bases[path.Base(f.Path)] = true
		for p := f.Path; p != "."; p = path.Dir(p) {
			n.paths[p] = true
			if path.Dir(p) == "." {
				n.top[p] = true
			}
		}
		if f.Path == "Makefile" {
			for _, m := range makeTarget.FindAllSubmatch(f.Text, -1) {
				n.targets[string(m[1])] = true
			}
		}
	}
	for _, p := range t.Pictures {
		n.paths[p] = true
	}
	for _, s := range t.Sources {
		n.declare(s)
		ast.Inspect(s.Syntax, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.Ident:
				n.words[node.Name] = true
			case *ast.BasicLit:
				for _, w := range strings.FieldsFunc(node.Value, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
					n.words[w] = true
				}
			}
			return true
		})
	}
	return n
}

// declare takes in what one file declares at its top.
func (n known) declare(s Source) {
	add := func(name string) {
		for _, key := range [...]string{s.Syntax.Name.Name, s.Folder()} {
			n.declared[key][name] = true
		}
	}
	for _, key := range [...]string{s.Syntax.Name.Name, s.Folder()} {
		if n.declared[key] == nil {
			n.declared[key] = map[string]bool{}
		}
	}
	for _, d := range s.Syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				owner := d.Recv.List[0].Type
				if star, ok := owner.(*ast.StarExpr); ok {
					owner = star.X
				}
				if id, ok := owner.(*ast.Ident); ok {
					name = id.Name + "." + name
				}
			}
			add(name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name.Name)
					for _, member := range membersOf(spec.Type) {
						add(spec.Name.Name + "." + member)
					}
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						add(id.Name)
					}
				}
			}
		}
	}
}

// membersOf are the fields of a struct, or the methods of an interface.
func membersOf(t ast.Expr) (names []string) {
	var list *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return nil
	}
	for _, f := range list.List {
		for _, id := range f.Names {
			names = append(names, id.Name)
		}
	}
	return names
}

var (
	makeTarget = regexp.MustCompile(`(?m)^([a-z-]+):`)
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	pageLink   = regexp.MustCompile(`\]\(([^)#:]+)\)`)
	makeWord   = regexp.MustCompile(`\bmake ([a-z][a-z-]+)`)
	folderRow  = regexp.MustCompile(`^    ( *)([\w./-]+/|main\.go)(?: |$)`)
	somePath   = regexp.MustCompile(`^\.?/?[\w.-]+(?:/[\w.*-]+)+/?$`)
	someFile   = regexp.MustCompile(`^[\w-]+\.(?:go|md|yaml|txtar|json)$`)
	qualified  = regexp.MustCompile(`^([a-z]\w*)\.([A-Z]\w*(?:\.[A-Z]\w*)?)$`)
	camel      = regexp.MustCompile(`^[A-Za-z]+[a-z][A-Z]\w*$|^[A-Z][a-z]+$`)
	envVar     = regexp.MustCompile(`^VPPDRILL_[A-Z]+`)
	startAt    = regexp.MustCompile(`Start at (?:the )?([A-Z]\w*(?:\.[A-Z]\w*)?)`)
)

// page judges a Markdown page: what stands in backticks, its links, and its map of folders.
func (n known) page(f File) (found []Finding) {
	var above []string // the folders that a line of the map stands below
	line := 0
	for text := range strings.Lines(string(f.Text)) {
		line++
		tell := func(name, why string) {
			if why != "" {
				found = append(found, Finding{Path: f.Path, Line: line, What: "names " + name + ", " + why})
			}
		}
		for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
			for _, word := range strings.Fields(m[1]) {
				tell(word, n.missing(word))
			}
			for _, t := range makeWord.FindAllStringSubmatch(m[1], -1) {
				tell("make "+t[1], n.target(t[1]))
			}
		}
		for _, m := range pageLink.FindAllStringSubmatch(text, -1) {
			if !n.paths[path.Join(path.Dir(f.Path), m[1])] { // a link begins at its page
				tell(m[1], "which is not there")
			}
		}
		if strings.HasPrefix(text, "    make ") {
			tell(strings.TrimSpace(text), n.target(strings.Fields(text)[1]))
		}
		if m := folderRow.FindStringSubmatch(text); m != nil && f.Path == "ARCHITECTURE.md" {
			if depth := len(m[1]) / 2; depth <= len(above) {
				row := strings.Fields(text)
				for _, part := range row {
					if !strings.HasSuffix(part, "/") && part != "main.go" {
						break
					}
					if full := path.Join(append(slices.Clone(above[:depth]), part)...); !n.paths[full] {
						tell(full, "which is not there")
					}
				}
				above = append(above[:depth:depth], m[2])
			}
		}
	}
	return found
}

// comment judges a package's comment: paths from the root, names of other packages of ours, and where to start.
func (n known) comment(s Source) (found []Finding) {
	text := s.Syntax.Doc.Text()
	tell := func(name, why string) {
		if why != "" {
			found = append(found, s.At(s.Syntax.Doc.Pos(), "package comment names %s, %s", name, why))
		}
	}
	for _, m := range startAt.FindAllStringSubmatch(text, -1) {
		if !n.declared[s.Folder()][m[1]] && !n.declared[s.Folder()][strings.ToLower(m[1][:1])+m[1][1:]] {
			tell(m[1], "which the package does not have")
		}
	}
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, "`.,;:()\"'")
		word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "s'")
		first, _, _ := strings.Cut(word, "/")
		switch {
		case strings.Contains(word, "/") && n.top[first] && somePath.MatchString(word), someFile.MatchString(word), qualified.MatchString(word), camel.MatchString(word) && strings.IndexFunc(word[1:], unicode.IsUpper) >= 0:
			tell(word, n.missing(word))
		}
	}
	return found
}

// missing says why a word names nothing; empty for what exists, and for what names nothing of ours.
func (n known) missing(word string) string {
	word = strings.Trim(word, "`.,;:()\"'…")
	first, _, _ := strings.Cut(strings.TrimPrefix(word, "./"), "/")
	switch {
	case strings.ContainsAny(word, "<>{}=$*|") || strings.Contains(word, "://") || foreign[word] != "":
		return ""
	case somePath.MatchString(word):
		return n.missingPath(word, first)
	case someFile.MatchString(word):
		if !n.bases[word] && !strings.HasPrefix(word, "my-") && n.sourceLike(word) {
			return "a file that is not there"
		}
	case qualified.MatchString(word):
		m := qualified.FindStringSubmatch(word)
		if names := n.declared[m[1]]; names != nil && !names[m[2]] {
			return "which package " + m[1] + " does not have"
		}
	case envVar.MatchString(word), camel.MatchString(word) && strings.IndexFunc(word[1:], unicode.IsUpper) >= 0:
		if !n.words[word] && !n.words[strings.TrimSuffix(word, "s")] {
			return "which no source has"
		}
	}
	return ""
}

// sourceLike reports whether a file's name must be one of the tree's: reports and users' files are not.
func (n known) sourceLike(name string) bool {
	return strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".md")
}

// missingPath judges a path whose first element is in the root. Upper case elements stand for something else.
func (n known) missingPath(word, first string) string {
	if !n.top[first] || first == "bin" || first == "out" {
		return ""
	}
	word = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(word, "./"), "/..."), "/")
	var plain []string
	for part := range strings.SplitSeq(word, "/") {
		if part == strings.ToUpper(part) && strings.IndexFunc(part, unicode.IsLetter) >= 0 || strings.Contains(part, "NAME") {
			break
		}
		plain = append(plain, part)
	}
	word = strings.Join(plain, "/")
	if n.paths[word] {
		return ""
	}
	folder, symbol, ok := strings.Cut(path.Base(word), ".")
	if names := n.declared[path.Join(path.Dir(word), folder)]; ok && names != nil {
		if names[symbol] {
			return ""
		}
		return "which package " + path.Join(path.Dir(word), folder) + " does not have"
	}
	return "which is not there"
}

func (n known) target(name string) string {
	if n.targets[name] {
		return ""
	}
	return "which the Makefile does not have"
}
