package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// SchemaFile is the name of the schema's file beside configuration files, and SchemaComment the line of such a file
// that names it to editors.
const (
	SchemaFile    = "agent.schema.json"
	SchemaComment = "# yaml-language-server: $schema=" + SchemaFile + "\n"
)

// object is a JSON object; encoding/json sorts its keys, so the schema is the same on every machine.
type object = map[string]any

// Schema returns the JSON schema (draft 2020-12) of configuration files, made from Config and Settings. Editors use it
// to complete keys and to underline; ParseConfig says more, as what the values mean together is not in reach of a
// schema. Keys are completed as Settings spell them and accepted in any case, as ParseConfig does.
func Schema() []byte {
	root := section(reflect.TypeFor[Config](), "")
	root["$schema"], root["$id"] = "https://json-schema.org/draft/2020-12/schema", "https://github.com/vppdrill/vppdrill/"+SchemaFile
	root["title"] = "vppdrill agent configuration"
	root["required"] = []string{"TCPstackDisabled"}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("agent: schema: %v", err))
	}
	return append(out, '\n')
}

// section describes the keys of a struct, which Settings list below a path.
func section(t reflect.Type, path string) object {
	properties, names := object{}, []string{}
	for _, s := range Settings() {
		rest, within := strings.CutPrefix(s.Name, path)
		if !within {
			continue
		}
		key, _, nested := strings.Cut(rest, ".")
		f, ok := fieldOf(t, key)
		if !ok || properties[key] != nil {
			continue
		}
		names = append(names, key)
		inner := f.Type
		list := inner.Kind() == reflect.Slice
		if list {
			inner = inner.Elem()
		}
		value := scalar(inner, s)
		if nested {
			value = section(inner, path+key+".")
		}
		if list {
			value = object{"type": "array", "items": value}
		}
		properties[key] = value
	}
	for old, now := range otherNames { //vppdrill:unordered each adds its own key
		for _, key := range names {
			if strings.EqualFold(key, now) {
				properties[old] = object{"deprecated": true, "description": "An older name of " + key + "."}
			}
		}
	}
	return object{"type": "object", "properties": properties, "propertyNames": object{"anyOf": []object{{"enum": slices.Sorted(maps.Keys(properties))}, {"pattern": anyCase(names)}}}}
}

// fieldOf finds a key's field, in embedded structs, too.
func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	return t.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, key) })
}

// scalar describes one key that holds no section.
func scalar(t reflect.Type, s Setting) object {
	out := object{"description": s.Doc}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		out["type"], out["pattern"] = "string", `^(0|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$`
	case t.Kind() == reflect.Bool:
		out["type"] = "boolean"
		if s.Values == "true" || s.Values == "false" {
			out["const"] = s.Values == "true"
		}
	case t.Kind() == reflect.String:
		out["type"] = "string"
		if t != reflect.TypeFor[string]() {
			out["enum"] = strings.Split(s.Values, ", ")
		}
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		out["type"], out["minimum"], out["maximum"] = "integer", 0, uint64(1)<<t.Bits()-1
		var low, high uint
		if n, _ := fmt.Sscanf(s.Values, "%d to %d", &low, &high); n == 2 { // 0 is what an absent key means
			out["anyOf"] = []object{{"const": 0}, {"minimum": low, "maximum": high}}
		}
	case t.Kind() == reflect.Int && s.Values == prefixLength:
		out["type"], out["minimum"], out["maximum"] = "integer", 0, 128
	case t.Kind() != reflect.Struct: // a section that is refused has no keys
		panic(fmt.Sprintf("agent: no schema for type %s of %s", t, s.Name))
	}
	switch value, err := strconv.ParseUint(s.Default, 10, 32); {
	case out["type"] == "integer" && err == nil:
		out["default"] = value
	case out["type"] == "boolean" && s.Default != "":
		out["default"] = s.Default == "true"
	case out["enum"] != nil:
		out["default"], _, _ = strings.Cut(s.Default, ";")
	case out["pattern"] != nil:
		out["default"] = s.Default
	}
	return out
}

// anyCase matches names in any case; schemas have no flag for it.
func anyCase(names []string) string {
	var out strings.Builder
	for i, name := range names {
		out.WriteString(map[bool]string{true: "^(", false: "|"}[i == 0])
		for _, c := range name {
			if lower, upper := unicode.ToLower(c), unicode.ToUpper(c); lower != upper {
				fmt.Fprintf(&out, "[%c%c]", lower, upper)
			} else {
				out.WriteRune(c)
			}
		}
	}
	return out.String() + ")$"
}
