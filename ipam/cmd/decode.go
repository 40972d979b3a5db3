package cmd

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/vppdrill/vppdrill/scenarios"
)

// decoder reads a YAML tree into Go values by the tags yaml, required, min, max and enum, which mean what they mean in package
// scenarios. It stops at the first mistake. Prefixes of both families are accepted.
type decoder struct {
	file string
	// given are the places of what the file holds, by path.
	given map[string]position
}

// position is a place in a file, both counted from 1.
type position struct{ line, column int }

func (d *decoder) fail(path string, n ast.Node, nearest, format string, args ...any) error {
	line, column := place(n)
	return &scenarios.InputError{File: d.file, Line: line, Column: column, Field: path, Message: fmt.Sprintf(format, args...), Nearest: nearest}
}

// tree parses one document. The parser has panicked on broken input in the past; to its caller that is broken input.
func tree(file string, data []byte) (root ast.Node, err error) {
	wrong := func(line, column int, format string, args ...any) error {
		return &scenarios.InputError{File: file, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
	}
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, wrong(1, 1, "not YAML: %v", r)
		}
	}()
	parsed, err := parser.ParseBytes([]byte(strings.TrimPrefix(string(data), "\ufeff")), 0)
	var syntax *yaml.SyntaxError
	switch {
	case errors.As(err, &syntax):
		line, column := 1, 1
		if t := syntax.Token; t != nil && t.Position != nil {
			line, column = t.Position.Line, t.Position.Column
		}
		return nil, wrong(line, column, "not YAML: %s", syntax.Message)
	case err != nil:
		return nil, wrong(1, 1, "not YAML: %v", err)
	}
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			line, _ := place(doc.Body)
			return nil, wrong(line, 1, "the file holds more than one document")
		}
		root = doc.Body
	}
	if root == nil {
		return nil, wrong(1, 1, "the file holds nothing")
	}
	return root, nil
}

// place is where a node starts. The parser's own token of a block mapping is its first colon, so the first key counts.
func place(n ast.Node) (line, column int) {
	switch m := n.(type) {
	case nil:
		return 1, 1
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			n = m.Values[0].Key
		}
	case *ast.MappingValueNode:
		n = m.Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line, t.Position.Column
	}
	return 1, 1
}

// entry is one key of a mapping.
type entry struct {
	name       string
	key, value ast.Node
}

func (d *decoder) mapping(path string, n ast.Node) ([]entry, error) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, d.fail(path, n, "", "wants fields")
	}
	var list []entry
	for _, v := range values {
		name := v.Key.GetToken().Value
		if s, ok := v.Key.(*ast.StringNode); ok {
			name = s.Value
		}
		if slices.ContainsFunc(list, func(e entry) bool { return e.name == name }) {
			return nil, d.fail(join(path, name), v.Key, "", "is given twice")
		}
		value := v.Value
		if value == nil {
			value = ast.Null(v.Key.GetToken())
		}
		list = append(list, entry{name, v.Key, value})
	}
	return list, nil
}

// field is one field of a struct; an embedded struct's fields are among those of the outer one, which take precedence.
type field struct {
	name  string
	index []int
	tag   reflect.StructTag
}

func fieldsOf(t reflect.Type) []field {
	var own, inner []field
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		switch {
		case f.Anonymous && name == ",inline":
			for _, g := range fieldsOf(f.Type) {
				inner = append(inner, field{g.name, append([]int{i}, g.index...), g.tag})
			}
		case name != "" && name != "-":
			own = append(own, field{name, []int{i}, f.Tag})
		}
	}
	for _, g := range inner {
		if !slices.ContainsFunc(own, func(f field) bool { return f.name == g.name }) {
			own = append(own, g)
		}
	}
	return own
}

// value reads n into v.
func (d *decoder) value(path string, n ast.Node, v reflect.Value, tag reflect.StructTag) error {
	line, column := place(n)
	d.given[path] = position{line, column}
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
		return d.fail(path, n, "", "anchors, aliases and tags are not supported")
	case *ast.NullNode, nil:
		return d.fail(path, n, "", "has no value")
	}
	switch {
	case v.Kind() == reflect.Slice:
		list, ok := n.(*ast.SequenceNode)
		if !ok {
			return d.fail(path, n, "", "wants a list")
		}
		v.Set(reflect.MakeSlice(v.Type(), len(list.Values), len(list.Values)))
		for i, item := range list.Values {
			if err := d.value(path+"["+strconv.Itoa(i)+"]", item, v.Index(i), tag); err != nil {
				return err
			}
		}
		return nil
	case v.Kind() == reflect.Struct && v.Type() != typePrefix && v.Type() != typeAddr:
		return d.structure(path, n, v)
	}
	return d.scalar(path, n, v, tag)
}

