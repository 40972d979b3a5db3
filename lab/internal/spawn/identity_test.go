package spawn

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Goal: an identity reads back, and nothing else reads as one.
func FuzzParseID(f *testing.F) {
	for _, s := range []string{"1 2", "4711 123456\n", "", "0 1", "-1 5", "1 +2", "1  2", "x y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ParseID(text)
		if err != nil {
			return
		}
		if again, err := ParseID(id.String()); err != nil || again != id || id.PID < 1 {
			t.Fatalf("%q: %v, %v", text, again, err)
		}
	})
}

// Goal: names with blanks and parentheses do not shift the fields. Method: lines as the kernel writes them.
func TestParseStat(t *testing.T) {
	const rest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20"
	for _, name := range []string{"vpp", "a b", "x) R 1 (", "()"} {
		started, state, err := parseStat("77 (" + name + ")" + rest)
		if err != nil || started != 4242 || state != "S" {
			t.Errorf("%s: %d %s %v", name, started, state, err)
		}
	}
	for _, bad := range []string{"", "1 x S", "1 (x) S 1 2"} {
		if _, _, err := parseStat(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// Goal: a process is found by its record and by its mark, and killed by them, and one that has ended is neither.
func TestRecordedProcess(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	cmd.Env = append(os.Environ(), Mark("test-"+t.Name()))
	record := filepath.Join(t.TempDir(), "process")
	p, err := Start(Config{Cmd: cmd, Record: record})
	if err != nil {
		t.Fatal(err)
	}
	id := Recorded(record)
	if id != p.ID() || !id.Alive() {
		t.Errorf("recorded %v, started %v, alive %t", id, p.ID(), id.Alive())
	}
	if found := Marked("test-" + t.Name()); len(found) != 1 || found[0] != id {
		t.Errorf("marked: %v", found)
	}
	if (ID{PID: id.PID, Started: id.Started + 1}).Alive() {
		t.Error("another process with the same number was taken for ours")
	}
	if err := id.Kill(); err != nil {
		t.Error(err)
	}
	<-p.Done()
	p.End(syscall.SIGKILL, 0)
	if id.Alive() || Recorded(record) != (ID{}) {
		t.Error("it lives on")
	}
	if err := id.Kill(); err != nil {
		t.Errorf("killing what is gone: %v", err)
	}
}
