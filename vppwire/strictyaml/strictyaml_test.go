package strictyaml_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

type inner struct {
	Words []string `yaml:"words" enum:"red,green"`
	Size  int      `yaml:"size" min:"2" max:"9"`
}

type embedded struct {
	Share float64 `yaml:"share" min:"0" max:"1"`
	Size  bool    `yaml:"size"`
}

type file struct {
	embedded `yaml:",inline"`
	Name     string        `yaml:"name" required:"true"`
	Size     uint8         `yaml:"size"`
	On       *bool         `yaml:"on"`
	Inner    inner         `yaml:"inner"`
	Pair     [2]int64      `yaml:"pair"`
	Wait     time.Duration `yaml:"wait"`
	Hidden   string        `yaml:"-"`
}

func decoder() *strictyaml.Decoder {
	return &strictyaml.Decoder{File: "f.yaml", At: strictyaml.Positions{},
		Scalar: func(v reflect.Value, _ reflect.StructTag, text string) (bool, *strictyaml.ValueError) {
			if v.Type() != reflect.TypeFor[time.Duration]() {
				return false, nil
			}
			d, err := time.ParseDuration(text)
			if err != nil {
				return true, strictyaml.Wrong(text, "is not a duration")
			}
			v.SetInt(int64(d))
			return true, nil
		},
		Check: func(v reflect.Value) (string, string) {
			if f, ok := v.Interface().(file); ok && f.Name == "cursed" {
				return "name", "is cursed"
			}
			return "", ""
		},
	}
}

// TestDecode goal: every kind of value is read, and a field of the outer struct takes the place of an inlined one.
// Method: one file with all of them, compared field by field; places are those in the text.
func TestDecode(t *testing.T) {
	var f file
	d := decoder()
	err := d.Decode([]byte("name: x\nshare: 0.5\nsize: 255\non: true\ninner:\n  words: [red, green]\n  size: 2\npair: [1, 2]\nwait: \"1m\"\n"), "thing", &f)
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "x" || f.Share != 0.5 || f.Size != 255 || f.On == nil || !*f.On || len(f.Inner.Words) != 2 || f.Inner.Size != 2 ||
		f.Pair != [2]int64{1, 2} || f.Wait != time.Minute || f.embedded.Size {
		t.Errorf("read %+v", f)
	}
	for path, want := range map[string]strictyaml.Position{"inner.size": {Line: 7, Column: 9}, "pair[1]": {Line: 8, Column: 11}, "inner.nothing": {Line: 6, Column: 3}} {
		if got := d.At.Find(path); got != want {
			t.Errorf("%s stands at %v, want %v", path, got, want)
		}
	}
}

// TestMistakes goal: each mistake is told with its place, its field and what was meant. Method: a table of files with
// one each.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "f.yaml:1:1: the file holds no thing"},
		{"name: x\n---\nname: y\n", "f.yaml:3:1: the file holds more than one document"},
		{"\xff\xfen\x00a\x00", "f.yaml:1:1: it is UTF-16, as > of Windows PowerShell writes: want UTF-8"},
		{"name: [x", "f.yaml:1:7: not YAML: "},
		{"share: 0.1\n", "f.yaml:1:1: name: is missing"},
		{"name: x\nname: y\n", `f.yaml:2:1: not YAML: mapping key "name" already defined`},
		{"name: x\nsiez: 3\n", `f.yaml:2:1: unknown field "siez"; did you mean "size"?`},
		{"name: x\nHidden: 3\n", `f.yaml:2:1: unknown field "Hidden"`},
		{"name: 3\n", "f.yaml:1:7: name: 3 is a number; put it in quotes to mean text"},
		{"name: x\nsize: \"3\"\n", `f.yaml:2:7: size: "3" is text; leave the quotes out`},
		{"name: x\nsize: 256\n", "f.yaml:2:7: size: 256 is more than 255"},
		{"name: x\nsize: 99999999999999999999\n", `f.yaml:2:7: size: "99999999999999999999" is out of range`},
		{"name: x\ninner: {size: 1}\n", "f.yaml:2:15: inner.size: 1 is less than 2"},
		{"name: x\ninner: {words: [gren]}\n", `f.yaml:2:17: inner.words[0]: "gren" is not one of red, green; did you mean "green"?`},
		{"name: x\nshare: 2\n", "f.yaml:2:8: share: 2 is more than 1"},
		{"name: x\nshare: 0x1\n", "f.yaml:2:8: share: "},
		{"name: x\non: yes\n", `f.yaml:2:5: on: "yes" is not true or false`},
		{"name: x\npair: [1]\n", "f.yaml:2:7: pair: wants a list of 2"},
		{"name: x\ninner: [1]\n", "f.yaml:2:8: inner: wants fields, not a list"},
		{"name: x\nwait: soon\n", `f.yaml:2:7: wait: "soon" is not a duration`},
		{"name: x\nwait:\n", "f.yaml:2:7: wait: has no value"},
		{"name: &a x\n", "f.yaml:1:7: name: anchors and aliases are not supported"},
		{"name: !!str x\n", "f.yaml:1:7: name: YAML tags are not supported"},
		{"name: cursed\n", "f.yaml:1:7: name: is cursed"},
		{"- name\n", "f.yaml:1:1: wants fields, not a list"},
	} {
		var f file
		if err := decoder().Decode([]byte(c.text), "thing", &f); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q gives %v, want %s", c.text, err, c.want)
		}
	}
}

