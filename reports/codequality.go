package reports

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
)

// qualityIssue is one entry of a code quality report, the part of Code Climate's format that GitLab reads.
type qualityIssue struct {
	Description string          `json:"description"`
	Check       string          `json:"check_name"`
	Fingerprint string          `json:"fingerprint"`
	Severity    string          `json:"severity"`
	Location    qualityLocation `json:"location"`
}

type qualityLocation struct {
	Path  string       `json:"path"`
	Lines qualityLines `json:"lines"`
}

type qualityLines struct {
	Begin int `json:"begin"`
}

// writeCodeQuality writes codequality.json: each run that did not pass as an issue at its scenario's file, for merge
// requests. Unlike SARIF's, its paths are no URIs.
func writeCodeQuality(w io.Writer, r Report) error {
	issues := []qualityIssue{}
	for _, f := range findings(r) {
		issues = append(issues, qualityIssue{f.rule + ": " + f.text + " Replay: " + f.replay, f.rule, f.key, "critical", qualityLocation{f.file, qualityLines{1}}})
	}
	if r.Incomplete != "" {
		text := "incomplete: " + oneLine(r.Incomplete)
		issues = append(issues, qualityIssue{text, "incomplete", fmt.Sprintf("%x", sha256.Sum256([]byte(text))), "critical", qualityLocation{"vppdrill", qualityLines{1}}})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(issues)
}
