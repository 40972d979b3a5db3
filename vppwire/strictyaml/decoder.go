package strictyaml

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Decoder reads YAML trees into Go values. Its zero value is the strictest.
type Decoder struct {
	// File is what errors call the input.
	File string
	// At receives where each value stood, by path, when it is not nil.
	At Positions
	// Line turns a line of the parsed text into one of the file; nil: they are the same.
	Line func(int) int
	// Scalar reads the text of one value into v, when it knows v's type; done is false for the types that Set knows.
	Scalar func(v reflect.Value, tag reflect.StructTag, text string) (done bool, err *ValueError)
	// Special reads values that are no scalar, list or struct of fields, when it knows v's type.
	Special func(path string, n ast.Node, v reflect.Value) (done bool, err error)
	// More, where set, gives fields that a struct has beside those of its type, in the order in which errors name them.
	More func(v reflect.Value) []Member
	// Check says what is wrong between the fields of a struct that was read; field is "" for the struct as a whole.
	Check func(v reflect.Value) (field, message string)

	// All: decoding goes on behind a mistake; Decode returns all of them joined, in file order.
	All bool
	// MayBeEmpty: an empty file changes nothing.
	MayBeEmpty bool
	// NullIsDefault: "key:" without a value changes nothing.
	NullIsDefault bool
	// GoNames: a field without a yaml tag has its Go name, and every embedded struct's fields are the outer one's.
	GoNames bool
	// AnyCase: the case of names does not matter.
	AnyCase bool
	// Known are further names of fields, as lower case for AnyCase, by what they are called in older files.
	Known map[string]string

	found []error
}

// Decode reads data, a file's content, into the struct that into points to; what names what the file should hold. The
// errors are *Error.
func (d *Decoder) Decode(data []byte, what string, into any) error {
	root, err := d.Tree(data, what)
	if err != nil || root == nil {
		return err
	}
	if err := d.keep(d.Value("", root, reflect.ValueOf(into).Elem(), "")); err != nil {
		return err
	}
	return errors.Join(d.found...)
}

// keep returns the mistake, or puts it aside when decoding goes on.
func (d *Decoder) keep(err error) error {
	if err == nil || !d.All {
		return err
	}
	d.found = append(d.found, err)
	return nil
}

// Fail makes the error for the value at path.
func (d *Decoder) Fail(path string, n ast.Node, message, nearest string) error {
	at := d.Place(n)
	return &Error{File: d.File, Line: at.Line, Column: at.Column, Field: path, Message: message, Nearest: nearest}
}

// failAt makes the error for a path that was read before.
func (d *Decoder) failAt(path, message string) error {
	at := d.At.Find(path)
	return &Error{File: d.File, Line: at.Line, Column: at.Column, Field: strings.TrimSuffix(path, "."), Message: message}
}

// Value reads n into v and remembers where it stood.
func (d *Decoder) Value(path string, n ast.Node, v reflect.Value, tag reflect.StructTag) error {
	if d.At != nil {
		d.At[path] = d.Place(n)
	}
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return d.Fail(path, n, "anchors and aliases are not supported", "")
	case *ast.TagNode:
		return d.Fail(path, n, "YAML tags are not supported", "")
	case *ast.NullNode, nil:
		if d.NullIsDefault {
			return nil
		}
		return d.Fail(path, n, "has no value", "")
	}
	if d.Special != nil {
		if done, err := d.Special(path, n, v); done || err != nil {
			return err
		}
	}
	switch {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.Value(path, n, v.Elem(), tag)
	case v.Kind() == reflect.Slice:
		return d.list(path, n, v, tag)
	case v.Kind() == reflect.Array:
		return d.array(path, n, v, tag)
	case v.Kind() == reflect.Struct && len(d.fields(v.Type())) > 0:
		entries, err := d.Mapping(path, n)
		if err != nil {
			return err
		}
		return d.Fill(path, n, v, entries)
	}
	return d.scalar(path, n, v, tag)
}

