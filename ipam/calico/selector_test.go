package calico

import (
	"errors"
	"strings"
	"testing"
)

// Goal: a selector selects what Calico's does, and what is none is refused with the place where. Method: expressions of each kind beside labels;
// the words are those of libcalico-go/lib/selector.
func TestSelector(t *testing.T) {
	labels := map[string]string{"zone": "west-1", "kubernetes.io/hostname": "node-1", "empty": ""}
	for text, want := range map[string]bool{
		"": true, "  ": true, "all()": true, "all( )": true, "!all()": false, "!!all()": true,
		"zone == 'west-1'": true, `zone=="west-1"`: true, "zone == 'west'": false, "zone != 'west'": true, "zone != 'west-1'": false,
		"none == ''": false, "none != 'x'": true, "empty == ''": true,
		"has(zone)": true, "has( zone )": true, "has(none)": false, "!has(none)": true,
		"zone in { 'west-1', 'east-1' }": true, "zone in {'east-1'}": false, "zone in {}": false, "none in {''}": false,
		"zone not in {'east-1'}": true, "zone notin {'west-1'}": false, "none not in {'x'}": true,
		"zone contains 'st-'": true, "zone starts with 'west'": true, "zone startswith 'st'": false, "zone ends with '-1'": true, "none contains ''": false,
		"kubernetes.io/hostname == 'node-1' && has(zone)": true, "has(none) && has(zone) || all()": true, "has(none) && (has(zone) || all())": false,
		"!(has(none) || has(zone))": false, "!has(none) && has(zone)": true,
	} {
		s, err := ParseSelector(text)
		if err != nil {
			t.Error(err)
		} else if s.Matches(labels) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	for text, want := range map[string]string{
		"zone": "want ==, !=, contains, starts with, ends with, in or not in at character 5", "zone = 'x'": "want ==, !=", "zone == x": "want a value in quotes at character 9",
		"zone == 'x": "want a value whose quotes end", "all() all()": "want &&, || or the end at character 7", "(all()": "want ) at character 7", "has(": "want a label",
		"zone in 'x'": "want {", "zone in {'x' 'y'}": "want , or }", "zone containsit 'x'": "want ==, !=", "global()": "want ==, !=", strings.Repeat("(", 200): "parentheses",
	} {
		if _, err := ParseSelector(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Goal: no text is more than a parser of selectors can take. Method: fuzzing; what is read says the opposite behind an exclamation mark.
func FuzzSelector(f *testing.F) {
	for _, text := range []string{"", "zone == 'a' && !has(b)", "a in {'b', \"c\"} || (all())", "a not in {}", "a starts with 'b'"} {
		f.Add(text)
	}
	labels := map[string]string{"a": "b", "zone": "a"}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSelector(text)
		if err != nil || strings.Trim(text, " \t") == "" {
			return
		}
		not, err := ParseSelector("!(" + text + ")")
		if !errors.Is(err, errNested) && (err != nil || not.Matches(labels) == s.Matches(labels)) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
