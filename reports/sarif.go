package reports

import (
	"encoding/json"
	"io"
	"slices"
)

// The part of SARIF 2.1.0 that code hosts read.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations,omitempty"`
		Results     []sarifResult     `json:"results"`
	}
	// sarifInvocation is there where a command was ended before its end.
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string     `json:"id"`
		Short sarifText  `json:"shortDescription"`
		Full  *sarifText `json:"fullDescription,omitempty"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule      string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		// Prints tell a server which findings of two uploads are the same.
		Prints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				Line int `json:"startLine"`
			} `json:"region"`
		} `json:"physicalLocation"`
	}
)

// writeSARIF writes results.sarif: each run that did not pass as a result at its scenario's file, its rule the broken
// law.
func writeSARIF(w io.Writer, r Report) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "vppdrill", Version: r.Version, Rules: []sarifRule{}}}, Results: []sarifResult{}}
	for _, f := range findings(r) {
		if !slices.ContainsFunc(run.Tool.Driver.Rules, func(x sarifRule) bool { return x.ID == f.rule }) {
			described := sarifRule{ID: f.rule, Short: sarifText{f.short}}
			if f.full != "" {
				described.Full = &sarifText{f.full}
			}
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, described)
		}
		var at sarifLocation
		at.Physical.Artifact.URI, at.Physical.Region.Line = f.place, 1
		run.Results = append(run.Results, sarifResult{Rule: f.rule, Level: "error", Message: sarifText{f.text + " Replay: " + f.replay},
			Locations: []sarifLocation{at}, Prints: map[string]string{"vppdrill/v1": f.key}})
	}
	if r.Incomplete != "" {
		run.Invocations = []sarifInvocation{{Notifications: []sarifNotification{{"error", sarifText{"incomplete: " + oneLine(r.Incomplete)}}}}}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}
