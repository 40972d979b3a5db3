package agent

import (
	"reflect"
	"strings"
	"testing"
)

// Goal: the documented settings are those of the file. Method: the fields of Config, by reflection, beside the list,
// both ways.
func TestSettings(t *testing.T) {
	want := map[string]bool{}
	fieldPaths(reflect.TypeFor[Config](), "", want)
	for _, s := range Settings() {
		path := strings.ToLower(s.Name)
		if !want[path] || s.Doc == "" {
			t.Errorf("%s is no setting, is listed twice, or has no text", s.Name)
		}
		delete(want, path)
	}
	for path := range want {
		t.Errorf("%s is not documented", path)
	}
}

// fieldPaths collects the paths of a struct's fields in lower case. A section that is refused whole counts as one
// field.
func fieldPaths(of reflect.Type, path string, into map[string]bool) {
	if of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || path == "ipamconfig.srv6" {
		into[path] = true
		return
	}
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Tag.Get("yaml") == "-" { // no file says it
			continue
		}
		below := path
		if !f.Anonymous {
			below = strings.TrimPrefix(path+"."+strings.ToLower(f.Name), ".")
		}
		fieldPaths(f.Type, below, into)
	}
}