// TestLenient goal: a format of somebody else's is read as its program reads it, and every mistake is told. Method:
// fields without tags in any case, an older name, a key without value, an empty file, and two mistakes in one file.
func TestLenient(t *testing.T) {
	type config struct {
		embedded
		UseTAP bool
		MTU    uint32 `yaml:"mtu,omitempty"`
	}
	lenient := func() *strictyaml.Decoder {
		return &strictyaml.Decoder{File: "f", All: true, MayBeEmpty: true, NullIsDefault: true, GoNames: true, AnyCase: true,
			Known: map[string]string{"tapmode": "usetap"}}
	}
	var c config
	if err := lenient().Decode([]byte("tapMode: true\nMTU: 9000\nshare:\n"), "configuration", &c); err != nil || !c.UseTAP || c.MTU != 9000 {
		t.Errorf("read %+v, %v", c, err)
	}
	if err := lenient().Decode(nil, "configuration", &c); err != nil {
		t.Errorf("an empty file: %v", err)
	}
	err := lenient().Decode([]byte("mtu: x\nusetap: 3\nUseTAP: false\n"), "configuration", &c)
	if want := "f:1:6: mtu: \"x\" is not a whole number\nf:2:9: UseTAP: \"3\" is not true or false"; err == nil || !strings.Contains(err.Error(), want) ||
		!strings.Contains(err.Error(), "f:3:1: UseTAP: is given twice") {
		t.Errorf("gives %v", err)
	}
}

// TestNearest goal: a slip of the finger finds its word, and a foreign word finds none. Method: a table, and rapid
// words with one letter left out, doubled, replaced or swapped with its neighbor.
func TestNearest(t *testing.T) {
	words := []string{"partition", "restart-vpp", "kill-agent", "do"}
	for word, want := range map[string]string{"Partition": "partition", "restart": "restart-vpp", "od": "do", "kil-agent": "kill-agent", "unplug": "", "": ""} {
		if got := strictyaml.Nearest(word, words); got != want {
			t.Errorf("%q is nearest to %q, want %q", word, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{4,9}`).Draw(t, "word")
		i := rapid.IntRange(0, len(word)-2).Draw(t, "at")
		slip := rapid.SampledFrom([]string{
			word[:i] + word[i+1:], word[:i] + word[i:i+1] + word[i:], word[:i] + "-" + word[i+1:], word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:],
		}).Draw(t, "slip")
		if got := strictyaml.Nearest(slip, []string{"0123456789", word}); got != word {
			t.Fatalf("%q is nearest to %q, want %q", slip, got, word)
		}
	})
}

// TestBounds goal: what would take the parser's memory is refused with its place before it is parsed, and what people write is not. Method:
// each kind of depth one level beyond the bound and at it, values one beyond, and brackets that open nothing.
func TestBounds(t *testing.T) {
	nested := func(open, close string, n int) string {
		return "a: " + strings.Repeat(open, n) + "1" + strings.Repeat(close, n) + "\n"
	}
	block := func(n int) (text string) {
		for i := range n {
			text += strings.Repeat(" ", i) + "a:\n"
		}
		return text
	}
	const deep, many = "lie in each other more than 64 levels deep", "holds more than 500000 values"
	for _, c := range []struct{ name, text, want string }{
		{"lists at the bound", nested("[", "]", 63), ""},
		{"lists", nested("[", "]", 64), "f:1:67: lists and fields " + deep},
		{"fields", nested("{a: ", "}", 64), "f:1:256: lists and fields " + deep},
		{"items", "a:\n  " + strings.Repeat("- ", 64) + "1\n", "f:2:129: lists and fields " + deep},
		{"indentation at the bound", block(64) + strings.Repeat(" ", 63) + "b: 1\n", ""},
		{"indentation", block(65), "f:65:65: lists and fields " + deep},
		{"values", "a: [" + strings.Repeat("1,", 500_000) + "1]\n", "f:1:1: the file " + many},
		{"lines", strings.Repeat("# a\n", 500_001), "f:500001:1: the file " + many},
		{"brackets in quotes", "a: '" + strings.Repeat("[", 99) + "'\nb: \"\\\"" + strings.Repeat("{", 99) + "\"\n", ""},
		{"brackets in a comment", "a: 1 # " + strings.Repeat("[", 99) + "\n", ""},
		{"an apostrophe", "a: don't\nb: [1, 2]\n", ""},
		{"levels side by side", strings.Repeat("- [[1]]\n", 99), ""},
	} {
		d := &strictyaml.Decoder{File: "f"}
		_, err := d.Tree([]byte(c.text), "text")
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: gives %v, want %q", c.name, err, c.want)
		}
	}
}
