package scenarios

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

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
	entries, err := d.mapping(path, n)
	if err != nil {
		return err
	}
	kind, err := d.verb(path, n, entries)
	if err != nil {
		return err
	}
	var own stepFields
	var triggers []string
	ownValue, ownFields := reflect.ValueOf(&own).Elem(), fieldsOf(reflect.TypeFor[stepFields]())
	action := kind.blank()
	names := append(fieldNames(ownFields), fieldNames(fieldsOf(action.Type()))...)
	var arguments []entry
	for _, e := range entries {
		f, ok := findField(ownFields, e.name)
		if !ok {
			if _, ok := findField(fieldsOf(action.Type()), e.name); !ok {
				return d.fail(path, e.key, "unknown field "+strconv.Quote(e.name)+" of "+kind.proto.Verb(), Nearest(e.name, names))
			}
			arguments = append(arguments, e)
			continue
		}
		switch e.name {
		case "at", "after", "when":
			triggers = append(triggers, e.name)
			if len(triggers) > 1 {
				return d.fail(path, e.key, "wants one of at, after and when, not both "+triggers[0]+" and "+e.name, "")
			}
		case "do":
			continue
		}
		if err := d.value(join(path, e.name), e.value, ownValue.Field(f.index), f.tag); err != nil {
			return err
		}
	}
	if err := d.fields(path, n, action, arguments); err != nil {
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
func (d *decoder) verb(path string, n ast.Node, entries []entry) (actionKind, error) {
	for _, e := range entries {
		if e.name != "do" {
			continue
		}
		d.at[join(path, "do")] = d.placeOf(e.value)
		s, ok := e.value.(*ast.StringNode)
		if !ok {
			return actionKind{}, d.fail(join(path, "do"), e.value, "wants an action, not "+describe(e.value), "")
		}
		kind, ok := findAction(s.Value)
		if !ok {
			return actionKind{}, d.fail(join(path, "do"), e.value, strconv.Quote(s.Value)+" is not an action", Nearest(s.Value, Verbs()))
		}
		return kind, nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.name
	}
	return actionKind{}, d.fail(join(path, "do"), n, "is missing", Nearest("do", names))
}

// lawNames reads all, or a list of at least one name.
func (d *decoder) lawNames(path string, n ast.Node, v reflect.Value) error {
	if s, ok := n.(*ast.StringNode); ok {
		if s.Value != "all" {
			return d.fail(path, n, strconv.Quote(s.Value)+" is neither all nor a list of laws", Nearest(s.Value, []string{"all"}))
		}
		v.SetZero()
		return nil
	}
	seq, ok := n.(*ast.SequenceNode)
	if !ok || len(seq.Values) == 0 {
		return d.fail(path, n, "wants all or a list of at least one law", "")
	}
	v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	return d.elements(path, seq, v, `pattern:"word"`)
}

// rows reads a workload's block scalar, whose lines keep their own places in the file.
func (d *decoder) rows(path string, n ast.Node, rows *Rows) error {
	at := d.placeOf(n)
	text, line, indent := "", at.line, at.column-1
	switch n := n.(type) {
	case *ast.LiteralNode:
		text, line = n.Value.Value, at.line+1
		if d.lifted.lines > 0 && at.line == d.lifted.header {
			text, indent = d.lifted.text, 0
		} else {
			indent = d.indentAt(line)
		}
	case *ast.StringNode:
		text = n.Value
	default:
		return d.fail(path, n, "wants rows in a block scalar (rows: |), not "+describe(n), "")
	}
	pods, err := parseRows(text)
	if err != nil {
		err.File, err.Field = d.file, path
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
