package scenarios

import (
	"fmt"
	"reflect"
	"strings"
)

// Entry is one thing that a scenario file may say: an action, an argument of one, a setting.
type Entry struct {
	Name string `json:"name"`
	// Type says what values look like, Default what an absent one means, empty for nothing.
	Type    string `json:"type,omitempty"`
	Default string `json:"default,omitempty"`
	Doc     string `json:"doc"`
	// Why is what happens where a law is broken, whose rule is Doc; empty for anything else.
	Why string `json:"why,omitempty"`
	// Example is a line of a file; in what Actions and Settings list a value, where not every one of the type means something.
	Example string `json:"example,omitempty"`
	// Arguments are an action's.
	Arguments []Entry `json:"arguments,omitempty"`
}

// Actions lists every action with its arguments, in the order of documentation.
func Actions() []Entry {
	var out []Entry
	for _, kind := range actionKinds {
		out = append(out, Entry{Name: kind.proto.Verb(), Doc: kind.doc, Arguments: entries("", reflect.ValueOf(kind.proto), false)})
	}
	return out
}

// Settings lists every field of a scenario file outside of its timeline, by its path: "config.ipam.podSubnetCIDR".
func Settings() []Entry { return entries("", reflect.ValueOf(Default()), true) }

// entries are the fields of a struct with its defaults; deep: those of structs in it as well.
func entries(path string, v reflect.Value, deep bool) []Entry {
	var out []Entry
	for _, f := range Members(v) {
		value, name := f.Value, path+f.Name
		if deep && f.Type.Kind() == reflect.Struct && typeWord(f.Type, f.Tag) == "" {
			out = append(out, entries(name+".", value, true)...)
			continue
		}
		e := Entry{Name: name, Type: typeWord(f.Type, f.Tag), Doc: f.Tag.Get("doc"), Example: f.Tag.Get("example")}
		if d, ok := defaultOf(value); ok {
			e.Default = fmt.Sprint(d)
		}
		if f.Required() {
			e.Type += ", required"
		}
		out = append(out, e)
	}
	return out
}

// typeWord says what a field's values look like; "" for a struct of fields.
func typeWord(t reflect.Type, tag reflect.StructTag) string {
	switch t {
	case typeDuration:
		return "time"
	case typePrefix:
		return "range"
	case typePair:
		return "range, pair of ranges"
	case typeAddr:
		return "address"
	case typeNodeRef:
		if tag.Get("one") == "true" {
			return "node, any"
		}
		return "node, any, all"
	case typeEndpoint:
		return "node, any, api, store"
	case typeNIC:
		return "true, false, name"
	case typeLawNames:
		return "all, list of laws"
	case typeStep:
		return "actions"
	case typeRows:
		return "rows"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeWord(t.Elem(), tag)
	case reflect.Slice, reflect.Array:
		inner := typeWord(t.Elem(), tag)
		if inner == "" {
			inner = "sections"
		}
		return "list of " + inner
	case reflect.Bool:
		return "true, false"
	case reflect.String:
		if words := wordsOf(t, tag); words != nil {
			return strings.Join(words, ", ")
		}
		return tag.Get("pattern")
	case reflect.Struct:
		return ""
	}
	switch low, high := tag.Get("min"), tag.Get("max"); {
	case low != "" && high != "":
		return low + " to " + high
	case t.Kind() == reflect.Float64:
		return "number"
	}
	return "whole number"
}
