package lab

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: what tells of a lab is found from any folder, also where its labs were named by a relative path. Method: an
// entry that was made so.
func TestEntriesAreAbsolute(t *testing.T) {
	top := t.TempDir()
	t.Chdir(top)
	h, err := claim("labs", "", "netns")
	if errors.Is(err, fs.ErrPermission) {
		t.Skip("labs need root: " + err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(registered(h.ID)) }) // it is this test's
	text, err := os.ReadFile(registered(h.ID))
	if want := filepath.Join(top, "labs", h.ID); err != nil || h.Dir() != want || !strings.HasSuffix(string(text), "\n"+want+"\n") {
		t.Errorf("%s and %q, %v, want %s", h.Dir(), text, err, want)
	}
	if _, err := claim("labs", h.ID, "netns"); err == nil || !strings.Contains(err.Error(), "there is a lab "+h.ID+" already") {
		t.Errorf("a second of that name: %v", err)
	}
}
