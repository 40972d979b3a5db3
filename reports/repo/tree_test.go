package repo

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTree goal: the repository keeps its own rules. Method: load the tree that this test lies in and run every rule.
func TestTree(t *testing.T) {
	tree, err := Load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			found := rule.Run(tree)
			for _, f := range found {
				t.Error(f)
			}
			if len(found) > 0 {
				t.Log("why: " + rule.Why)
			}
		})
	}
}

// root is the nearest folder above this package that holds go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Skip("no go.mod above this package: the tree is not at hand")
	return ""
}
