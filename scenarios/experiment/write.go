package experiment

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Write writes an outcome's files into a folder: experiment.json, points.csv, runs.csv, and points/NUMBER.yaml, the scenario of each
// point, which replays its runs.
func (o *Outcome) Write(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "points"), 0o755); err != nil {
		return err
	}
	for _, p := range o.Points {
		if err := os.WriteFile(filepath.Join(dir, p.File()), p.Scenario.Marshal(), 0o644); err != nil {
			return err
		}
	}
	for name, write := range map[string]func(io.Writer) error{"experiment.json": o.JSON, "points.csv": o.pointsCSV, "runs.csv": o.runsCSV} { //vppdrill:unordered each writes its own file
		if err := writeFile(filepath.Join(dir, name), write); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		_ = file.Close() // the error of writing says more
		return fmt.Errorf("write %s: %w", name, err)
	}
	return file.Close()
}

// File is the point's scenario in the folder of results.
func (p *Point) File() string { return filepath.Join("points", fmt.Sprintf("%03d.yaml", p.Number)) }

// JSON writes the outcome.
func (o *Outcome) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(o)
}

// columns are the names of the varied fields.
func (o *Outcome) columns() (list []string) {
	for _, a := range o.Vary {
		list = append(list, a.Field)
	}
	return list
}

func (p *Point) cells() []string {
	list := []string{strconv.Itoa(p.Number), p.Arm}
	for _, v := range p.Values {
		list = append(list, v.Text)
	}
	return list
}

func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// pointsCSV has a line for each figure of each point.
func (o *Outcome) pointsCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write(slices.Concat([]string{"point", "arm"}, o.columns(), []string{"metric", "runs", "mean", "low", "high", "p10", "p50", "p90", "tooFewSeeds"})) // Error tells
	for _, p := range o.Points {
		for _, e := range p.Estimates {
			_ = out.Write(slices.Concat(p.cells(), []string{e.Metric, strconv.Itoa(e.Runs), exact(e.Mean), exact(e.Low), exact(e.High), exact(e.P10), exact(e.P50), exact(e.P90), strconv.FormatBool(e.Few)}))
		}
	}
	out.Flush()
	return out.Error()
}

// runsCSV has a line for each run with all of its figures.
func (o *Outcome) runsCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	names := map[string]bool{}
	for _, p := range o.Points {
		for _, r := range p.Runs {
			for name := range r.Figures { // in any order: a set is filled
				names[name] = true
			}
		}
	}
	metrics := slices.Sorted(maps.Keys(names))
	_ = out.Write(slices.Concat([]string{"point", "arm"}, o.columns(), []string{"seed", "verdict", "digest"}, metrics)) // Error tells
	for _, p := range o.Points {
		for _, r := range p.Runs {
			line := slices.Concat(p.cells(), []string{strconv.FormatUint(r.Seed, 10), string(r.Verdict), r.Digest})
			for _, m := range metrics {
				text := ""
				if x, ok := r.Figures[m]; ok {
					text = exact(x)
				}
				line = append(line, text)
			}
			_ = out.Write(line)
		}
	}
	out.Flush()
	return out.Error()
}
