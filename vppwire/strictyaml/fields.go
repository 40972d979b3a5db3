package strictyaml

import (
	"reflect"
	"slices"
	"strings"
)

// Field is one field of a struct type.
type Field struct {
	Name string
	// Index is where it is, for reflect.Value.FieldByIndex: longer than one for an inlined struct's.
	Index []int
	Type  reflect.Type
	Tag   reflect.StructTag
}

// Required reports whether the field must be given.
func (f Field) Required() bool { return f.Tag.Get("required") == "true" }

// Fields lists the fields of a struct type that files can hold, in Go's order; those of inlined structs come last, and
// a field of the outer struct takes the place of an inlined one with its name.
func Fields(t reflect.Type) []Field { return fieldsOf(t, false) }

// fieldsOf is Fields; with goNames, a field without a tag has its Go name, and every embedded struct is inlined.
func fieldsOf(t reflect.Type, goNames bool) []Field {
	own, inner := make([]Field, 0, t.NumField()), []Field(nil)
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if goNames && name == "" {
			name = f.Name
		}
		switch {
		case f.Anonymous && (option == "inline" || goNames):
			for _, g := range fieldsOf(f.Type, goNames) {
				g.Index = append([]int{i}, g.Index...)
				inner = append(inner, g)
			}
		case f.IsExported() && name != "" && name != "-":
			own = append(own, Field{Name: name, Index: []int{i}, Type: f.Type, Tag: f.Tag})
		}
	}
	for _, f := range inner {
		if _, ok := FieldNamed(own, f.Name); !ok {
			own = append(own, f)
		}
	}
	return own
}

// Member is a field of a struct with its value there.
type Member struct {
	Field
	Value reflect.Value
}

// Members lists the fields of v, a struct, in the order of Fields.
func Members(v reflect.Value) []Member { return membersOf(v, Fields(v.Type())) }

func membersOf(v reflect.Value, fields []Field) []Member {
	list := make([]Member, len(fields))
	for i, f := range fields {
		list[i] = Member{f, v.FieldByIndex(f.Index)}
	}
	return list
}

// FieldNamed finds a field.
func FieldNamed(fields []Field, name string) (Field, bool) {
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return fields[i], true
}

// Names are the fields' names in their order.
func Names(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// Enum lists the words of a field's enum tag; nil without one.
func Enum(tag reflect.StructTag) []string {
	if words := tag.Get("enum"); words != "" {
		return strings.Split(words, ",")
	}
	return nil
}
