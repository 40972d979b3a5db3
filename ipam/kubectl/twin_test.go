package kubectl

import (
	"encoding/json"
	"reflect"
	"testing"
)

// CompareTwins reads a pod both ways.
func CompareTwins(t *testing.T, text string) {
	t.Helper()
	if err := Read("f", []byte(text), func(o Object) error {
		quick, quickErr := o.Pod()
		slow, slowErr := o.slowPod()
		if !reflect.DeepEqual(quick, slow) || (quickErr == nil) != (slowErr == nil) {
			t.Errorf("%s: %+v (%v), want %+v (%v)", text, quick, quickErr, slow, slowErr)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// Goal: what is valid JSON is so for both twins. Method: texts of each kind, each cut off at every place and with each
// byte replaced; then whatever the fuzzer makes.
func TestValidTwin(t *testing.T) {
	for _, text := range validTexts {
		for i := range len(text) + 1 {
			compareValid(t, text[:i])
			for _, b := range []byte("\x00\" \\,:{}[]0e.-+au") {
				if i < len(text) {
					compareValid(t, text[:i]+string(b)+text[i+1:])
				}
				compareValid(t, text[:i]+string(b)+text[i:])
			}
		}
	}
	for _, n := range []int{depthMost - 1, depthMost, depthMost + 1} {
		text := make([]byte, 0, 2*n)
		for range n {
			text = append(text, '[')
		}
		for range n {
			text = append(text, ']')
		}
		compareValid(t, string(text))
	}
}

var validTexts = []string{`{"a": [1, -0.5e+7, 0, "b\u00e4\\\n", true, false, null, {}, []], "c": {"d": ""}}`, ` [ ] `, `-1E5`, `"x"`}

func compareValid(t *testing.T, text string) {
	t.Helper()
	if have, want := valid([]byte(text)), json.Valid([]byte(text)); have != want {
		t.Errorf("%.80q: %t, want %t", text, have, want)
	}
}

func FuzzValid(f *testing.F) {
	for _, text := range validTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { compareValid(t, text) })
}
