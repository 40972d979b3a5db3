package reports

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// writerDir asks the test's own program to write reports into a folder until it is killed.
const writerDir = "VPPDRILL_TEST_WRITE_REPORTS_INTO"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDir); dir != "" {
		for i := 0; ; i++ {
			r := sample()
			r.Version = fmt.Sprintf("version-%d-", i)
			if err := writeFolder(dir, r); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
	os.Exit(m.Run())
}

// Goal: whoever is killed while writing leaves the old report or the new one. Method: a program that writes reports, each of
// another version, is killed at different times; all files that are there are of one version, and nothing is left beside the
// folder once somebody has written there again.
func TestFolderOutlivesKill(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	for i := range 12 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), writerDir+"="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(30+7*i) * time.Millisecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it was killed
		versions := map[string]bool{}
		for _, name := range []string{resultFile, jUnitFile, pageFile, sarifFile} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if os.IsNotExist(err) {
				versions["none"] = true
				continue
			}
			_, after, _ := strings.Cut(string(text), "version-")
			number, _, _ := strings.Cut(after, "-")
			versions[number] = true
		}
		if len(versions) != 1 {
			t.Fatalf("kill %d leaves versions %v", i, versions)
		}
	}
	if err := writeFolder(dir, sample()); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, parent); !slices.Equal(got, []string{"out"}) {
		t.Errorf("beside the folder: %v", got)
	}
	if got := entries(t, dir); !slices.Equal(got, []string{qualityFile, jUnitFile, metricsFile, pageFile, resultFile, sarifFile, summaryFile, traceFile}) {
		t.Errorf("in the folder: %v", got)
	}
}

// Goal: a report replaces a report's files and nothing else; what an earlier one left is gone, what is somebody's own stays.
func TestFolderReplaces(t *testing.T) {
	for _, c := range []struct{ before, after []string }{
		{nil, nil},
		{[]string{resultFile, EventsFile, "one-owner.capsule"}, nil},
		{[]string{resultFile, EventsFile, "one-owner.capsule", "notes.txt"}, []string{"notes.txt"}},
		{[]string{"thesis.tex"}, []string{"thesis.tex"}},
	} {
		dir := filepath.Join(t.TempDir(), "deep", "out")
		if c.before != nil {
			if err := os.MkdirAll(dir, 0o750); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range c.before {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		f, err := OpenFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(f.Stage(), "new.capsule"), []byte("new"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := entries(t, dir); c.before != nil && len(got) != len(c.before) {
			t.Errorf("%v: before Keep there is %v", c.before, got)
		}
		if err := f.Keep(sample()); err != nil {
			t.Fatal(err)
		}
		want := append([]string{qualityFile, jUnitFile, metricsFile, pageFile, resultFile, sarifFile, summaryFile, traceFile, "new.capsule"}, c.after...)
		slices.Sort(want)
		if got := entries(t, dir); !slices.Equal(got, want) {
			t.Errorf("%v: there is %v, want %v", c.before, got, want)
		}
		if left := entries(t, filepath.Dir(dir)); !slices.Equal(left, []string{"out"}) {
			t.Errorf("%v: beside it %v", c.before, left)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{file, filepath.Join(file, "below")} {
		if _, err := OpenFolder(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// Goal: a report goes where a link leads to, and the link stays; one that leads to nothing is refused before the runs. Method: one of each.
func TestFolderBehindALink(t *testing.T) {
	at := t.TempDir()
	real, link, lost := filepath.Join(at, "real"), filepath.Join(at, "link"), filepath.Join(at, "lost")
	if err := errors.Join(os.Mkdir(real, 0o755), os.Symlink("real", link), os.Symlink("nowhere", lost)); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFolder(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Keep(Report{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 || !slices.Contains(entries(t, real), "result.json") {
		t.Errorf("%v; behind the link are %v", info, entries(t, real))
	}
	if _, err := OpenFolder(lost); err == nil || !strings.Contains(err.Error(), "leads to nothing") {
		t.Errorf("a link to nothing: %v", err)
	}
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}
