package scenarios

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// durationPattern accepts every spelling that ParseDuration reads as a duration >= 0.
const durationPattern = `^(([0-9]+d)?0|[0-9]+d|([0-9]+d)?([0-9]*\.?[0-9]+|[0-9]+\.)(ns|us|µs|μs|ms|s|m|h)(([0-9]*\.?[0-9]+|[0-9]+\.)(ns|us|µs|μs|ms|s|m|h))*)$`

const (
	prefixText    = `([0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*/[0-9]{1,3})`
	prefixPattern = `^` + prefixText + `$`
	pairPattern   = `^` + prefixText + `(, *` + prefixText + `)?$`
	addrPattern   = `^([0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)$`
)

// SchemaFile is the name of the schema's file beside scenarios, and schemaID what it calls itself.
const (
	SchemaFile = "scenario.schema.json"
	schemaID   = "https://github.com/vppdrill/vppdrill/" + SchemaFile
)

// schemaLine begins the line of a file that names its schema to editors. It is no part of a goal.
const schemaLine = "yaml-language-server:"

// SchemaComment is that line of a scenario file that lies beside SchemaFile.
const SchemaComment = "# " + schemaLine + " $schema=" + SchemaFile + "\n"

// object is a JSON object; encoding/json sorts its keys, so the schema is the same on every machine.
type object = map[string]any

// Schema returns the JSON schema (draft 2020-12) of scenario files, made from the Go types. Editors use it to complete and
// to underline; Parse says more: address plans, order and nodes of the timeline are not in reach of a schema. Laws are the
// ones that a file may name, with their rules as Doc; without any, every word may be one.
func Schema(laws ...Entry) []byte {
	defs := object{}
	for _, kind := range actionKinds {
		defs[kind.proto.Verb()] = actionSchema(kind)
	}
	defs["step"] = stepSchema()
	root := structSchema(reflect.ValueOf(Default()))
	root["$schema"], root["$id"] = "https://json-schema.org/draft/2020-12/schema", schemaID
	root["$defs"] = defs
	root["title"] = "vppdrill scenario"
	if len(laws) > 0 {
		var known []object
		for _, l := range laws {
			known = append(known, object{"const": l.Name, "description": l.Doc})
		}
		defs["law"] = object{"oneOf": known}
		properties := root["properties"].(object)
		properties["laws"].(object)["anyOf"].([]object)[1]["items"] = object{"$ref": "#/$defs/law"}
	}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("scenarios: schema: %v", err))
	}
	return append(out, '\n')
}

// structSchema describes a struct type; defaults are the values that absent fields have.
func structSchema(defaults reflect.Value) object {
	properties, required := object{}, []string{}
	for _, f := range Members(defaults) {
		s := typeSchema(f.Type, f.Tag, f.Value)
		if doc := f.Tag.Get("doc"); doc != "" {
			s["description"] = doc
		}
		if value, ok := defaultOf(f.Value); ok && !f.Required() {
			s["default"] = value
		}
		properties[f.Name] = s
		if f.Required() {
			required = append(required, f.Name)
		}
	}
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// typeSchema describes one field's type. It has a case for each case of decoder.value.
func typeSchema(t reflect.Type, tag reflect.StructTag, defaults reflect.Value) object {
	switch t {
	case typeStep:
		return object{"$ref": "#/$defs/step"}
	case typeNIC:
		return object{"anyOf": []object{{"type": "boolean"}, {"type": "string", "minLength": 1, "maxLength": 63}}}
	case typeLawNames:
		return object{"anyOf": []object{{"const": "all"}, {"type": "array", "minItems": 1, "uniqueItems": true, "items": wordSchema("word")}}}
	case typeRows:
		return object{"type": "string"}
	case typeDuration:
		// 0 needs no unit and is a number to YAML.
		return object{"anyOf": []object{{"type": "string", "pattern": durationPattern}, {"const": 0}}}
	case typePrefix:
		return object{"type": "string", "pattern": prefixPattern}
	case typePair:
		return object{"type": "string", "pattern": pairPattern}
	case typeAddr:
		return object{"type": "string", "pattern": addrPattern}
	case typeNodeRef, typeEndpoint:
		return wordSchema("word")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem(), tag, reflect.Zero(t.Elem()))
	case reflect.Slice:
		return object{"type": "array", "items": typeSchema(t.Elem(), tag, reflect.Zero(t.Elem()))}
	case reflect.Array:
		return object{"type": "array", "items": typeSchema(t.Elem(), tag, reflect.Zero(t.Elem())), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Struct:
		return structSchema(defaults)
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		if words := wordsOf(t, tag); words != nil {
			return object{"type": "string", "enum": words}
		}
		return wordSchema(tag.Get("pattern"))
	case reflect.Int, reflect.Int64, reflect.Uint32, reflect.Float64:
		return numberSchema(t, tag)
	}
	panic(fmt.Sprintf("scenarios: no schema for type %s", t))
}

func wordSchema(name string) object {
	p, ok := patterns[name]
	if !ok {
		panic("scenarios: text field without enum or pattern")
	}
	return object{"type": "string", "pattern": p.regexp}
}

func numberSchema(t reflect.Type, tag reflect.StructTag) object {
	out := object{"type": "integer", "minimum": 0}
	if t.Kind() == reflect.Float64 {
		out["type"] = "number"
	}
	if low := tag.Get("min"); low != "" {
		out["minimum"] = strictyaml.Bound(low)
	}
	if high := tag.Get("max"); high != "" {
		out["maximum"] = strictyaml.Bound(high)
	}
	return out
}

// defaultOf is the JSON value of a default that is worth telling: scalars that are not zero.
func defaultOf(v reflect.Value) (any, bool) {
	switch {
	case v.Type() == typeLawNames:
		return "all", true
	case v.IsZero() || v.Type() == typeStep:
		return nil, false
	case v.Type() == typeDuration:
		return formatScalar(v), true
	}
	switch v.Kind() {
	case reflect.String:
		return v.String(), true
	case reflect.Int, reflect.Int64:
		return v.Int(), true
	case reflect.Uint32:
		return v.Uint(), true
	}
	return nil, false
}

// stepSchema describes a timeline item: at most one of at, after and when, and one action with its arguments.
func stepSchema() object {
	var actions []object
	for _, verb := range Verbs() {
		actions = append(actions, object{"$ref": "#/$defs/" + verb})
	}
	var pairs []object
	for _, pair := range [...][]string{{"at", "after"}, {"at", "when"}, {"after", "when"}} {
		pairs = append(pairs, object{"required": pair})
	}
	return object{"type": "object", "required": []string{"do"}, "oneOf": actions, "not": object{"anyOf": pairs}}
}

// actionSchema describes one verb's item: the trigger's fields, do with exactly this verb, and the action's arguments.
func actionSchema(kind actionKind) object {
	out := structSchema(reflect.ValueOf(kind.proto))
	own := structSchema(reflect.ValueOf(stepFields{}))
	properties := out["properties"].(object)
	for name, s := range own["properties"].(object) {
		properties[name] = s
	}
	properties["do"] = object{"const": kind.proto.Verb()}
	required, _ := out["required"].([]string)
	out["required"] = append([]string{"do"}, required...)
	out["description"] = strings.TrimSpace(kind.doc)
	return out
}
