package mutation

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Goal: a program that does not end counts as caught by a limit, as one in the field is seen to hang; one that dies as
// crashed, and one that ends as neither. Method: small programs in the planted one's place.
func TestEnds(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		want         Outcome
		by, what     string
	}{
		{"ends", "exit 0", Survived, "", ""},
		{"loops", "while :; do :; done", Caught, limit, "did not end within 1s of processor time"},
		{"dies", "echo 'panic: nil' >&2; exit 2", Crashed, "", "panic: nil"},
	} {
		program := filepath.Join(t.TempDir(), "planted")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+tc.script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		m := &Trial{Outcome: Survived}
		err := trial{program: program}.process(t.Context(), m, time.Second, nil, func(out io.Reader, _ func()) error {
			_, err := io.ReadAll(out)
			return err
		})
		if err != nil || m.Outcome != tc.want || m.By != tc.by || !strings.Contains(m.What, tc.what) {
			t.Errorf("%s: %s by %q: %s; %v", tc.name, m.Outcome, m.By, m.What, err)
		}
	}
}
