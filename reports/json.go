package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// WriteJSON writes result.json. Lists that programs loop over are never null.
func WriteJSON(w io.Writer, r Report) error {
	r.Scenarios = slices.Clone(r.Scenarios)
	if r.Scenarios == nil {
		r.Scenarios = []result.Result{}
	}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		if s.Laws == nil {
			s.Laws = []result.LawResult{}
		}
		if s.Timeline == nil {
			s.Timeline = []result.Mark{}
		}
	}
	if r.Explored == nil && r.Incomplete == "" && len(r.Scenarios) > 0 {
		r.NotExercised = notExercised(r.Scenarios)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// resultMost is how many bytes of a result.json are read: ten times the catalogue's.
const resultMost = 512 << 20

// errNoReport says that a folder holds no result.json that this program can read.
var errNoReport = errors.New("no report")

// Read takes a report back from a folder that Folder.Keep wrote. Unknown fields are fine: a newer program may have
// written them. Errors wrap ErrNoReport when the file is missing or is no report.
func Read(dir string) (Report, error) {
	name := filepath.Join(dir, resultFile)
	f, err := os.Open(name)
	if err != nil {
		return Report{}, fmt.Errorf("%w in %s: %w", errNoReport, dir, err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	r, err := readJSON(io.LimitReader(f, resultMost))
	if err != nil {
		return Report{}, fmt.Errorf("%w: %s: %w", errNoReport, name, err)
	}
	return r, nil
}

// readJSON reads what WriteJSON wrote.
func readJSON(from io.Reader) (Report, error) {
	var r struct {
		Report
		// Scenarios is a pointer here because its absence is what tells another program's JSON from an empty report.
		Scenarios *[]result.Result `json:"scenarios"`
	}
	if err := json.NewDecoder(from).Decode(&r); err != nil {
		return Report{}, err
	}
	if r.Scenarios == nil {
		return Report{}, errors.New(`it has no "scenarios"`)
	}
	r.Report.Scenarios = *r.Scenarios
	return r.Report, nil
}
