package reports

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/result"
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
		Locations []sarifLocation `json:"locations,omitempty"`
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
	for _, s := range r.Scenarios {
		if s.Verdict == result.Pass || s.Verdict == result.Stopped {
			continue
		}
		rule, short, full, text := "not-judged", "A run that could not be judged says nothing.", "", s.Error
		switch {
		case s.Failure != nil:
			rule, text = s.Failure.Law, s.Failure.What
			if i := slices.IndexFunc(s.Laws, func(l result.LawResult) bool { return l.Name == rule }); i >= 0 {
				short, full = cmp.Or(s.Laws[i].Rule, s.Laws[i].Why), s.Laws[i].Why
			}
		case s.Verdict == result.Fail:
			rule, short = "expectation", "What a scenario expects beside the laws did not come true."
		}
		if !slices.ContainsFunc(run.Tool.Driver.Rules, func(x sarifRule) bool { return x.ID == rule }) {
			described := sarifRule{ID: rule, Short: sarifText{oneLine(short)}}
			if full != "" {
				described.Full = &sarifText{oneLine(full)}
			}
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, described)
		}
		res := sarifResult{Rule: rule, Level: "error", Message: sarifText{oneLine(text) + " Replay: " + oneLine(s.Replay)}}
		if s.File != "" {
			var at sarifLocation
			at.Physical.Artifact.URI, at.Physical.Region.Line = s.File, 1
			res.Locations = []sarifLocation{at}
		}
		run.Results = append(run.Results, res)
	}
	if r.Incomplete != "" {
		run.Invocations = []sarifInvocation{{Notifications: []sarifNotification{{"error", sarifText{"incomplete: " + oneLine(r.Incomplete)}}}}}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}
