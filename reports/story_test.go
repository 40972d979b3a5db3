package reports

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestStoryInBrowser goal: a person finds their way in a real failure: the topology at any instant, events by words with the state before and
// after, charts that zoom, two runs side by side; by keyboard, at two sizes, by day and by night. Method: a planted exhibit's page in
// chromium; the pictures stay where VPPDRILL_PICTURES says.
func TestStoryInBrowser(t *testing.T) {
	program := findChromium()
	if program == "" {
		t.Skip("no chromium found in PATH: the page was not tried in a browser")
	}
	dir := t.TempDir()
	if err := writeFolder(dir, realReport(t)); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t, program, "file://"+filepath.Join(dir, pageFile))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1280} {
			b.load(t, scheme, width)
			b.eval(t, `document.querySelectorAll("details").forEach(d => d.open = true)`, nil)
			b.await(t, "both stories stand", `document.querySelector(".story:not([data-ready])")?.scrollIntoView({ behavior: "instant" }); return document.querySelectorAll(".story[data-ready]").length === 2`)
			b.checkNoOverflow(t)
			b.checkContrast(t)
			b.picture(t, "story-"+scheme+map[int64]string{360: "-360", 1280: "-1280"}[width]+".png")
		}
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1280} {
			b.load(t, scheme, width) // the tail is folded, so that causes and the cluster stand in one picture
			b.await(t, "the story stands", `document.querySelector("#failures .story").scrollIntoView({ behavior: "instant" }); return !!document.querySelector("#failures .story[data-ready]")`)
			b.keep(t, fmt.Sprintf("failure-%s-%d", scheme, width))
		}
	}
	b.load(t, "light", 1280)
	b.await(t, "the failed run's story stands without a click", `document.querySelector("#failures .story").scrollIntoView({ behavior: "instant" }); return !!document.querySelector("#failures .story[data-ready]")`)
	var words string
	b.eval(t, `[...document.querySelectorAll("#failures .topology .node")].map(n => n.getAttribute("aria-label")).join("\n")`, &words)
	if strings.Count(words, "up, 3 pods, 3 of 255 addresses held") < 3 && strings.Count(words, ": up, 3 pods") != 4 || !strings.Contains(words, "3 tunnels") || !strings.Contains(words, "VRF 1:") {
		t.Errorf("the topology says\n%s", words)
	}
	var lines int
	b.eval(t, `document.querySelectorAll("#failures .topology .tunnel").length`, &lines)
	if lines != 6 {
		t.Errorf("%d tunnels between 4 nodes", lines)
	}
	// Back to the start: nothing is up yet.
	b.run(t, chromedp.Focus(chromedp.CSS(`#failures input[type="range"]`)), chromedp.KeyEvent(kb.Home))
	b.eval(t, `document.querySelector("#failures .story .quiet").textContent`, &words)
	if !strings.HasPrefix(words, "4 nodes, 0 with everything up; 0 pods") {
		t.Errorf("at the start: %q", words)
	}
	// An event, found by words, with the state that it changed.
	b.run(t, chromedp.Focus(chromedp.CSS(`#failures .finder input`)), chromedp.SendKeys(chromedp.CSS(`#failures .finder input`), "node-3 vxlan_add"))
	b.run(t, chromedp.Focus(chromedp.CSS(`#failures .found li:last-child button`)), chromedp.KeyEvent(kb.Enter))
	b.eval(t, `[...document.querySelectorAll("#failures .state ins")].map(e => e.textContent).join("\n") + "|" + document.querySelectorAll("#failures .state del").length`, &words)
	if !strings.Contains(words, "vxlan_tunnel") || !strings.HasSuffix(words, "|0") {
		t.Errorf("the event changed %q", words)
	}
	// Zoom by key: charts widen together and get finer ticks.
	b.eval(t, `document.querySelector('#failures .plot [tabindex="0"]').focus()`, nil)
	b.run(t, chromedp.KeyEvent("+"), chromedp.KeyEvent("+"))
	var zoomed struct {
		Wide  []float64
		Ticks int
	}
	b.eval(t, `({ Wide: [...document.querySelectorAll("#failures .zoomed")].filter(z => z.checkVisibility()).map(z => z.firstElementChild.getBoundingClientRect().width / z.clientWidth),
		Ticks: document.querySelectorAll("#failures .tick.fine").length })`, &zoomed)
	for _, w := range zoomed.Wide {
		if w < 3.9 || w > 4.1 {
			t.Errorf("zoomed to %v", zoomed.Wide)
		}
	}
	if len(zoomed.Wide) < 2 || zoomed.Ticks < 8 {
		t.Errorf("%d charts, %d fine ticks", len(zoomed.Wide), zoomed.Ticks)
	}
	b.checkNoOverflow(t)
	// Two runs side by side.
	b.eval(t, `document.getElementById("compare").open = true`, nil)
	b.await(t, "two runs stand side by side", `document.querySelectorAll("#compared > .sides > div").length === 2 && document.querySelectorAll("#compared td.differs").length > 4`)
	b.eval(t, `document.getElementById("first-difference").textContent`, &words)
	if !strings.Contains(words, "the clusters differ for the first time") {
		t.Errorf("the first difference of two runs: %q", words)
	}
	b.checkNoOverflow(t)
	// A line of the chain leads to its event: the slider stands at its instant, on the node where the law broke.
	var chain struct {
		Clicked, At, Chosen, Failed, Law string
	}
	b.run(t, chromedp.Focus(chromedp.CSS(`#failures .chain li:nth-last-child(2) .to-event`)), chromedp.KeyEvent(kb.Enter))
	b.eval(t, `const q = s => document.querySelector("#failures " + s), link = q('.to-event[aria-current="true"]');
		return { Clicked: link.closest("li").querySelector(".when").textContent, At: q(".instant output").textContent, Chosen: q('.found [aria-current="true"]')?.textContent.split(" ")[0] ?? "" }`, &chain)
	if chain.Clicked == "" || chain.At != chain.Clicked || chain.Chosen == "" {
		t.Errorf("the chain's last line but one: %+v", chain)
	}
	b.run(t, chromedp.Focus(chromedp.CSS(`#failures .chain li:last-child .to-event`)), chromedp.KeyEvent(kb.Enter))
	b.eval(t, `({ Failed: document.querySelector("#failures .topology .failed")?.getAttribute("aria-label") ?? "", Law: document.querySelector("#failures .topology .law")?.textContent ?? "" })`, &chain)
	if !strings.Contains(chain.Failed, "is broken here") || !strings.HasPrefix(chain.Law, "✗ ") {
		t.Errorf("the picture of the failure: %+v", chain)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.complaints {
		t.Error("console:", line)
	}
}
