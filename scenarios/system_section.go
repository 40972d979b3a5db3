package scenarios

import (
	"reflect"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// section is what a configuration says for one system of its own; at points to a struct of the type of its Section. Copies
// of the configuration share it: see Unshare.
type section struct {
	of *AddressSystem
	at any
}

func (r *AddressSystem) section() section {
	if r.Section == nil {
		return section{of: r}
	}
	return section{r, copied(reflect.ValueOf(r.Section))}
}

// copied is a pointer to a struct of its own with what v has.
func copied(v reflect.Value) any {
	at := reflect.New(v.Type())
	at.Elem().Set(v)
	return at.Interface()
}

// Unshare gives c sections that no copy of it has: its Members may be set.
func (c *IPAM) Unshare() {
	c.own = slices.Clone(c.own)
	for i, s := range c.own {
		if s.at != nil {
			c.own[i].at = copied(reflect.ValueOf(s.at).Elem())
		}
	}
}

// SectionOf is what a configuration says in the section of type T; the defaults where it says nothing.
func SectionOf[T any](c IPAM) (t T) {
	for _, s := range c.own {
		if at, ok := s.at.(*T); ok {
			return *at
		}
	}
	for _, r := range systems {
		if usual, ok := r.Section.(T); ok {
			return usual
		}
	}
	return t
}

// SetSection replaces what a configuration says in the section of type T.
func SetSection[T any](c *IPAM, t T) {
	c.own = slices.Clone(c.own)
	for i, s := range c.own {
		if _, ok := s.at.(*T); ok {
			c.own[i].at = &t
			return
		}
	}
	for _, r := range systems {
		if _, ok := r.Section.(T); ok {
			c.own = append(c.own, section{r, &t})
		}
	}
}

// Sections are the sections of systems as fields, to be read into before anything else knows c.
func (c *IPAM) Sections() (list []strictyaml.Member) {
	for _, s := range c.own {
		if s.at != nil {
			v := reflect.ValueOf(s.at).Elem()
			tag := reflect.StructTag(`doc:"What only ` + string(s.of.Name) + ` has."`)
			list = append(list, strictyaml.Member{Field: strictyaml.Field{Name: string(s.of.Name), Type: v.Type(), Tag: tag}, Value: v})
		}
	}
	return list
}

var typeIPAM = reflect.TypeFor[IPAM]()

// moreOf are the sections of systems, where v is config.ipam.
func moreOf(v reflect.Value) []strictyaml.Member {
	if v.Type() != typeIPAM {
		return nil
	}
	c := v.Interface().(IPAM)
	return c.Sections()
}

// Members lists the fields of a part of a scenario, sections of systems among them.
func Members(v reflect.Value) []strictyaml.Member { return append(strictyaml.Members(v), moreOf(v)...) }

// usual are the defaults of a system's section.
func (c IPAM) usual(system string) reflect.Value {
	c.System = System(system)
	return reflect.ValueOf(c.Row().Section)
}

// foreignSetting returns the path of the first setting that is of another system's section and not its default, and that system.
func (c IPAM) foreignSetting() (path string, of System) {
	for _, s := range c.own {
		if s.at == nil || s.of.Name == c.System {
			continue
		}
		usual := reflect.ValueOf(s.of.Section)
		for _, m := range strictyaml.Members(reflect.ValueOf(s.at).Elem()) {
			if !reflect.DeepEqual(m.Value.Interface(), usual.FieldByIndex(m.Index).Interface()) {
				return "config.ipam." + string(s.of.Name) + "." + m.Name, s.of.Name
			}
		}
	}
	return "", ""
}

// Reader reads scenario files that may choose systems which the table does not have.
type Reader struct{ Systems []*AddressSystem }

// blank is what an empty file means to the reader.
func (r Reader) blank() Scenario {
	s := Default()
	c := &s.Config.IPAM
	usual := c.System
	for _, row := range r.Systems {
		c.Use(row)
	}
	c.System = usual
	return s
}

// scalar reads values that depend on the reader, and all others that scenarios have.
func (r Reader) scalar(v reflect.Value, tag reflect.StructTag, text string) (bool, *strictyaml.ValueError) {
	if v.Type() == typeSystem && len(r.Systems) > 0 {
		v.SetString(text)
		return true, strictyaml.CheckWords(append(SystemNames(), namesOf(r.Systems)...), text)
	}
	return setOwn(v, tag, text)
}
