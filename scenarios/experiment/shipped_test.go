package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: the experiments that come along can be run. Method: each is read and planned, which refuses whatever its points could not be.
func TestShipped(t *testing.T) {
	files, err := filepath.Glob("shipped/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "\nscenario: ") {
			continue // a scenario that some of them vary
		}
		f, err := Parse(name, data)
		if err != nil {
			t.Error(err)
			continue
		}
		s, err := scenarios.Load(filepath.Join("shipped", f.Scenario))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Plan(s, "v1"); err != nil {
			t.Error(err)
		}
	}
}
