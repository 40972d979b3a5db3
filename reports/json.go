package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// WriteJSON writes result.json, one run at a time: thousands of them need no more memory than one. Lists that programs
// loop over are never null.
func WriteJSON(w io.Writer, r Report) error {
	runs := r.Scenarios
	if r.Explored == nil && r.Incomplete == "" && len(runs) > 0 {
		r.NotExercised = notExercised(runs)
	}
	r.Scenarios = []result.Result{}
	frame, err := indentedJSON(r, "")
	if err != nil {
		return err
	}
	before, after, _ := bytes.Cut(frame, []byte("\n  \"scenarios\": []")) // a line's start is in no value
	if _, err := fmt.Fprintf(w, "%s\n  \"scenarios\": [", before); err != nil {
		return err
	}
	between, end := "\n    ", ""
	for _, s := range runs {
		if s.Laws == nil {
			s.Laws = []result.LawResult{}
		}
		if s.Timeline == nil {
			s.Timeline = []result.Mark{}
		}
		text, err := indentedJSON(s, "    ")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", between, text); err != nil {
			return err
		}
		between, end = ",\n    ", "\n  "
	}
	_, err = fmt.Fprintf(w, "%s]%s\n", end, after)
	return err
}

// indentedJSON is a value as JSON without a last line end, prefix being before each line but the first.
func indentedJSON(v any, prefix string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
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
