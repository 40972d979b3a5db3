package reports

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

func render(t *testing.T, r Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := writeHTML(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestPageEscapes goal: no name becomes markup, script or style. Method: the sample's hostile run; every script element
// is the page's own, no attribute is an event handler, and nothing points outside.
func TestPageEscapes(t *testing.T) {
	html := render(t, sample())
	if n := strings.Count(html, "<script"); n != 1 {
		t.Errorf("%d script elements, want the page's own", n)
	}
	if strings.Contains(html, "<script>alert") {
		t.Error("a name became a script")
	}
	for _, bad := range []string{`\son[a-z]+=`, `javascript:`, `\ssrc=`, `(href|url)[=(]["']?https?:`, `\sstyle=`, `@import`} {
		if m := regexp.MustCompile(bad).FindString(html); m != "" {
			t.Errorf("%q in the page", m)
		}
	}
	if !strings.Contains(html, "default-src &#39;none&#39;") && !strings.Contains(html, "default-src 'none'") {
		t.Error("the page has no content policy")
	}
}

// TestPageIsSmall goal: a page of a whole catalogue is mailed around. Method: the budget of a run that passed, and a page
// of thousands of runs, must hold.
func TestPageIsSmall(t *testing.T) {
	empty, pass := len(render(t, Report{})), Report{Scenarios: sample().Scenarios[:1]}
	if empty > 64<<10 {
		t.Errorf("an empty page has %d bytes", empty)
	}
	if n := len(render(t, pass)) - empty; n > 96<<10 {
		t.Errorf("a run that passed takes %d bytes", n)
	}
	many := Report{}
	for i := range 6000 {
		r := sample().Scenarios[0]
		r.Seed, r.Timeline, r.Addresses = uint64(i), nil, nil
		many.Scenarios = append(many.Scenarios, r)
	}
	html := render(t, many)
	if len(html) > 5<<20 {
		t.Errorf("a page of 6000 runs has %d bytes", len(html))
	}
	for _, note := range []string{"1,000 more runs not listed", "4,700 more runs without a section"} {
		if !strings.Contains(html, note) {
			t.Errorf("the page does not say %q", note)
		}
	}
}

// TestPageOfOneBug goal: a mistake that breaks hundreds of runs is shown once in full, and the page can be mailed.
// Method: six hundred runs that fail in one of three ways, and as many in ways of their own.
func TestPageOfOneBug(t *testing.T) {
	for ways, want := range map[int]struct{ sections, listed int }{3: {3, 597}, 600: {kindsMax, 600 - kindsMax}} {
		var many Report
		for i := range 600 {
			r := sample().Scenarios[1]
			f := *r.Failure
			f.Cause = string(rune('一' + i%ways))
			r.Seed, r.Failure = uint64(i), &f
			many.Scenarios = append(many.Scenarios, r)
		}
		html := render(t, many)
		if sections, listed := strings.Count(html, `<section class="run`), strings.Count(html, `<li id="run-`); sections != want.sections || listed != want.listed {
			t.Errorf("%d ways to fail: %d sections and %d listed, want %+v", ways, sections, listed, want)
		}
		if len(html) > 5<<20 {
			t.Errorf("%d ways to fail: %d bytes", ways, len(html))
		}
	}
}

// TestPageWithoutAnything goal: odd reports are pages, too. Method: no run; a run with nothing in it; times that make no sense.
func TestPageWithoutAnything(t *testing.T) {
	odd := result.Result{VirtualSeconds: -1, Timeline: []result.Mark{{AtSeconds: 5, EndSeconds: 1, Kind: "action"}, {Kind: "what"}},
		Addresses: []result.Held{{FromSeconds: 9, UntilSeconds: 3}}, Failure: &result.Failure{}}
	for _, r := range []Report{{}, {Scenarios: []result.Result{{}}}, {Scenarios: []result.Result{odd}}} {
		if html := render(t, r); !strings.HasSuffix(html, "</html>\n") || strings.Contains(html, "NaN") {
			t.Error("not a whole page")
		}
	}
}

// TestHeadlines goal: the one sentence that everybody reads is right. Method: a table.
func TestHeadlines(t *testing.T) {
	for want, c := range map[string]Counts{
		"No scenario ran.":                           {},
		"The run passed.":                            {Pass: 1},
		"All 1,200 runs passed.":                     {Pass: 1200},
		"1 of 3 runs failed.":                        {Pass: 2, Fail: 1},
		"1 of 2 runs could not be judged.":           {Pass: 1, Error: 1},
		"1 of 2 runs failed, 1 could not be judged.": {Fail: 1, Error: 1},
	} {
		if got := headline(c); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}

// TestFigures goal: times and counts read as people write them. Method: tables around every change of unit.
func TestFigures(t *testing.T) {
	for s, want := range map[float64]string{0: "0s", 0.0000005: "0us", 0.00002: "20us", 0.25: "250ms", 0.9999: "1s", 1.5: "1.5s", 12.3456: "12.346s",
		59.9999: "1m00s", 90: "1m30s", 3599.9: "1h00m", 7500: "2h05m", 86399: "1d00h", 2678400: "31d00h", -2: "-2s"} {
		if got := clock(s); got != want {
			t.Errorf("clock(%v) = %s, want %s", s, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 61 << 20: "61 MiB", 6 << 30: "6 GiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("bytesText(%d) = %s, want %s", n, got, want)
		}
	}
	if got := moment(72.5); got != "1m12.5s" {
		t.Errorf("moment(72.5) = %s", got)
	}
}

// TestTicks goal: an axis has a few round labels for any length of run. Method: lengths from microseconds to months; every
// axis starts at 0, has 4 to 13 ticks and ascends.
func TestTicks(t *testing.T) {
	for _, length := range []float64{0.00001, 0.003, 0.5, 1, 2.7, 7, 45, 60, 100, 900, 3600, 86400, 2678400, 9e8} {
		ticks := stretch{0, length}.ticks()
		if len(ticks) < 4 || len(ticks) > 13 || ticks[0].Share != 0 {
			t.Errorf("%v seconds have ticks %v", length, ticks)
		}
		for i := range ticks[1:] {
			if ticks[i+1].Share <= ticks[i].Share {
				t.Errorf("%v seconds: %v", length, ticks)
			}
		}
	}
}

// TestDiffLines goal: exactly the lines that one state lacks are marked. Method: a table written with - and + before them.
func TestDiffLines(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"", "", ""},
		{"a\nb", "a\nb", "=a =b | =a =b"},
		{"a\nb\nc", "a\nc", "=a -b =c | =a =c"},
		{"a\nc", "a\nb\nc", "=a =c | =a +b =c"},
		{"x", "y", "-x | +y"},
	} {
		b, a := diffLines(c.before, c.after)
		var words []string
		for _, l := range b {
			words = append(words, map[bool]string{true: "-", false: "="}[l.Changed]+l.Text)
		}
		if len(b)+len(a) > 0 {
			words = append(words, "|")
		}
		for _, l := range a {
			words = append(words, map[bool]string{true: "+", false: "="}[l.Changed]+l.Text)
		}
		if diff := cmp.Diff(c.want, strings.Join(words, " ")); diff != "" {
			t.Errorf("%q to %q: %s", c.before, c.after, diff)
		}
	}
}

// TestNamesAddress goal: the map marks the address that the failure speaks of and no longer one. Method: a table.
func TestNamesAddress(t *testing.T) {
	for what, want := range map[string]bool{
		"10.1.0.2 is held twice": true, "10.1.0.20 is held twice": false, "held: 10.1.0.2.": true, "110.1.0.2 is odd": false,
		"route 10.1.0.2/32": true, "": false, "10.1.0.20 and 10.1.0.2": true,
	} {
		s := result.Result{Failure: &result.Failure{What: what}}
		if names(s, "10.1.0.2") != want {
			t.Errorf("%q names 10.1.0.2: %v", what, !want)
		}
	}
}

// TestAddressMapCuts goal: a map keeps the addresses that matter and says what it cut. Method: more rows and spans than
// fit, the failure about the highest address.
func TestAddressMapCuts(t *testing.T) {
	s := result.Result{VirtualSeconds: 100, Verdict: result.Fail, Failure: &result.Failure{Node: "n", What: "10.0.0.99 is lost"}}
	for a := range 100 {
		for i := range 15 {
			s.Addresses = append(s.Addresses, result.Held{Node: "n", Addr: fmt.Sprintf("10.0.0.%d", a), Pod: fmt.Sprint(i), FromSeconds: float64(i), UntilSeconds: float64(i) + 0.5})
		}
	}
	maps, cut := addressMapsOf(s, spanOf(s))
	if len(maps) != 1 || cut != 0 {
		t.Fatalf("%d maps, %d cut", len(maps), cut)
	}
	m := maps[0]
	last := m.Rows[len(m.Rows)-1]
	if len(m.Rows) != mapRowsMax || m.RowsCut != 100-mapRowsMax || !last.Named || last.Addr != "10.0.0.99" {
		t.Errorf("%d rows, %d cut, last %+v", len(m.Rows), m.RowsCut, last.Addr)
	}
	if m.Spans+m.SpansCut != mapRowsMax*15 || m.Spans > mapSpansMax {
		t.Errorf("%d spans drawn, %d cut", m.Spans, m.SpansCut)
	}
}

// TestTimelineStacks goal: bands that overlap lie below one another, bands that do not share a level. Method: three
// bands on one node, two of them at once; node-10 comes after node-2.
func TestTimelineStacks(t *testing.T) {
	s := result.Result{VirtualSeconds: 10, Timeline: []result.Mark{
		{AtSeconds: 1, EndSeconds: 5, Kind: "fault", Node: "node-2", Text: "a"},
		{AtSeconds: 2, EndSeconds: 3, Kind: "fault", Node: "node-2", Text: "b"},
		{AtSeconds: 6, EndSeconds: 7, Kind: "fault", Node: "node-2", Text: "c"},
		{AtSeconds: 6, EndSeconds: 6, Kind: "action", Node: "node-10", Text: "d"},
		{AtSeconds: 6, EndSeconds: 6, Kind: "action", Text: "e"},
	}}
	c := timelineOf(s, spanOf(s))
	var lanes []string
	for _, l := range c.Lanes {
		lanes = append(lanes, l.Name)
	}
	if diff := cmp.Diff([]string{"cluster", "node-2", "node-10"}, lanes); diff != "" {
		t.Fatal(diff)
	}
	b := c.Lanes[1].Bands
	if b[1].Top != b[0].Top+bandHeight || b[2].Top != b[0].Top || c.Lanes[2].Top != c.Lanes[1].Top+laneHeight+bandHeight {
		t.Errorf("bands %+v", b)
	}
}

// BenchmarkWriteHTML: a report of a whole catalogue is written while the developer waits.
func BenchmarkWriteHTML(b *testing.B) {
	r := Report{}
	for i := range 100 {
		r.Scenarios = append(r.Scenarios, sample().Scenarios[i%2])
	}
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		if err := writeHTML(&out, r); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(out.Len()))
	}
}
