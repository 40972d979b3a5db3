package scenarios

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// commentColumns is where comments are wrapped.
const commentColumns = 118

// Marshal writes a file that Parse reads back to an equal Scenario: its goal and notes as the opening comment, then
// every field that differs from Default.
func (s *Scenario) Marshal() []byte {
	b := appendComment(nil, s.Goal)
	for _, note := range s.Notes {
		b = append(b, "#\n"...)
		b = appendComment(b, note)
	}
	return appendFields(b, reflect.ValueOf(s).Elem(), reflect.ValueOf(Default()), 0)
}

// WorkloadText is the section of the scenario's workload, as Marshal writes it; nothing without one.
func (s *Scenario) WorkloadText() []byte {
	only := Default()
	only.Workload = s.Workload
	return appendFields(nil, reflect.ValueOf(&only).Elem(), reflect.ValueOf(Default()), 0)
}

// appendComment wraps text into comment lines. A word that is itself a comment sign would read back as an empty line.
func appendComment(b []byte, text string) []byte {
	column := 0
	for _, word := range strings.Fields(text) {
		if column > 0 && column+1+len(word) > commentColumns {
			b, column = append(b, '\n'), 0
		}
		if column == 0 {
			b, column = append(b, '#'), 1
		}
		b = append(append(b, ' '), word...)
		column += 1 + len(word)
	}
	if column > 0 {
		b = append(b, '\n')
	}
	return b
}

// appendFields writes the fields of v that differ from defaults, one per line.
func appendFields(b []byte, v, defaults reflect.Value, indent int) []byte {
	for _, f := range Members(v) {
		value, usual := f.Value, reflect.Value{}
		if f.Index != nil {
			usual = defaults.FieldByIndex(f.Index)
		} else { // a section of a system
			usual = v.Interface().(IPAM).usual(f.Name)
		}
		if reflect.DeepEqual(value.Interface(), usual.Interface()) {
			continue
		}
		b = append(b, strings.Repeat(" ", indent)...)
		b = append(append(b, f.Name...), ':')
		switch {
		case f.Type == typeRows:
			b = appendRows(append(b, " |\n"...), value.Interface().(Rows), indent+2)
		case f.Type.Kind() == reflect.Slice && f.Type.Elem() == typeStep:
			b = append(b, '\n')
			for _, step := range value.Interface().([]Step) {
				b = append(b, strings.Repeat(" ", indent+2)...)
				b = append(appendStep(append(b, "- "...), step), '\n')
			}
		case f.Type.Kind() == reflect.Struct && !isScalarStruct(f.Type):
			b = appendFields(append(b, '\n'), value, usual, indent+2)
		default:
			b = append(appendValue(append(b, ' '), value), '\n')
		}
	}
	return b
}

func appendRows(b []byte, rows Rows, indent int) []byte {
	margin := strings.Repeat(" ", indent)
	for _, pod := range rows {
		b = append(pod.AppendText(append(b, margin...)), '\n')
	}
	return b
}

// appendStep writes a timeline item in flow style: {at: 10s, do: restart-vpp, node: node-2}.
func appendStep(b []byte, s Step) []byte {
	b = append(b, '{')
	switch {
	case s.Trigger == AtTime:
		b = append(append(append(b, "at: "...), FormatDuration(s.Time)...), ", "...)
	case s.Trigger == WhenSettled:
		b = append(b, "when: settled, "...)
	case s.Time != 0:
		b = append(append(append(b, "after: "...), FormatDuration(s.Time)...), ", "...)
	}
	b = append(append(b, "do: "...), s.Action.Verb()...)
	kind, _ := findAction(s.Action.Verb())
	v, defaults := reflect.ValueOf(s.Action), reflect.ValueOf(kind.proto)
	for _, f := range strictyaml.Fields(v.Type()) {
		if reflect.DeepEqual(v.FieldByIndex(f.Index).Interface(), defaults.FieldByIndex(f.Index).Interface()) {
			continue
		}
		b = append(append(append(b, ", "...), f.Name...), ": "...)
		b = appendValue(b, v.FieldByIndex(f.Index))
	}
	if s.Optional {
		b = append(b, ", optional: true"...)
	}
	return append(b, '}')
}

// appendValue writes a scalar, or a list of scalars in flow style.
func appendValue(b []byte, v reflect.Value) []byte {
	switch {
	case v.Kind() == reflect.Pointer:
		return appendValue(b, v.Elem())
	case v.Type() == typeNIC && v.String() == "":
		return append(b, "false"...)
	case v.Type() == typeLawNames && v.IsNil():
		return append(b, "all"...)
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendValue(b, v.Index(i))
		}
		return append(b, ']')
	case v.Kind() == reflect.Struct && !isScalarStruct(v.Type()):
		return appendFlow(b, v)
	case v.Kind() == reflect.String:
		return appendText(b, v.String())
	}
	text := formatScalar(v)
	if strings.Contains(text, ":") { // an IPv6 address is a field to YAML where it stands in a list
		return strconv.AppendQuote(b, text)
	}
	return append(b, text...)
}

// appendFlow writes an element of a list in flow style, without what is not said: {name: web, app: web}.
func appendFlow(b []byte, v reflect.Value) []byte {
	b = append(b, '{')
	for i, f := range strictyaml.Fields(v.Type()) {
		value := v.FieldByIndex(f.Index)
		if value.IsZero() && i > 0 {
			continue
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendValue(append(append(b, f.Name...), ": "...), value)
	}
	return append(b, '}')
}

// appendText writes text plain where YAML reads it back as the same text, else in double quotes.
func appendText(b []byte, text string) []byte {
	switch text {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return strconv.AppendQuote(b, text)
	}
	if (isWord(text) || isPod(text)) && text[0] >= 'a' {
		return append(b, text...)
	}
	return strconv.AppendQuote(b, text)
}
