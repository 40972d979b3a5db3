package scenarios

import (
	"reflect"
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// Goal: the schema's regular expressions accept what the parser accepts. They may accept more (length, reserved names,
// balance), never less. Method: random text from the characters that matter.
func TestPatternsCoverParser(t *testing.T) {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("aZ0-./() \"\\_é\n")), 0, 12, -1)
	for name, p := range patterns {
		re := regexp.MustCompile(p.regexp)
		rapid.Check(t, func(t *rapid.T) {
			if s := text.Draw(t, "text"); p.match(s) && !re.MatchString(s) {
				t.Fatalf("%s: parser accepts %q and %s does not", name, s, p.regexp)
			}
		})
	}
	re := regexp.MustCompile(durationPattern)
	duration := rapid.StringMatching(`-?([0-9]{1,3}d)?([0-9]{0,2}\.?[0-9]{0,2}(ns|us|ms|s|m|h|)){0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		s := duration.Draw(t, "duration")
		if d, err := ParseDuration(s); err == nil && d >= 0 && s[0] != '-' && !re.MatchString(s) {
			t.Fatalf("parser accepts duration %q and the schema does not", s)
		}
	})
}

// Goal: every field of every section and action has a type that decoder, encoder and schema know, a name and a sentence.
// Method: walk all types; typeSchema panics at an unknown one.
func TestFieldsAreComplete(t *testing.T) {
	var walk func(path string, typ reflect.Type)
	walk = func(path string, typ reflect.Type) {
		for i := range typ.NumField() {
			sf := typ.Field(i)
			if sf.IsExported() && sf.Tag.Get("yaml") == "" {
				t.Errorf("%s.%s has no yaml tag", path, sf.Name)
			}
		}
		for _, f := range strictyaml.Fields(typ) {
			at := strictyaml.Join(path, f.Name)
			if f.Tag.Get("doc") == "" {
				t.Errorf("%s has no doc tag", at)
			}
			typeSchema(f.Type, f.Tag, reflect.Zero(f.Type))
			if f.Type.Kind() == reflect.Struct && !isScalarStruct(f.Type) {
				walk(at, f.Type)
			}
		}
	}
	walk("", reflect.TypeFor[Scenario]())
	for _, kind := range actionKinds {
		walk(kind.proto.Verb(), reflect.TypeOf(kind.proto))
		if kind.doc == "" {
			t.Errorf("%s has no sentence", kind.proto.Verb())
		}
	}
}
