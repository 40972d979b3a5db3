package scenarios

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// decoder reads a YAML tree into Go values by the tags that fields.go explains. It stops at the first mistake.
type decoder struct {
	file string
	// source is the file without what was lifted out of it.
	source string
	lifted lifted
	at     positions
}

// fail makes the error for the value at path.
func (d *decoder) fail(path string, n ast.Node, message, nearest string) error {
	at := d.placeOf(n)
	return &InputError{File: d.file, Line: at.line, Column: at.column, Field: path, Message: message, Nearest: nearest}
}

// value reads n into v and remembers where it stood.
func (d *decoder) value(path string, n ast.Node, v reflect.Value, tag reflect.StructTag) error {
	d.at[path] = d.placeOf(n)
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return d.fail(path, n, "anchors and aliases are not supported", "")
	case *ast.TagNode:
		return d.fail(path, n, "YAML tags are not supported", "")
	case *ast.NullNode:
		return d.fail(path, n, "has no value", "")
	}
	switch v.Type() {
	case typeStep:
		return d.step(path, n, v.Addr().Interface().(*Step))
	case typeNIC:
		if b, ok := n.(*ast.BoolNode); ok {
			v.SetString(map[bool]string{true: string(DefaultNIC), false: ""}[b.Value])
			return nil
		}
	case typeLawNames:
		return d.lawNames(path, n, v)
	case typeRows:
		return d.rows(path, n, v.Addr().Interface().(*Rows))
	}
	switch {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(path, n, v.Elem(), tag)
	case v.Kind() == reflect.Slice:
		return d.list(path, n, v, tag)
	case v.Kind() == reflect.Array:
		return d.array(path, n, v, tag)
	case v.Kind() == reflect.Struct && !isScalarStruct(v.Type()):
		return d.structure(path, n, v)
	}
	return d.scalar(path, n, v, tag)
}

// entry is one key of a mapping.
type entry struct {
	name  string
	key   ast.Node
	value ast.Node
}

// mapping lists n's entries in file order, refusing keys that are not plain words and keys given twice.
func (d *decoder) mapping(path string, n ast.Node) ([]entry, error) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, d.fail(path, n, "wants fields, not "+describe(n), "")
	}
	entries := make([]entry, 0, len(values))
	seen := map[string]bool{}
	for _, v := range values {
		name := v.Key.GetToken().Value
		if s, ok := v.Key.(*ast.StringNode); ok {
			name = s.Value
		}
		if seen[name] {
			return nil, d.fail(join(path, name), v.Key, "is given twice", "")
		}
		seen[name] = true
		value := v.Value
		if value == nil {
			value = ast.Null(v.Key.GetToken())
		}
		entries = append(entries, entry{name, v.Key, value})
	}
	return entries, nil
}

func (d *decoder) structure(path string, n ast.Node, v reflect.Value) error {
	entries, err := d.mapping(path, n)
	if err != nil {
		return err
	}
	return d.fields(path, n, v, entries)
}

// fields reads entries into the fields of v and applies its own rules.
func (d *decoder) fields(path string, n ast.Node, v reflect.Value, entries []entry) error {
	fields := fieldsOf(v.Type())
	seen := map[string]bool{}
	for _, e := range entries {
		f, ok := findField(fields, e.name)
		if !ok {
			return d.fail(path, e.key, "unknown field "+strconv.Quote(e.name), Nearest(e.name, fieldNames(fields)))
		}
		seen[f.name] = true
		if err := d.value(join(path, f.name), e.value, v.Field(f.index), f.tag); err != nil {
			return err
		}
	}
	for _, f := range fields {
		if f.required() && !seen[f.name] {
			return d.fail(join(path, f.name), n, "is missing", "")
		}
	}
	if checked, ok := v.Interface().(selfChecked); ok {
		if name, message := checked.problem(); message != "" {
			return d.failAt(join(path, name), message)
		}
	}
	return nil
}

// failAt makes the error for a path that was read before.
func (d *decoder) failAt(path, message string) error {
	at := d.at.find(path)
	return &InputError{File: d.file, Line: at.line, Column: at.column, Field: strings.TrimSuffix(path, "."), Message: message}
}

func (d *decoder) list(path string, n ast.Node, v reflect.Value, tag reflect.StructTag) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return d.fail(path, n, "wants a list, not "+describe(n), "")
	}
	if len(seq.Values) == 0 {
		v.SetZero()
		return nil
	}
	v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	return d.elements(path, seq, v, tag)
}

func (d *decoder) array(path string, n ast.Node, v reflect.Value, tag reflect.StructTag) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok || len(seq.Values) != v.Len() {
		return d.fail(path, n, fmt.Sprintf("wants a list of %d", v.Len()), "")
	}
	return d.elements(path, seq, v, tag)
}

func (d *decoder) elements(path string, seq *ast.SequenceNode, v reflect.Value, tag reflect.StructTag) error {
	for i, n := range seq.Values {
		if n == nil {
			n = ast.Null(seq.Start)
		}
		if err := d.value(path+"["+strconv.Itoa(i)+"]", n, v.Index(i), tag); err != nil {
			return err
		}
	}
	return nil
}

// scalar reads a single value. Quoted text is text, so that mtu: "1450" is a mistake; text that looks like a number or a
// truth value needs quotes.
func (d *decoder) scalar(path string, n ast.Node, v reflect.Value, tag reflect.StructTag) error {
	text, quoted := "", false
	switch n := n.(type) {
	case *ast.StringNode:
		kind := n.GetToken().Type
		text, quoted = n.Value, kind == token.SingleQuoteType || kind == token.DoubleQuoteType
	case *ast.LiteralNode:
		text, quoted = strings.TrimSuffix(n.Value.Value, "\n"), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		text = n.GetToken().Value
		if v.Kind() == reflect.String {
			return d.fail(path, n, text+" is "+describe(n)+"; put it in quotes to mean text", "")
		}
	default:
		return d.fail(path, n, "wants one value, not "+describe(n), "")
	}
	if quoted {
		switch v.Kind() {
		case reflect.Int, reflect.Int64, reflect.Uint32, reflect.Float64, reflect.Bool:
			if v.Type() != typeDuration {
				return d.fail(path, n, strconv.Quote(text)+" is text; leave the quotes out", "")
			}
		}
	}
	if err := setScalar(v, tag, text); err != nil {
		return d.fail(path, n, err.message, err.nearest)
	}
	return nil
}

// join appends a field's name to a path.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// describe names what a node is, for "wants a list, not …".
func describe(n ast.Node) string {
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

// placeOf is where a node starts in the file. The parser's own token of a block mapping is its first colon, so the first key counts.
func (d *decoder) placeOf(n ast.Node) position {
	switch m := n.(type) {
	case nil:
		return position{1, 1}
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			n = m.Values[0].Key
		}
	case *ast.MappingValueNode:
		n = m.Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return position{d.lifted.line(t.Position.Line), t.Position.Column}
	}
	return position{1, 1}
}
