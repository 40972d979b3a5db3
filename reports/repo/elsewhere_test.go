package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program whose only part for macOS is missing is found, and whole it is not: sources of one function, with and without it.
func TestElsewhere(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module " + Module + "\n\ngo 1.26\n",
		"main.go":       "package main\n\nfunc main() { println(kernel()) }\n",
		"main_linux.go": "package main\n\nfunc kernel() string { return \"linux\" }\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := compiles(root, "darwin/arm64", ".")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 || !strings.Contains(found[0].What, "kernel") {
		t.Errorf("found %v of a program without a function, want its name", found)
	}
	if found, err = compiles(root, "linux/arm64", "."); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v of a program that is whole, want nothing", found, err)
	}
}
