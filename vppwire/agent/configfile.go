package agent

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ParseConfig reads a configuration file in Contiv's format, applies defaults and validates. Keys are those of Config,
// in any case; a key that does not exist, is given twice or has a value of the wrong type is an error "file:line:column:"
// with the nearest key that exists. The name is only used in errors.
func ParseConfig(file string, yaml []byte) (Config, error) {
	cfg := Config{TCPChecksumOffloadDisabled: true}
	d := decoder{file: file}
	tree, err := parser.ParseBytes(yaml, 0)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	for _, doc := range tree.Docs {
		if doc.Body != nil {
			d.value(reflect.ValueOf(&cfg).Elem(), doc.Body)
		}
	}
	if len(d.found) > 0 {
		return Config{}, errors.Join(d.found...)
	}
	cfg.ApplyDefaults()
	if err := cfg.Validate(); err != nil {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	if err := cfg.ApplyIPAMConfig(); err != nil {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	return cfg, nil
}

// otherNames are keys of older files, by the keys that they mean; all in lower case.
var otherNames = map[string]string{
	"podnetworkprefixlen":     "podsubnetonenodeprefixlen",
	"vpphostnetworkprefixlen": "vpphostsubnetonenodeprefixlen",
}

// decoder turns YAML into a Config and collects what is wrong with it, in file order.
type decoder struct {
	file  string
	found []error
}

func (d *decoder) refuse(n ast.Node, format string, args ...any) {
	line, column := 0, 0
	if t := n.GetToken(); t != nil && t.Position != nil {
		line, column = t.Position.Line, t.Position.Column
	}
	d.found = append(d.found, fmt.Errorf("%s:%d:%d: %s", d.file, line, column, fmt.Sprintf(format, args...)))
}

var durationType = reflect.TypeFor[time.Duration]()

// value sets one field of any type that Config is made of.
func (d *decoder) value(to reflect.Value, n ast.Node) {
	if _, ok := n.(*ast.NullNode); ok {
		return // "key:" without a value leaves the default, as in Contiv
	}
	switch {
	case to.Type() == durationType:
		d.duration(to, n)
		return
	case to.Kind() == reflect.Struct:
		d.mapping(to, n)
		return
	case to.Kind() == reflect.Slice:
		d.sequence(to, n)
		return
	}
	text, ok := scalar(n)
	if !ok {
		d.refuse(n, "want %s", wanted(to))
		return
	}
	switch to.Kind() {
	case reflect.Bool:
		b, isBool := n.(*ast.BoolNode)
		if !isBool {
			d.refuse(n, "%q: want %s", text, wanted(to))
			return
		}
		to.SetBool(b.Value)
	case reflect.String:
		to.SetString(text)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		u, err := strconv.ParseUint(text, 10, to.Type().Bits())
		if err != nil {
			d.refuse(n, "%q: want %s", text, wanted(to))
			return
		}
		to.SetUint(u)
	case reflect.Int:
		i, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			d.refuse(n, "%q: want %s", text, wanted(to))
			return
		}
		to.SetInt(i)
	default:
		panic(fmt.Sprintf("agent: configuration field of type %s", to.Type()))
	}
}

func wanted(to reflect.Value) string {
	switch to.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a word"
	case reflect.Int:
		return "a number"
	}
	return "a number from 0 to " + strconv.FormatUint(1<<to.Type().Bits()-1, 10)
}

// scalar is a node's text, false for what is not a scalar.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value), true
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func (d *decoder) duration(to reflect.Value, n ast.Node) {
	text, _ := scalar(n)
	v, err := time.ParseDuration(text)
	if err != nil {
		d.refuse(n, "%q: want a duration, as 10m or 1m30s", text)
		return
	}
	to.SetInt(int64(v))
}

func (d *decoder) sequence(to reflect.Value, n ast.Node) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		d.refuse(n, "want a list")
		return
	}
	for _, item := range list.Values {
		one := reflect.New(to.Type().Elem()).Elem()
		d.value(one, item)
		to.Set(reflect.Append(to, one))
	}
}

func (d *decoder) mapping(to reflect.Value, n ast.Node) {
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		d.refuse(n, "want keys with values")
		return
	}
	fields := fieldsOf(to)
	given := map[string]bool{}
	for _, pair := range pairs {
		key := pair.Key.String()
		if text, ok := scalar(pair.Key); ok {
			key = text
		}
		name := strings.ToLower(key)
		if other, ok := otherNames[name]; ok {
			name = other
		}
		i := slices.IndexFunc(fields, func(f field) bool { return strings.ToLower(f.name) == name })
		switch {
		case i < 0:
			d.refuse(pair.Key, "unknown key %q, the nearest is %q", key, nearest(name, fields))
		case given[name]:
			d.refuse(pair.Key, "key %q is given twice", key)
		default:
			given[name] = true
			d.value(fields[i].value, pair.Value)
		}
	}
}

// field is one key of a mapping and where its value goes.
type field struct {
	name  string
	value reflect.Value
}

// fieldsOf lists a struct's keys: the yaml tag or the Go name; embedded structs' keys count as their parent's.
func fieldsOf(v reflect.Value) []field {
	var fields []field
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			fields = append(fields, fieldsOf(v.Field(i))...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" {
			name = f.Name
		}
		fields = append(fields, field{name: name, value: v.Field(i)})
	}
	return fields
}

// nearest is the key that takes the fewest edits to get to.
func nearest(name string, fields []field) string {
	best, least := "", 0
	for _, f := range fields {
		if n := distance(name, strings.ToLower(f.name)); best == "" || n < least {
			best, least = f.name, n
		}
	}
	return best
}

// distance counts insertions, deletions and replacements between two words (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
