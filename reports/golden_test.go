package reports

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write the goldens instead of comparing with them")

// TestGoldens goal: what people and CI systems read changes only on purpose. Method: the sample report in each textual
// format against testdata; `make golden` rewrites.
func TestGoldens(t *testing.T) {
	for _, c := range []struct {
		file  string
		write func(io.Writer, Report) error
	}{{"report.txt", writeText}, {"junit.xml", writeJUnit}} {
		t.Run(c.file, func(t *testing.T) {
			var got bytes.Buffer
			if err := c.write(&got, sample()); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join("testdata", c.file)
			if *rewrite {
				if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", name, diff)
			}
		})
	}
}

// TestTextIsPlain goal: no name can steer the terminal that a verdict line is printed to. Method: the sample has a name
// with escape codes; only printable characters and line ends may come out.
func TestTextIsPlain(t *testing.T) {
	var got strings.Builder
	if err := writeText(&got, sample()); err != nil {
		t.Fatal(err)
	}
	for _, r := range got.String() {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%U in the text report", r)
		}
	}
}

// TestJUnitCounts goal: CI systems see as many cases, failures and errors as the head of junit.xml says, and two seeds
// of one scenario are two cases. Method: read it back with a decoder that knows nothing of the writer's types.
func TestJUnitCounts(t *testing.T) {
	r := sample()
	again := r.Scenarios[0]
	again.Seed = 2
	r.Scenarios = append(r.Scenarios, again)
	var out bytes.Buffer
	if err := writeJUnit(&out, r); err != nil {
		t.Fatal(err)
	}
	names, elements := map[string]int{}, map[string]int{}
	for d := xml.NewDecoder(&out); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		elements[start.Name.Local]++
		for _, a := range start.Attr {
			if start.Name.Local == "testcase" && a.Name.Local == "name" {
				names[a.Value]++
			}
			if start.Name.Local == "testsuite" && a.Name.Local == "tests" && a.Value != "6" {
				t.Errorf("tests=%q, want 6: five runs and a law that could not be judged", a.Value)
			}
		}
	}
	if len(names) != 6 || names["churn-with-vpp-restart seed 2"] != 1 {
		t.Errorf("cases %v, want six different names", names)
	}
	if elements["failure"] != 2 || elements["error"] != 1 || elements["testcase"] != 6 || elements["skipped"] != 1 {
		t.Errorf("elements %v", elements)
	}
}

// writeText writes a whole report as text, run by run as a command does.
func writeText(w io.Writer, r Report) error {
	names := make([]string, len(r.Scenarios))
	for i, s := range r.Scenarios {
		names[i] = s.Scenario
	}
	t := NewText(w, names, TextOptions{Verbose: true})
	for _, s := range r.Scenarios {
		t.Add(s)
	}
	return t.Close()
}
