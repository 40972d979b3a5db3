package repo

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// unreachableYet are the functions per folder that nothing reaches and that are still there. It only shrinks; a folder without an entry
// has none.
var unreachableYet = map[string]int{}

// Unreachable judges what `deadcode -json` prints about all programs and the public one. A folder that has no more unreachable functions
// than it may still have is passed over.
func Unreachable(report []byte) ([]Finding, error) {
	return unreachable(report, unreachableYet)
}

func unreachable(report []byte, yet map[string]int) ([]Finding, error) {
	var packages []struct {
		Path  string
		Funcs []struct {
			Name     string
			Position struct {
				File string
				Line int
			}
			Generated bool
		}
	}
	if err := json.Unmarshal(report, &packages); err != nil {
		return nil, fmt.Errorf("read what deadcode printed: %w", err)
	}
	in := map[string][]Finding{}
	var order []string
	for _, p := range packages {
		folder := strings.TrimPrefix(strings.TrimPrefix(p.Path, Module), "/")
		for _, f := range p.Funcs {
			if f.Generated || testOnly(folder) {
				continue
			}
			if in[folder] == nil {
				order = append(order, folder)
			}
			in[folder] = append(in[folder], Finding{Path: path.Join(folder, path.Base(f.Position.File)), Line: f.Position.Line,
				What: f.Name + " is reached by no program: remove it, or name it in reports/repo/public.go with the reason to keep it"})
		}
	}
	var found []Finding
	for _, folder := range order {
		if len(in[folder]) > yet[folder] {
			found = append(found, in[folder]...)
		}
	}
	return found, nil
}
