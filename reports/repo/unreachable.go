package repo

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// Unreachable judges what `deadcode -json` prints about all programs and the public one: every function in it is a finding.
func Unreachable(report []byte) ([]Finding, error) {
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
	var found []Finding
	for _, p := range packages {
		folder := strings.TrimPrefix(strings.TrimPrefix(p.Path, Module), "/")
		for _, f := range p.Funcs {
			if f.Generated || testOnly(folder) {
				continue
			}
			found = append(found, Finding{Path: path.Join(folder, path.Base(f.Position.File)), Line: f.Position.Line,
				What: f.Name + " is reached by no program: remove it, or name it in reports/repo/public.go with the reason to keep it"})
		}
	}
	return found, nil
}
