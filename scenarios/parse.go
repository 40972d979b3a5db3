package scenarios

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Load reads a scenario file. Its errors are *InputError, or the operating system's for a file that cannot be read.
func Load(path string) (*Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a scenario from data; file is what errors call it. The error is an *InputError: one line, the first mistake.
// Laws are not checked here, because only a runner knows which ones exist: see SelectLaws.
func Parse(file string, data []byte) (*Scenario, error) {
	s := Default()
	s.File = file
	source := strings.TrimPrefix(string(data), "\ufeff")
	s.Goal, s.Notes = openingComment(source)
	d := &decoder{file: file, at: positions{"": {1, 1}}}
	d.source, d.lifted = liftRows(source)
	root, err := d.parseYAML()
	if err != nil {
		return nil, err
	}
	if err := d.value("", root, reflect.ValueOf(&s).Elem(), ""); err != nil {
		return nil, err
	}
	s.at = d.at
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &s, nil
}

// parseYAML reads one document. The parser has panicked on broken input in the past; to its caller that is broken input.
func (d *decoder) parseYAML() (root ast.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, &InputError{File: d.file, Line: 1, Column: 1, Message: fmt.Sprintf("not YAML: %v", r)}
		}
	}()
	tree, err := parser.ParseBytes([]byte(d.source), 0)
	if err != nil {
		return nil, d.syntaxError(err)
	}
	for _, doc := range tree.Docs {
		switch {
		case doc.Body == nil:
			continue
		case root != nil:
			return nil, &InputError{File: d.file, Line: d.placeOf(doc.Body).line, Column: 1, Message: "a scenario file holds one document"}
		}
		root = doc.Body
	}
	if root == nil {
		return nil, &InputError{File: d.file, Line: 1, Column: 1, Message: "the file holds no scenario"}
	}
	return root, nil
}

// syntaxError keeps the place and the first line of the parser's error.
func (d *decoder) syntaxError(err error) *InputError {
	e := &InputError{File: d.file, Line: 1, Column: 1, Message: "not YAML"}
	var syntax *yaml.SyntaxError
	if !errors.As(err, &syntax) {
		e.Message += ": " + oneLine(err.Error())
		return e
	}
	e.Message += ": " + syntax.Message
	if t := syntax.Token; t != nil && t.Position != nil {
		e.Line, e.Column = d.lifted.line(t.Position.Line), t.Position.Column
	}
	return e
}

// openingComment reads the comment at the top of a file: its first paragraph is the goal, further ones are notes.
// Line breaks within a paragraph mean nothing; an empty comment line ends a paragraph.
func openingComment(source string) (goal string, notes []string) {
	var paragraphs []string
	var words []string
	flush := func() {
		if len(words) > 0 {
			paragraphs = append(paragraphs, strings.Join(words, " "))
			words = nil
		}
	}
	for source != "" {
		line, rest, _ := strings.Cut(source, "\n")
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !ok {
			break
		}
		if text = strings.TrimSpace(text); text == "" {
			flush()
		}
		words = append(words, strings.Fields(text)...)
		source = rest
	}
	flush()
	if len(paragraphs) == 0 {
		return "", nil
	}
	return paragraphs[0], append([]string(nil), paragraphs[1:]...)
}
