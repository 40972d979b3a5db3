package reports

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
)

// The page's sources. They are written by hand and small, because the page is one file that people mail around.
var (
	//go:embed page/report.html.tmpl
	pageTemplate string
	//go:embed page/report.css
	pageStyle string
	//go:embed page/report.js
	pageScript string
	//go:embed page/story.js
	storyScript string
	//go:embed page/picture.js
	pictureScript string
	//go:embed page/compare.js
	compareScript string
)

// layout is the parsed template. It is parsed once, when the first page is written: it takes milliseconds, which no other command has to
// wait for. A template that does not parse is a broken build.
var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Funcs(template.FuncMap{
		"clock": clock, "thousands": thousands[int64], "bytes": bytesText, "pct": percent, "plural": plural,
	}).Parse(pageTemplate))
})

// pageData is what the template is given beside the report's own view.
type pageData struct {
	overview
	Style  template.CSS
	Script template.JS
	Policy string
}

// writeHTML writes report.html: one page that needs no network, no colour, no mouse and no script. Its content policy
// allows only the style and the script that it carries, by their hashes, so that a hostile name that slipped through
// the escaping could still do nothing. What a fold hides stands in a noscript element: a browser with scripts takes it for
// one text until somebody opens the fold, so that a page of hundreds of runs opens at once, and one without shows it all.
func writeHTML(w io.Writer, r Report) error {
	style, script := lean(pageStyle), lean(pageScript+pictureScript+storyScript+compareScript)
	data := pageData{
		overview: overviewOf(r),
		Style:    template.CSS(style),
		Script:   template.JS(script),
		Policy: fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
			sourceHash(style), sourceHash(script)),
	}
	if err := data.fit(pageMax); err != nil {
		return err
	}
	return layout().Execute(w, data)
}

// fit renders the sections of a page of at most most bytes. What does not fit loses its story, then its section.
func (p *pageData) fit(most int) error {
	var frame strings.Builder
	if err := layout().Execute(&frame, p); err != nil {
		return err
	}
	room, without := most-frame.Len(), map[string]bool{}
	for i := range p.Details {
		d := &p.Details[i]
		fits, err := d.render(room, room/min(4, len(p.Details)-i))
		if err != nil {
			return err
		}
		if !fits {
			without[d.ID] = true
		}
		room -= len(d.HTML)
	}
	p.drop(without)
	return nil
}

// render writes the section of a run into at most room bytes, its story into at most story, and reports whether it fits. The
// first failures must not take the stories of the others.
func (d *detail) render(room, story int) (bool, error) {
	for range 2 {
		var b strings.Builder
		if err := layout().ExecuteTemplate(&b, "run", d); err != nil {
			return false, err
		}
		if b.Len() <= room && len(d.Story) <= story {
			d.HTML = template.HTML(b.String())
			return true, nil
		}
		if d.lean(); !d.Leaned {
			break
		}
	}
	return false, nil
}

// lean is a source without what only its writers read: indentation, and lines that are comments.
func lean(source string) string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			b.WriteString(line + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// sourceHash is a CSP level 2 hash source of an inline element.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// percent writes a share of a chart's width.
func percent(share float64) string { return fmt.Sprintf("%.3f%%", share*100) }
