package reports

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// TestReadBack goal: `vppdrill debug report DIR` makes the same files from result.json alone. Method: write a folder, read it,
// write another, compare every file byte by byte.
func TestReadBack(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	if err := writeFolder(first, sample()); err != nil {
		t.Fatal(err)
	}
	r, err := Read(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeFolder(second, r); err != nil {
		t.Fatal(err)
	}
	files := []string{resultFile, jUnitFile, pageFile, summaryFile, metricsFile, sarifFile, qualityFile, traceFile}
	for _, name := range files {
		a, errA := os.ReadFile(filepath.Join(first, name))
		b, errB := os.ReadFile(filepath.Join(second, name))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs after reading back: %s", name, cmp.Diff(string(a), string(b)))
		}
	}
	left, err := os.ReadDir(first)
	if err != nil || len(left) != len(files) {
		t.Errorf("the folder holds %v (%v), want %v", left, err, files)
	}
}

// TestNoNullLists goal: programs may loop over laws and timeline without asking. Method: a result without either.
func TestNoNullLists(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, Report{Scenarios: []result.Result{{Scenario: "x"}}}); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out.Bytes(), []byte("null")) {
		t.Errorf("null in %s", out.String())
	}
}

// TestReadRefuses goal: what is no report is named as such. Method: folders without a file, with other JSON, with text.
func TestReadRefuses(t *testing.T) {
	for _, text := range []string{"", "{}", "[]", "no json", `{"scenarios":`, `{"scenarios":{}}`} {
		dir := t.TempDir()
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, resultFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Read(dir); !errors.Is(err, errNoReport) {
			t.Errorf("%q: %v, want ErrNoReport", text, err)
		}
	}
}

// TestFailedWriteLeavesTheOldFile goal: nobody meets half a file. Method: a writer that fails after some bytes.
func TestFailedWriteLeavesTheOldFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("disk on fire")
	err := writeFile(name, func(w io.Writer) error {
		_, _ = w.Write([]byte("new")) // the error that counts follows
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(name); string(got) != "old" {
		t.Errorf("the file holds %q", got)
	}
	if left, _ := os.ReadDir(filepath.Dir(name)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// FuzzReadJSON goal: no input makes reading panic, and what was read is written and read as the same.
func FuzzReadJSON(f *testing.F) {
	var out bytes.Buffer
	if err := WriteJSON(&out, sample()); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Add([]byte(`{"scenarios":[{"failure":{}}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := readJSON(bytes.NewReader(in))
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := WriteJSON(&once, r); err != nil {
			t.Fatal(err)
		}
		again, err := readJSON(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteJSON(&twice, again); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Errorf("wrote %s, then %s", once.String(), twice.String())
		}
		for _, write := range []func(*bytes.Buffer) error{
			func(b *bytes.Buffer) error { return writeHTML(b, r) },
			func(b *bytes.Buffer) error { return writeJUnit(b, r) },
			func(b *bytes.Buffer) error { return writeText(b, r) },
		} {
			if err := write(new(bytes.Buffer)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// writeFolder writes a report's folder as commands do.
func writeFolder(dir string, r Report) error {
	f, err := OpenFolder(dir)
	if err != nil {
		return err
	}
	return f.Keep(r)
}
