package scenarios

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// decoder reads scenario files.
type decoder struct {
	strictyaml.Decoder
	// source is the file without what was lifted out of it.
	source string
	lifted lifted
}

// special reads what a scenario spells in its own way.
func (d *decoder) special(path string, n ast.Node, v reflect.Value) (done bool, err error) {
	switch v.Type() {
	case typeStep:
		return true, d.step(path, n, v.Addr().Interface().(*Step))
	case typeNIC:
		if b, ok := n.(*ast.BoolNode); ok {
			v.SetString(map[bool]string{true: string(DefaultNIC), false: ""}[b.Value])
			return true, nil
		}
	case typeLawNames:
		return true, d.lawNames(path, n, v)
	case typeRows:
		return true, d.rows(path, n, v.Addr().Interface().(*Rows))
	}
	return false, nil
}

// problemOf asks a decoded value for what is wrong between its fields.
func problemOf(v reflect.Value) (field, message string) {
	if checked, ok := v.Interface().(selfChecked); ok {
		return checked.problem()
	}
	return "", ""
}

// stepFields are a timeline item's fields beside its action's arguments.
type stepFields struct {
	At       time.Duration `yaml:"at" doc:"Time since the start."`
	After    time.Duration `yaml:"after" doc:"Time since the previous item was done; 0s when none of at, after and when is given."`
	When     string        `yaml:"when" enum:"settled" doc:"Waits until the cluster is quiet."`
	Optional bool          `yaml:"optional" doc:"Skipped where the action makes no sense at that time."`
	Do       string        `yaml:"do" required:"true" pattern:"word" doc:"The action's verb."`
}

// step reads one timeline item: {at: 10s, do: restart-vpp, node: node-2}.
func (d *decoder) step(path string, n ast.Node, s *Step) error {
	entries, err := d.Mapping(path, n)
	if err != nil {
		return err
	}
	kind, err := d.verb(path, n, entries)
	if err != nil {
		return err
	}
	var own stepFields
	var triggers []string
	ownValue, ownFields := reflect.ValueOf(&own).Elem(), strictyaml.Fields(reflect.TypeFor[stepFields]())
	action := kind.blank()
	names := append(strictyaml.Names(ownFields), strictyaml.Names(strictyaml.Fields(action.Type()))...)
	var arguments []strictyaml.Entry
	for _, e := range entries {
		f, ok := strictyaml.FieldNamed(ownFields, e.Name)
		if !ok {
			if _, ok := strictyaml.FieldNamed(strictyaml.Fields(action.Type()), e.Name); !ok {
				return d.Fail(path, e.Key, "unknown field "+strconv.Quote(e.Name)+" of "+kind.proto.Verb(), strictyaml.Nearest(e.Name, names))
			}
			arguments = append(arguments, e)
			continue
		}
		switch e.Name {
		case "at", "after", "when":
			triggers = append(triggers, e.Name)
			if len(triggers) > 1 {
				return d.Fail(path, e.Key, "wants one of at, after and when, not both "+triggers[0]+" and "+e.Name, "")
			}
		case "do":
			continue
		}
		if err := d.Value(strictyaml.Join(path, e.Name), e.Value, ownValue.FieldByIndex(f.Index), f.Tag); err != nil {
			return err
		}
	}
	if err := d.Fill(path, n, action, arguments); err != nil {
		return err
	}
	*s = Step{Trigger: AfterPrevious, Time: own.After, Optional: own.Optional, Action: action.Interface().(Action)}
	if len(triggers) == 1 {
		switch triggers[0] {
		case "at":
			s.Trigger, s.Time = AtTime, own.At
		case "when":
			s.Trigger = WhenSettled
		}
	}
	return nil
}

// verb finds the action that an item's do names.
func (d *decoder) verb(path string, n ast.Node, entries []strictyaml.Entry) (actionKind, error) {
	for _, e := range entries {
		if e.Name != "do" {
			continue
		}
		d.At[strictyaml.Join(path, "do")] = d.Place(e.Value)
		s, ok := e.Value.(*ast.StringNode)
		if !ok {
			return actionKind{}, d.Fail(strictyaml.Join(path, "do"), e.Value, "wants an action, not "+strictyaml.Describe(e.Value), "")
		}
		kind, ok := findAction(s.Value)
		if !ok {
			return actionKind{}, d.Fail(strictyaml.Join(path, "do"), e.Value, strconv.Quote(s.Value)+" is not an action", nearestVerb(s.Value))
		}
		return kind, nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return actionKind{}, d.Fail(strictyaml.Join(path, "do"), n, "is missing", strictyaml.Nearest("do", names))
}

// lawNames reads all, or a list of at least one name.
func (d *decoder) lawNames(path string, n ast.Node, v reflect.Value) error {
	if s, ok := n.(*ast.StringNode); ok {
		if s.Value != "all" {
			return d.Fail(path, n, strconv.Quote(s.Value)+" is neither all nor a list of laws", strictyaml.Nearest(s.Value, []string{"all"}))
		}
		v.SetZero()
		return nil
	}
	seq, ok := n.(*ast.SequenceNode)
	if !ok || len(seq.Values) == 0 {
		return d.Fail(path, n, "wants all or a list of at least one law", "")
	}
	v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	return d.Elements(path, seq, v, `pattern:"word"`)
}

// rows reads a workload's block scalar, whose lines keep their own places in the file.
func (d *decoder) rows(path string, n ast.Node, rows *Rows) error {
	at := d.Place(n)
	text, line, indent := "", at.Line, at.Column-1
	switch n := n.(type) {
	case *ast.LiteralNode:
		text, line = n.Value.Value, at.Line+1
		if d.lifted.lines > 0 && at.Line == d.lifted.header {
			text, indent = d.lifted.text, 0
		} else {
			indent = d.indentAt(line)
		}
	case *ast.StringNode:
		text = n.Value
	default:
		return d.Fail(path, n, "wants rows in a block scalar (rows: |), not "+strictyaml.Describe(n), "")
	}
	pods, err := parseRows(text)
	if err != nil {
		err.File, err.Field = d.File, path
		err.Line, err.Column = err.Line+line-1, err.Column+indent
		return err
	}
	*rows = pods
	return nil
}

// indentAt is the indentation of the first line that is not empty, from the given one on.
func (d *decoder) indentAt(line int) int {
	offset := 0
	for range line - 1 {
		offset = lineEnd(d.source, offset)
	}
	for offset < len(d.source) {
		end := lineEnd(d.source, offset)
		if text := d.source[offset:end]; strings.TrimSpace(text) != "" {
			return indentOf(text)
		}
		offset = end
	}
	return 0
}
