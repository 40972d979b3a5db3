package scenarios_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: every mistake in a scenario file is one line that names file, line, column, field and value, with the word that
// was most likely meant; and what is right comes back from Marshal in canonical form.
// Method: story goldens; each "parse" is a file, its output the canonical file or the error.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata/parse", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "parse" {
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			s, err := scenarios.Parse("file.yaml", []byte(d.Input))
			if err != nil {
				if strings.Contains(err.Error(), "\n") {
					d.Fatalf(t, "more than one line: %q", err)
				}
				return err.Error() + "\n"
			}
			out := s.Marshal()
			again, err := scenarios.Parse("again.yaml", out)
			if err != nil {
				d.Fatalf(t, "Marshal wrote what Parse refuses: %v\n%s", err, out)
			}
			if !again.Equal(s) {
				d.Fatalf(t, "Marshal wrote another scenario:\n%s", out)
			}
			return string(out)
		})
	})
}

// Goal: whatever the input, Parse neither panics nor hangs, errors are one line, and a scenario that it accepts comes back
// from Marshal equal.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/parse/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(string(data), "\nparse\n")[1:] {
			input, _, _ := strings.Cut(part, "\n----")
			f.Add(input)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scenarios.Parse("fuzz.yaml", []byte(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("more than one line: %q", err)
			}
			return
		}
		out := s.Marshal()
		again, err := scenarios.Parse("again.yaml", out)
		if err != nil {
			t.Fatalf("Marshal wrote what Parse refuses: %v\n%s", err, out)
		}
		if !again.Equal(s) {
			t.Fatalf("Marshal wrote another scenario:\n%s", out)
		}
	})
}

// Goal: the line that names the schema to editors is no part of what a scenario is for. Method: a file that opens with it.
func TestSchemaCommentIsNoGoal(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(scenarios.SchemaComment+"# Pods come\n# and go.\nname: x\n"))
	if err != nil || s.Goal != "Pods come and go." || len(s.Notes) > 0 {
		t.Errorf("goal %q, notes %q, %v", s.Goal, s.Notes, err)
	}
}