var (
	typePrefix   = reflect.TypeFor[netip.Prefix]()
	typeAddr     = reflect.TypeFor[netip.Addr]()
	typeDuration = reflect.TypeFor[time.Duration]()
)

func (d *decoder) structure(path string, n ast.Node, v reflect.Value) error {
	entries, err := d.mapping(path, n)
	if err != nil {
		return err
	}
	fields := fieldsOf(v.Type())
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	for _, e := range entries {
		i := slices.Index(names, e.name)
		if i < 0 {
			return d.fail(path, e.key, scenarios.Nearest(e.name, names), "unknown field %q", e.name)
		}
		if err := d.value(join(path, e.name), e.value, v.FieldByIndex(fields[i].index), fields[i].tag); err != nil {
			return err
		}
	}
	for _, f := range fields {
		if _, given := d.given[join(path, f.name)]; f.tag.Get("required") == "true" && !given {
			return d.fail(join(path, f.name), n, "", "is missing")
		}
	}
	return nil
}

func (d *decoder) scalar(path string, n ast.Node, v reflect.Value, tag reflect.StructTag) error {
	text, quoted := "", false
	switch n := n.(type) {
	case *ast.StringNode:
		kind := n.GetToken().Type
		text, quoted = n.Value, kind == token.SingleQuoteType || kind == token.DoubleQuoteType
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		text = n.GetToken().Value
	default:
		return d.fail(path, n, "", "wants one value")
	}
	if quoted && (v.Kind() == reflect.Int || v.Kind() == reflect.Bool) {
		return d.fail(path, n, "", "%q is text; leave the quotes out", text)
	}
	message, nearest := set(v, tag, text)
	if message != "" {
		return d.fail(path, n, nearest, "%q %s", text, message)
	}
	return nil
}

// set reads text into v, or says what is wrong with it.
func set(v reflect.Value, tag reflect.StructTag, text string) (message, nearest string) {
	switch v.Type() {
	case typePrefix:
		return setPrefix(v, text)
	case typeAddr:
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return "is not an address", ""
		}
		v.Set(reflect.ValueOf(a.Unmap()))
		return "", ""
	case typeDuration:
		t, err := scenarios.ParseDuration(text)
		if err != nil || t < 0 {
			return "is not a duration such as 10s, 5m, 1h30m or 3d", ""
		}
		v.SetInt(int64(t))
		return "", ""
	}
	switch v.Kind() {
	case reflect.String:
		if words := tag.Get("enum"); words != "" && !slices.Contains(strings.Split(words, ","), text) {
			return "is none of " + strings.ReplaceAll(words, ",", ", "), scenarios.Nearest(text, strings.Split(words, ","))
		}
		v.SetString(text)
	case reflect.Bool:
		if text != "true" && text != "false" {
			return "is not true or false", scenarios.Nearest(text, []string{"true", "false"})
		}
		v.SetBool(text == "true")
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return "is not a whole number", ""
		}
		for _, bound := range [...]struct {
			tag, word string
			broken    func(limit int) bool
		}{
			{"min", "less", func(limit int) bool { return n < limit }}, {"max", "more", func(limit int) bool { return n > limit }},
		} {
			if limit, err := strconv.Atoi(tag.Get(bound.tag)); err == nil && bound.broken(limit) {
				return fmt.Sprintf("is %s than %d", bound.word, limit), ""
			}
		}
		v.SetInt(int64(n))
	default:
		panic(fmt.Sprintf("ipam/cmd: no scalar of type %s", v.Type()))
	}
	return "", ""
}

func setPrefix(v reflect.Value, text string) (message, nearest string) {
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
			return "is an address, not a prefix", netip.PrefixFrom(a, naturalBits(a)).String()
		}
		return "is not a prefix", ""
	case p.Addr().Is4In6():
		return "is IPv4 in IPv6; write it as IPv4", ""
	case p != p.Masked():
		return "has host bits set", p.Masked().String()
	}
	v.Set(reflect.ValueOf(p))
	return "", ""
}

// naturalBits is the shortest length in whole bytes that leaves no host bits: 16 for 10.1.0.0.
func naturalBits(a netip.Addr) int {
	bits := a.BitLen()
	for bits > 8 && netip.PrefixFrom(a, bits-8).Masked().Addr() == a {
		bits -= 8
	}
	return bits
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
