package experiment

import (
	_ "embed" // the page
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/vppdrill/vppdrill/scenarios/experiment"
)

//go:embed page.html.tmpl
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"figure": experiment.FigureText, "minus1": func(n int) int { return n - 1 }, "humps": humps}).Parse(pageText))

// view is what the page shows.
type view struct {
	*experiment.Outcome
	Folder   string
	Sections []section
	Few      bool
	// Change is two settings side by side; nil where there are more.
	Change *change
}

// change is a pair with a line for each figure.
type change struct {
	experiment.Pair
	Lines []changeLine
}

type changeLine struct {
	experiment.Difference
	Before, After experiment.Estimate
}

// humps is a name that may be broken before its capital letters and points.
func humps(name string) template.HTML {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && (unicode.IsUpper(c) || c == '.') {
			b.WriteString("<wbr>")
		}
		b.WriteString(template.HTMLEscapeString(string(c)))
	}
	return template.HTML(b.String()) // #nosec: each letter is escaped
}

// changeOf is what an outcome of two settings shows first.
func changeOf(o *experiment.Outcome) *change {
	pair, ok := o.Pair()
	if !ok {
		return nil
	}
	c := &change{Pair: pair}
	for _, m := range o.Measure {
		if before, after, d, ok := pair.Line(m); ok {
			c.Lines = append(c.Lines, changeLine{d, before, after})
		}
	}
	return c
}

// section is plots with what they show.
type section struct {
	Title, Says string
	Plots       []drawing
	// Coloured says that colours are values: they are not turned round in the dark.
	Coloured bool
}

// drawing is a plot and its name.
type drawing struct {
	Title string
	SVG   template.HTML
}

// Write writes experiment.html into an outcome's folder, and each of its plots, in its order, as plots/NUMBER.svg for other documents.
func Write(dir string, o *experiment.Outcome) error {
	v := view{Outcome: o, Folder: dir, Change: changeOf(o)}
	for _, p := range o.Points {
		for _, e := range p.Estimates {
			v.Few = v.Few || e.Few
		}
	}
	for _, draw := range plots {
		s, err := draw(o)
		if err != nil {
			return err
		}
		if len(s.Plots) > 0 {
			v.Sections = append(v.Sections, s)
		}
	}
	if err := v.writePlots(filepath.Join(dir, "plots")); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, "experiment.html"))
	if err != nil {
		return err
	}
	if err := page.Execute(file, v); err != nil {
		_ = file.Close() // the page's error says more
		return err
	}
	return file.Close()
}

// writePlots writes the plots into a folder of their own, in place of those that it has.
func (v *view) writePlots(dir string) error {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	n := 0
	for _, s := range v.Sections {
		for _, plot := range s.Plots {
			n++
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.svg", n)), []byte(plot.SVG), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