// key is what names are compared by.
func (d *Decoder) key(name string) string {
	if d.AnyCase {
		name = strings.ToLower(name)
	}
	if other, ok := d.Known[name]; ok {
		return other
	}
	return name
}

func (d *Decoder) fields(t reflect.Type) []Field { return fieldsOf(t, d.GoNames) }

// member finds the field that a file calls name.
func (d *Decoder) member(all []Member, name string) (Member, bool) {
	name = d.key(name)
	for _, m := range all {
		if m.Name == name || d.AnyCase && strings.ToLower(m.Name) == name {
			return m, true
		}
	}
	return Member{}, false
}

// Fill reads entries into the fields of v and applies its own rules.
func (d *Decoder) Fill(path string, n ast.Node, v reflect.Value, entries []Entry) error {
	all := membersOf(v, d.fields(v.Type()))
	if d.More != nil {
		all = append(all, d.More(v)...)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		m, ok := d.member(all, e.Name)
		var err error
		if !ok {
			names := make([]string, len(all))
			for i, m := range all {
				names[i] = m.Name
			}
			err = d.Fail(path, e.Key, "unknown field "+strconv.Quote(e.Name), Nearest(e.Name, names))
		} else {
			seen[m.Name] = true
			err = d.Value(Join(path, m.Name), e.Value, m.Value, m.Tag)
		}
		if err := d.keep(err); err != nil {
			return err
		}
	}
	for _, m := range all {
		if m.Required() && !seen[m.Name] {
			return d.Fail(Join(path, m.Name), n, "is missing", "")
		}
	}
	if d.Check != nil {
		if name, message := d.Check(v); message != "" {
			return d.failAt(Join(path, name), message)
		}
	}
	return nil
}

func (d *Decoder) list(path string, n ast.Node, v reflect.Value, tag reflect.StructTag) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return d.Fail(path, n, "wants a list, not "+Describe(n), "")
	}
	if len(seq.Values) == 0 {
		v.SetZero()
		return nil
	}
	v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	return d.Elements(path, seq, v, tag)
}

func (d *Decoder) array(path string, n ast.Node, v reflect.Value, tag reflect.StructTag) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok || len(seq.Values) != v.Len() {
		return d.Fail(path, n, fmt.Sprintf("wants a list of %d", v.Len()), "")
	}
	return d.Elements(path, seq, v, tag)
}

// Elements reads the elements of a list into v, which has as many.
func (d *Decoder) Elements(path string, seq *ast.SequenceNode, v reflect.Value, tag reflect.StructTag) error {
	for i, n := range seq.Values {
		if n == nil {
			n = ast.Null(seq.Start)
		}
		if err := d.keep(d.Value(path+"["+strconv.Itoa(i)+"]", n, v.Index(i), tag)); err != nil {
			return err
		}
	}
	return nil
}

var typeDuration = reflect.TypeFor[time.Duration]()

// scalar reads a single value. Quoted text is text, so that mtu: "1450" is a mistake; text that looks like a number or
// a truth value needs quotes.
func (d *Decoder) scalar(path string, n ast.Node, v reflect.Value, tag reflect.StructTag) error {
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
			return d.Fail(path, n, text+" is "+Describe(n)+"; put it in quotes to mean text", "")
		}
	default:
		return d.Fail(path, n, "wants one value, not "+Describe(n), "")
	}
	if quoted && v.Type() != typeDuration && (v.CanInt() || v.CanUint() || v.CanFloat() || v.Kind() == reflect.Bool) {
		return d.Fail(path, n, strconv.Quote(text)+" is text; leave the quotes out", "")
	}
	done, err := false, (*ValueError)(nil)
	if d.Scalar != nil {
		done, err = d.Scalar(v, tag, text)
	}
	if !done && err == nil {
		err = Set(v, tag, text)
	}
	if err != nil {
		return d.Fail(path, n, err.Message, err.Nearest)
	}
	return nil
}
