package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/oneline"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Tree parses a file's only document; what names what it should hold, as "scenario". nil is an empty file where that is
// allowed. The parser has panicked on broken input in the past; to its caller that is broken input.
func (d *Decoder) Tree(data []byte, what string) (root ast.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, &Error{File: d.File, Line: 1, Column: 1, Message: fmt.Sprintf("not YAML: %v", r)}
		}
	}()
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return nil, &Error{File: d.File, Line: 1, Column: 1, Message: "it is UTF-16, as > of Windows PowerShell writes: want UTF-8"}
	}
	if err := d.bounded(data); err != nil {
		return nil, err
	}
	parsed, err := parser.ParseBytes([]byte(strings.TrimPrefix(string(data), "\ufeff")), 0)
	if err != nil {
		return nil, d.syntaxError(err)
	}
	for _, doc := range parsed.Docs {
		switch {
		case doc.Body == nil:
			continue
		case root != nil:
			return nil, &Error{File: d.File, Line: d.Place(doc.Body).Line, Column: 1, Message: "the file holds more than one document"}
		}
		root = doc.Body
	}
	if root == nil && !d.MayBeEmpty {
		return nil, &Error{File: d.File, Line: 1, Column: 1, Message: "the file holds no " + what}
	}
	return root, nil
}

// syntaxError keeps the place and the first line of the parser's error.
func (d *Decoder) syntaxError(err error) *Error {
	e := &Error{File: d.File, Line: 1, Column: 1, Message: "not YAML"}
	var syntax *yaml.SyntaxError
	if !errors.As(err, &syntax) {
		e.Message += ": " + oneline.Text(err.Error())
		return e
	}
	e.Message += ": " + syntax.Message
	if t := syntax.Token; t != nil && t.Position != nil {
		e.Line, e.Column = d.line(t.Position.Line), t.Position.Column
	}
	return e
}

// Place is where a node starts in the file. The parser's own token of a block mapping is its first colon, so the first
// key counts.
func (d *Decoder) Place(n ast.Node) Position {
	switch m := n.(type) {
	case nil:
		return Position{1, 1}
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			n = m.Values[0].Key
		}
	case *ast.MappingValueNode:
		n = m.Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return Position{d.line(t.Position.Line), t.Position.Column}
	}
	return Position{1, 1}
}

func (d *Decoder) line(n int) int {
	if d.Line == nil {
		return n
	}
	return d.Line(n)
}

// Describe names what a node is, for "wants a list, not …".
func Describe(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "fields"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "a truth value"
	case *ast.NullNode, nil:
		return "nothing"
	}
	return "that"
}

// Entry is one key of a mapping.
type Entry struct {
	Name       string
	Key, Value ast.Node
}

// Mapping lists n's entries in file order, refusing keys that are not plain words and keys given twice.
func (d *Decoder) Mapping(path string, n ast.Node) ([]Entry, error) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, d.Fail(path, n, "wants fields, not "+Describe(n), "")
	}
	entries := make([]Entry, 0, len(values))
	seen := map[string]bool{}
	for _, v := range values {
		name := v.Key.GetToken().Value
		if s, ok := v.Key.(*ast.StringNode); ok {
			name = s.Value
		}
		if id := d.key(name); seen[id] {
			if err := d.keep(d.Fail(Join(path, name), v.Key, "is given twice", "")); err != nil {
				return nil, err
			}
			continue
		} else {
			seen[id] = true
		}
		value := v.Value
		if value == nil {
			value = ast.Null(v.Key.GetToken())
		}
		entries = append(entries, Entry{name, v.Key, value})
	}
	return entries, nil
}
