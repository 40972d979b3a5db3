package vm

import (
	"bufio"
	"io"
	"strings"
	"sync"
)

// readLines hands on each line of r and closes lines at its end.
func readLines(r io.Reader, lines chan<- string) {
	defer close(lines)
	for s := bufio.NewScanner(r); s.Scan(); {
		lines <- s.Text()
	}
}

// tailBytes are kept of a console: a kernel's panic with its call trace takes some 3 kB.
const tailBytes = 16 << 10

// consoleMark begins what the machine's first process writes to the console.
const consoleMark = "vppdrill: "

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer and never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailBytes; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

// said is the line that matters, behind ": ", empty where there is none: the first of a panic or of the machine's first
// process, else the last.
func (t *tail) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := ""
	for line := range strings.Lines(string(t.text)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		said = ": " + line
		if strings.Contains(line, "Kernel panic") || strings.HasPrefix(line, consoleMark) {
			break
		}
	}
	return said
}
