package scenarios

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// actionLine is what every action's String returns: the verb and each argument that differs from its default.
func actionLine(a Action) string {
	kind, ok := findAction(a.Verb())
	if !ok {
		panic(fmt.Sprintf("scenarios: action %T is not in actionKinds", a))
	}
	b := []byte(a.Verb())
	v, defaults := reflect.ValueOf(a), reflect.ValueOf(kind.proto)
	for _, f := range strictyaml.Fields(v.Type()) {
		if reflect.DeepEqual(v.FieldByIndex(f.Index).Interface(), defaults.FieldByIndex(f.Index).Interface()) {
			continue
		}
		b = append(append(b, ' '), f.Name...)
		b = appendLineValue(append(b, '='), lineText(v.FieldByIndex(f.Index)))
	}
	return string(b)
}

// lineText is an argument's text; lists are joined by commas, which no element can hold.
func lineText(v reflect.Value) string {
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array || v.Type() == typePrefix || v.Type() == typePair {
		return formatScalar(v)
	}
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = formatScalar(v.Index(i))
	}
	return strings.Join(parts, ",")
}

// appendLineValue quotes what would not come back as one word.
func appendLineValue(b []byte, text string) []byte {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '=' }) {
		return strconv.AppendQuote(b, text)
	}
	return append(b, text...)
}

// ParseAction reads what an Action's String wrote. Its error is an *InputError without a file.
func ParseAction(line string) (Action, error) {
	verb, rest, _ := strings.Cut(line, " ")
	kind, ok := findAction(verb)
	if !ok {
		return nil, &InputError{Field: "do", Message: strconv.Quote(verb) + " is not an action", Nearest: nearestVerb(verb)}
	}
	v := kind.blank()
	fields := strictyaml.Fields(v.Type())
	seen := map[string]bool{}
	for rest = strings.TrimLeft(rest, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		name, text, tail, err := cutArgument(rest)
		if err != nil {
			return nil, &InputError{Field: verb, Message: err.Error()}
		}
		rest = tail
		f, ok := strictyaml.FieldNamed(fields, name)
		switch {
		case !ok:
			return nil, &InputError{Field: verb, Message: "unknown argument " + strconv.Quote(name), Nearest: strictyaml.Nearest(name, strictyaml.Names(fields))}
		case seen[name]:
			return nil, &InputError{Field: verb + "." + name, Message: "is given twice"}
		}
		seen[name] = true
		if err := setArgument(v.FieldByIndex(f.Index), f.Tag, text); err != nil {
			return nil, &InputError{Field: verb + "." + name, Message: err.Message, Nearest: err.Nearest}
		}
	}
	for _, f := range fields {
		if f.Required() && !seen[f.Name] {
			return nil, &InputError{Field: verb + "." + f.Name, Message: "is missing"}
		}
	}
	if checked, ok := v.Interface().(selfChecked); ok {
		if name, message := checked.problem(); message != "" {
			return nil, &InputError{Field: strings.TrimSuffix(verb+"."+name, "."), Message: message}
		}
	}
	return v.Interface().(Action), nil
}

// cutArgument splits `name=value rest`; the value may be quoted as in Go.
func cutArgument(line string) (name, text, rest string, err error) {
	name, after, ok := strings.Cut(line, "=")
	if !ok || strings.ContainsAny(name, " \"") {
		return "", "", "", fmt.Errorf("%q is not name=value", line)
	}
	if !strings.HasPrefix(after, `"`) {
		text, rest, _ = strings.Cut(after, " ")
		return name, text, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(after)
	if err != nil {
		return "", "", "", fmt.Errorf("the quotes of %s do not close", name)
	}
	if text, err = strconv.Unquote(quoted); err != nil {
		return "", "", "", fmt.Errorf("%s: %w", name, err)
	}
	rest = after[len(quoted):]
	if rest != "" && rest[0] != ' ' {
		return "", "", "", fmt.Errorf("%q follows the quotes of %s", rest, name)
	}
	return name, text, rest, nil
}

// setArgument reads a scalar or a list joined by commas.
func setArgument(v reflect.Value, tag reflect.StructTag, text string) *strictyaml.ValueError {
	switch v.Kind() {
	case reflect.Slice:
		parts := strings.Split(text, ",")
		v.Set(reflect.MakeSlice(v.Type(), len(parts), len(parts)))
		return setElements(v, tag, parts)
	case reflect.Array:
		parts := strings.Split(text, ",")
		if len(parts) != v.Len() {
			return strictyaml.Wrong(text, "is not a list of %d", v.Len())
		}
		return setElements(v, tag, parts)
	default:
		if isScalarStruct(v.Type()) || v.Kind() != reflect.Struct {
			return setScalar(v, tag, text)
		}
	}
	panic(fmt.Sprintf("scenarios: argument of type %s", v.Type()))
}

func setElements(v reflect.Value, tag reflect.StructTag, parts []string) *strictyaml.ValueError {
	for i, part := range parts {
		if err := setScalar(v.Index(i), tag, part); err != nil {
			return err
		}
	}
	return nil
}

// isScalarStruct reports whether a struct type is written as one scalar.
func isScalarStruct(t reflect.Type) bool { return t == typePrefix || t == typePair || t == typeAddr }
