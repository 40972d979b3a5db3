package scenarios

import (
	"net/netip"
	"reflect"
	"strings"
	"time"
)

// A scenario's Go types are its grammar: the decoder, the encoder, action lines and the JSON schema all walk the same
// struct fields by these tags.
//
//	yaml      the field's name in files; "-" is no field
//	doc       one sentence for the schema
//	required  the field must be present
//	min, max  inclusive bounds of a number
//	enum      the allowed words, joined by commas
//	pattern   word, node, pod or fault: see patterns
//	one       a NodeRef that must not be "all"
//	host      a prefix that is an address with its subnet's length, so host bits are meant

// field is one field of a struct type.
type field struct {
	name  string
	index int
	typ   reflect.Type
	tag   reflect.StructTag
}

func (f field) required() bool { return f.tag.Get("required") == "true" }

// fieldsOf lists the fields of a struct type that files can hold, in Go's order.
func fieldsOf(t reflect.Type) []field {
	fields := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		sf := t.Field(i)
		name := sf.Tag.Get("yaml")
		if !sf.IsExported() || name == "-" || name == "" {
			continue
		}
		fields = append(fields, field{name: name, index: i, typ: sf.Type, tag: sf.Tag})
	}
	return fields
}

// findField returns the field of that name.
func findField(fields []field, name string) (field, bool) {
	for _, f := range fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

func fieldNames(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

// enumOf lists the words of a field's enum tag; nil without one.
func enumOf(tag reflect.StructTag) []string {
	if words := tag.Get("enum"); words != "" {
		return strings.Split(words, ",")
	}
	return nil
}

// Types that the walkers treat as one value instead of descending into them.
var (
	typeDuration = reflect.TypeFor[time.Duration]()
	typePrefix   = reflect.TypeFor[netip.Prefix]()
	typeAddr     = reflect.TypeFor[netip.Addr]()
	typeNodeRef  = reflect.TypeFor[NodeRef]()
	typeEndpoint = reflect.TypeFor[Endpoint]()
	typeNIC      = reflect.TypeFor[NIC]()
	typeLawNames = reflect.TypeFor[LawNames]()
	typeStep     = reflect.TypeFor[Step]()
	typeRows     = reflect.TypeFor[Rows]()
	typeSystem   = reflect.TypeFor[System]()
)

// selfChecked is a decoded value with rules between its fields; field is "" for the value as a whole.
type selfChecked interface {
	problem() (field, message string)
}
