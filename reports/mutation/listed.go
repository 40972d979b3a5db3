package mutation

import (
	"fmt"
	"go/ast"
	"os"
	"regexp"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// listedKind is the kind of the faults that a file lists.
const listedKind = "listed"

// Listed is a fault that a file names, because it is one of those that must be seen: a text of the product and what
// stands there with the fault. Both are statements, or both expressions of one type that can be evaluated together.
type Listed struct {
	// Name is lower case words joined by hyphens, Why one sentence: what goes wrong.
	Name string `yaml:"name" required:"true"`
	Why  string `yaml:"why" required:"true"`
	// File is relative to the root, with slashes. Before stands in it once.
	File   string `yaml:"file" required:"true"`
	Before string `yaml:"before" required:"true"`
	// After is empty where the fault is that the statements are not there.
	After string `yaml:"after"`
}

// ParseListed reads a file of faults. The name is only used in errors.
func ParseListed(file string, text []byte) ([]Listed, error) {
	var list struct {
		Faults []Listed `yaml:"faults" required:"true"`
	}
	d := strictyaml.Decoder{File: file}
	if err := d.Decode(text, "list of faults", &list); err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, f := range list.Faults {
		if named[f.Name] {
			return nil, fmt.Errorf("%s: %s is listed twice", file, f.Name)
		}
		named[f.Name] = true
	}
	return list.Faults, nil
}

// FindListed returns the faults that a file lists as places of the tree at root, with their switches' numbers from 1.
// One whose text is not in its file any more, or more than once, is an error.
func FindListed(root, file string) ([]*Mutant, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	list, err := ParseListed(file, text)
	if err != nil {
		return nil, err
	}
	sources, err := load(root)
	if err != nil {
		return nil, err
	}
	by := map[string]*source{}
	for _, s := range sources {
		by[s.path] = s
	}
	var all []*Mutant
	for i := range list {
		m, err := list[i].in(by[list[i].File])
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, list[i].Name, err)
		}
		all = append(all, m)
	}
	return inOrder(all), nil
}

// in finds the fault's place.
func (f *Listed) in(s *source) (*Mutant, error) {
	if s == nil {
		return nil, fmt.Errorf("%s is no file of the product", f.File)
	}
	found := indented(f.Before).FindAllIndex(s.text, -1)
	if len(found) != 1 {
		return nil, fmt.Errorf("%q stands in %s %d times, want once", f.Before, f.File, len(found))
	}
	from, to := found[0][0], found[0][1]
	c, value := f.around(s, from, to)
	if c == nil {
		return nil, fmt.Errorf("%q is no whole statement or expression of a function of %s", f.Before, f.File)
	}
	c.kind = listedKind
	c.plant(c.node, []edit{{from: from, to: to, text: f.After}}, func(on string, number int) []edit {
		if value {
			return around(from, to, helper("Other", number), ", "+f.After+")")
		}
		return around(from, to, "if !"+on+" { ", " } else { "+f.After+" }")
	})
	m := c.found[0]
	m.Name = f.Name
	return m, nil
}

// indented matches a text however its lines are indented.
func indented(text string) *regexp.Regexp {
	lines := strings.Split(tidy(text), "\n")
	for i := range lines {
		lines[i] = regexp.QuoteMeta(lines[i])
	}
	return regexp.MustCompile(strings.Join(lines, `\s*\n\s*`))
}

// around finds the first node of text[from:to], and whether that text is a value: one expression that is no statement.
// No cursor when it is not whole nodes of one function.
func (f *Listed) around(s *source, from, to int) (c *cursor, value bool) {
	for _, d := range s.syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		end := -1
		ast.PreorderStack(fn, nil, func(n ast.Node, stack []ast.Node) bool {
			at, behind := s.offset(n.Pos()), s.offset(n.End())
			if len(stack) == 0 || behind <= from || at >= to {
				return len(stack) == 0
			}
			if at >= from && behind <= to {
				e, is := n.(ast.Expr)
				if c == nil && at == from {
					c = &cursor{src: s, node: n, stack: append([]ast.Node(nil), stack...)}
					value = is && behind == to && s.info.Types[e].IsValue()
				}
				end = max(end, behind)
				return false
			}
			return true
		})
		if c != nil && end == to {
			return c, value
		}
		c = nil
	}
	return nil, false
}

// listed is a trial of a listed fault as a line: its name, and the law that told of it.
func (t *Trial) listed() string {
	if t.Outcome != Caught {
		return fmt.Sprintf("%s\t%s\t", t.Name, t.told())
	}
	return fmt.Sprintf("%s\t%s\t%s seed %d: %s", t.Name, t.By, strings.TrimSuffix(t.Scenario, ".yaml"), t.Seed, t.What)
}
