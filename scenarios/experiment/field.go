package experiment

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// unknownField is a part of a path that a scenario does not have.
type unknownField struct{ path, part, nearest string }

func (e unknownField) Error() string {
	text := fmt.Sprintf("a scenario has no field %q", e.path)
	if e.nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", e.nearest)
	}
	return text
}

// checkField reports whether a scenario has a field: config.ipam.podSubnetCIDR, timeline[2].count, timeline[+] for one more. What an item of the timeline
// has follows from its action, and is found out when it is set.
func checkField(path string) error {
	v, before := reflect.ValueOf(scenarios.Default()), ""
	for _, part := range strings.Split(path, ".") {
		name, _, indexed := strings.Cut(part, "[")
		var names []string
		found := false
		if v.Kind() == reflect.Struct {
			for _, m := range scenarios.Members(v) {
				if names = append(names, m.Name); m.Name == name {
					v, found = m.Value, true
					break
				}
			}
		}
		if !found {
			near := strictyaml.Nearest(name, names)
			if near != "" {
				near = strictyaml.Join(before, near)
			}
			return unknownField{path: path, part: name, nearest: near}
		}
		before = strictyaml.Join(before, name)
		if indexed {
			return nil
		}
	}
	if v.Kind() == reflect.Struct {
		var names []string
		for _, m := range scenarios.Members(v) {
			names = append(names, m.Name)
		}
		if len(names) > 0 {
			return fmt.Errorf("%s is a section; vary one of its fields: %s", path, strings.Join(names, ", "))
		}
	}
	return nil
}

// With is a scenario with fields set. The error is the scenario's own, of the first value that it refuses.
func With(s *scenarios.Scenario, values []Value) (*scenarios.Scenario, error) {
	if len(values) == 0 {
		return s, nil
	}
	bare := *s // without its workload: a long block of text, which no value concerns
	bare.Workload = scenarios.Workload{}
	var tree yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(bare.Marshal(), &tree, yaml.UseOrderedMap()); err != nil {
		return nil, err
	}
	for _, v := range values {
		value, err := valueOf(v.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Field, err)
		}
		next, err := set(tree, strings.Split(v.Field, "."), value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Field, err)
		}
		tree = next.(yaml.MapSlice)
	}
	text, err := yaml.MarshalWithOptions(tree, yaml.Flow(false))
	if err != nil {
		return nil, err
	}
	if len(s.Workload.Rows) > 0 {
		text = append(text, s.WorkloadText()...)
	}
	out, err := scenarios.Parse(s.File, text)
	var input *scenarios.InputError
	if errors.As(err, &input) {
		input.File, input.Line = "", 0
	}
	if err != nil {
		return nil, err
	}
	out.Goal, out.Notes = s.Goal, s.Notes
	return out, nil
}

// valueOf is a text as YAML would read it: a number, a truth value, words, or a list or section in brackets.
func valueOf(text string) (any, error) {
	if strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
		var v any
		if err := yaml.UnmarshalWithOptions([]byte(text), &v, yaml.UseOrderedMap()); err != nil {
			return nil, fmt.Errorf("%s is no list or section as YAML has them", strconv.Quote(text))
		}
		return v, nil
	}
	return scalar(text), nil
}

// scalar is a text of one word as YAML would read it.
func scalar(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x
	}
	if b, err := strconv.ParseBool(text); err == nil && (text == "true" || text == "false") {
		return b
	}
	return text
}

// set sets the value at a path below a tree.
func set(tree any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	name, index, indexed := strings.Cut(path[0], "[")
	if name == "" && indexed {
		return setItem(tree, index, path[1:], value)
	}
	fields, _ := tree.(yaml.MapSlice) // a section that is not there has no fields
	rest := path[1:]
	if indexed {
		rest = append([]string{"[" + index}, rest...)
	}
	for i, f := range fields {
		if f.Key == name {
			below, err := set(f.Value, rest, value)
			fields[i].Value = below
			return fields, err
		}
	}
	below, err := set(nil, rest, value)
	return append(fields, yaml.MapItem{Key: name, Value: below}), err
}

// appended is the index of one item more than there are: timeline[+].
const appended = "+]"

// setItem sets a value below an item of a list.
func setItem(tree any, index string, rest []string, value any) (any, error) {
	list, _ := tree.([]any)
	if index == appended {
		below, err := set(nil, rest, value)
		return append(list, below), err
	}
	i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
	if err != nil || i < 0 || i >= len(list) {
		return nil, fmt.Errorf("there are %d items, counted from 0", len(list))
	}
	list[i], err = set(list[i], rest, value)
	return list, err
}
