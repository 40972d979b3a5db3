package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// ranBefore is one run of an earlier report, as its result.json has it.
type ranBefore struct {
	Scenario string         `json:"scenario"`
	File     string         `json:"file"`
	Seed     uint64         `json:"seed"`
	Verdict  result.Verdict `json:"verdict"`
}

// readFailed are the runs in a report's folder that did not pass.
func readFailed(dir string) (failed []ranBefore, err error) {
	path := filepath.Join(dir, "result.json")
	f, err := os.Open(path)
	if err != nil {
		return nil, cli.Usagef("run: --failed: %w", err)
	}
	defer func() { _ = f.Close() }() // it is only read
	var report struct {
		Scenarios []ranBefore `json:"scenarios"`
	}
	if err := json.NewDecoder(f).Decode(&report); err != nil {
		return nil, cli.BadInput(fmt.Errorf("run: --failed %s: no result.json of a run: %w", path, err))
	}
	for _, r := range report.Scenarios {
		if r.Verdict == result.Fail || r.Verdict == result.Error {
			failed = append(failed, r)
		}
	}
	return failed, nil
}

// failedFiles are the words that run would take to choose the scenarios of these runs: their files where those are still there, else
// their names in the catalogue.
func failedFiles(failed []ranBefore) (words []string) {
	seen := map[string]bool{}
	for _, r := range failed {
		word := r.Scenario
		if _, err := os.Stat(r.File); r.File != "" && err == nil {
			word = r.File
		}
		if !seen[word] {
			seen[word] = true
			words = append(words, word)
		}
	}
	return words
}

// onlyFailed leaves the runs that did not pass before.
func onlyFailed(tasks []task, failed []ranBefore) (left []task) {
	was := map[string]bool{}
	for _, r := range failed {
		was[fmt.Sprint(r.Scenario, " ", r.Seed)] = true
	}
	for _, t := range tasks {
		if was[fmt.Sprint(t.s.Name, " ", t.seed)] {
			left = append(left, t)
		}
	}
	return left
}
