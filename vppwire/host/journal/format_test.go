package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Goal: every format that was ever written is read to the last record, and written on. Method: a file of each, as its
// version left it, with its records one after the other beside it. A file here is never written anew: a version is
// added with its own.
func TestReadsFormats(t *testing.T) {
	files, err := filepath.Glob("testdata/format-*.journal")
	must(t, err)
	if len(files) < agent.JournalFormat {
		t.Fatalf("%d files of %d formats", len(files), agent.JournalFormat)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			must(t, err)
			lines, err := os.ReadFile(strings.TrimSuffix(file, ".journal") + ".records")
			must(t, err)
			path := filepath.Join(t.TempDir(), "journal")
			must(t, os.WriteFile(path, data, 0o600))
			j, records := opened(t, path)
			if f := j.Found(); f.Damage != nil || f.Unknown != nil || f.Cut != 0 {
				t.Fatalf("found %+v", f)
			}
			var got strings.Builder
			for _, r := range records {
				got.WriteString(r.String() + "\n")
			}
			if got.String() != string(lines) {
				t.Fatalf("read\n%swant\n%s", got.String(), lines)
			}
			must(t, wait(j.Append, sandbox(1)))
		})
	}
}

// Goal: a journal that needs a newer reader is refused by name, and nothing of it changes, whatever else is wrong with
// it. Method: such journals: the word at the start, behind other frames, in front of damage; another layout.
func TestRefusesNewer(t *testing.T) {
	first, err := appendFrame(nil, []agent.Record{lease(1)})
	must(t, err)
	newer := rehead(2, fmt.Sprintf("format %d\n", agent.JournalFormat+1)+lease(2).String()+"\n")
	long := append([]byte{}, first...)
	for len(long) < 3*pieceSize {
		long = append(long, first...)
	}
	for name, data := range map[string][]byte{
		"at the start":    newer,
		"behind others":   append(append([]byte{}, first...), newer...),
		"far behind":      append(append([]byte{}, long...), newer...),
		"before damage":   append(append(append([]byte{}, newer...), "frame 1 7 00000000\nwrong 1"...), first...),
		"another layout":  []byte("journal 2\nlater\n"),
		"nothing but one": []byte("journal 9"),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "journal")
			must(t, os.WriteFile(path, data, 0o600))
			_, _, err := Open(path)
			if !errors.Is(err, agent.ErrNewer) || !strings.Contains(err.Error(), path) {
				t.Fatalf("opened: %v", err)
			}
			after, err := os.ReadFile(path)
			must(t, err)
			entries, err := os.ReadDir(dir)
			must(t, err)
			if string(after) != string(data) || len(entries) != 2 { // the lock's file
				t.Fatalf("%d files, %d bytes of %d", len(entries), len(after), len(data))
			}
		})
	}
}
