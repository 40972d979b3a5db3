package reports

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/vppdrill/vppdrill/reports/picturetest"
)

// TestBrowser goal: the page works for people: no complaint on the console, no request, every run reachable by keyboard,
// readable colours by day and by night, no sideways scrolling on a phone. Method: Debian's chromium, driven headless.
// The pictures land in a folder that the log names when VPPDRILL_PICTURES is set, else in the test's own.
func TestBrowser(t *testing.T) {
	program := findChromium()
	if program == "" {
		t.Skip("no chromium found in PATH: the page was not tried in a browser")
	}
	dir := t.TempDir()
	if err := writeFolder(dir, sample()); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t, program, "file://"+filepath.Join(dir, pageFile))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1280} {
			t.Run(fmt.Sprintf("%s/%d", scheme, width), func(t *testing.T) {
				b.load(t, scheme, width)
				b.picture(t, fmt.Sprintf("%s-%d.png", scheme, width))
				b.keep(t, fmt.Sprintf("report-%s-%d", scheme, width))
				b.checkNoOverflow(t)
				b.eval(t, `document.querySelectorAll("details").forEach(d => d.open = true)`, nil)
				b.checkNoOverflow(t)
				b.checkContrast(t)
			})
		}
	}
	t.Run("keyboard", b.checkKeyboard)
	t.Run("sort and filter", b.checkTable)
	t.Run("arrow keys in a chart", b.checkChart)
	t.Run("without script", b.checkWithoutScript)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.complaints {
		t.Error("console:", line)
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, b.url) && url != "data:," {
			t.Error("request:", url)
		}
	}
	if len(b.requests) == 0 {
		t.Error("not even the page itself was seen loading: the watch for requests is blind")
	}
}

func findChromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	return ""
}

// browser is one headless browser with what it complained about and asked for.
type browser struct {
	ctx        context.Context
	url        string
	mu         sync.Mutex
	complaints []string
	requests   []string
}

func startBrowser(t *testing.T, program, url string) *browser {
	t.Helper()
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(program), chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(time.Minute),
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	ctx, leave := chromedp.NewContext(ctx)
	t.Cleanup(leave)
	b := &browser{ctx: ctx, url: url}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Skipf("%s does not start here: %v", program, err)
	}
	call(t, b, network.Enable, network.EnableParams{})
	call(t, b, log.Enable, cdp.Empty{})
	call(t, b, runtime.Enable, cdp.Empty{})
	call(t, b, page.Enable, page.EnableParams{})
	return b
}

func (b *browser) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, fmt.Sprint(ev.Type, " ", ev.Args))
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, fmt.Sprintf("%+v", *ev.ExceptionDetails))
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, ev.Entry.Text)
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, ev.Request.URL)
	case *page.EventJavascriptDialogOpening:
		b.complaints = append(b.complaints, "dialog: "+ev.Message)
	}
}

func (b *browser) run(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second) // an element that never comes must not eat the whole test's time
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// call sends one command of the browser's protocol.
func call[P, R any](t *testing.T, b *browser, cmd cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(b.ctx, cmd, params); err != nil {
		t.Fatal(err)
	}
}

// eval runs a script and reads its value into out, which may be nil.
func (b *browser) eval(t *testing.T, script string, out any) {
	t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("JSON.stringify((() => { "+returning(script)+" })() ?? null)"))
	if err != nil {
		t.Fatal(err)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatal(err)
	}
}

// await evaluates a condition until it holds: what a key sets off, a hashchange say, may come later than the key's own answer.
func (b *browser) await(t *testing.T, what, condition string) {
	t.Helper()
	for range 200 {
		var holds bool
		if b.eval(t, condition, &holds); holds {
			return
		}
		b.run(t, chromedp.Sleep(50*time.Millisecond))
	}
	t.Errorf("not within 10 s: %s", what)
}

func returning(script string) string {
	if strings.Contains(script, "return ") {
		return script
	}
	return "return " + script
}

// load opens the page afresh in a colour scheme and a width.
func (b *browser) load(t *testing.T, scheme string, width int64) {
	t.Helper()
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600})
	b.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(b.url), chromedp.WaitReady(chromedp.CSS("footer")))
}

// showAll draws what a reader would have to scroll to, too: a picture is of all.
const showAll = `document.querySelectorAll("main > section, .run, .others li").forEach(e => e.style.contentVisibility = "visible")`

func (b *browser) picture(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("VPPDRILL_PICTURES")
	if dir == "" {
		dir = t.TempDir()
	}
	b.eval(t, showAll, nil)
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if len(png) < 10_000 {
		t.Errorf("a picture of %d bytes shows nothing", len(png))
	}
	if err := os.WriteFile(filepath.Join(dir, name), png, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("picture: %s", filepath.Join(dir, name))
}

// keep holds the upper part of the page as it stands against the picture in testdata/pictures, or with -rewrite keeps it there. Reviewers
// compare the pictures of a change with those before it.
func (b *browser) keep(t *testing.T, name string) {
	t.Helper()
	b.eval(t, showAll, nil)
	var width, height float64
	b.eval(t, `document.documentElement.clientWidth`, &width)
	b.eval(t, `document.documentElement.scrollHeight`, &height)
	beyond := true
	shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: "png", CaptureBeyondViewport: &beyond,
		Clip: &page.Viewport{Width: width, Height: min(height, picturesTall), Scale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	version, err := chromedp.Call(b.ctx, cdpbrowser.GetVersion, cdp.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	picturetest.Kept(t, *rewrite, picturesDir, name, version.Product, shot.Data)
}

// checkNoOverflow looks for anything that makes the page wider than its window.
func (b *browser) checkNoOverflow(t *testing.T) {
	t.Helper()
	var wide []string
	b.eval(t, `
		const width = document.documentElement.clientWidth, out = []; // a section clips what is too wide for it
		const cut = [...document.querySelectorAll("main > section, .run")].filter(s => s.scrollWidth > s.clientWidth + 6).map(s => "section " + s.id + " " + s.scrollWidth + ">" + s.clientWidth);
		if (document.documentElement.scrollWidth > width || cut.length) {
			for (const e of document.querySelectorAll("body *")) {
				const box = e.getBoundingClientRect();
				if (box.right > width + 1 && box.width > 0) out.push(e.tagName + "." + (e.className.baseVal ?? e.className) + " " + Math.round(box.right) + ">" + width);
			}
			out.push(...cut, "page " + document.documentElement.scrollWidth + ">" + width);
		}
		return out.slice(-12)`, &wide)
	for _, w := range wide {
		t.Error("wider than the window:", w)
	}
}

// checkContrast computes WCAG 2.2's contrast (1.4.3) of every visible text against the ground that it stands on.
func (b *browser) checkContrast(t *testing.T) {
	t.Helper()
	var poor []string
	var seen int
	b.eval(t, contrastScript, &poor)
	b.eval(t, "window.contrastSeen", &seen)
	for _, p := range poor {
		t.Error("contrast under 4.5:", p)
	}
	if seen < 100 {
		t.Errorf("only %d texts were measured: the check is blind", seen)
	}
}

const contrastScript = `
	const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return { rgb: m.slice(0, 3), a: m.length > 3 ? m[3] : 1 }; };
	const mix = (top, under) => top.rgb.map((v, i) => v * top.a + under[i] * (1 - top.a));
	const lum = rgb => { const f = rgb.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
	const ground = e => {
		const layers = [];
		for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); layers.push(c); if (c.a === 1) break; }
		return layers.reverse().reduce((under, c) => mix(c, under), [255, 255, 255]);
	};
	const out = new Set(); let seen = 0;
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.textContent.trim() || !e.checkVisibility() || e.closest("script, style, title, .unseen, .skip")) continue;
		const style = getComputedStyle(e), svg = e.closest("svg"), under = ground(svg ? svg.parentElement : e);
		const ink = mix(parse(svg ? style.fill : style.color), under);
		const a = lum(ink), b = lum(under), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		seen++;
		if (ratio < 4.5) out.add(ratio.toFixed(2) + " " + e.tagName + "." + (e.className.baseVal ?? e.className) + " " + walk.currentNode.textContent.trim().slice(0, 30));
	}
	window.contrastSeen = seen;
	return [...out]`

// checkKeyboard presses Tab from the top and wants every run's link and fold on the way, each visibly in focus.
func (b *browser) checkKeyboard(t *testing.T) {
	b.load(t, "light", 1280)
	var want, got []string
	b.eval(t, `[...document.querySelectorAll("section.run")].map(s => s.id)`, &want)
	for range 400 {
		var at struct {
			Tag, Href, Run string
			Outlined       bool
		}
		b.run(t, chromedp.KeyEvent(kb.Tab))
		b.eval(t, `const e = document.activeElement, s = getComputedStyle(e);
			return { Tag: e.tagName, Href: e.getAttribute("href") || "", Run: e.closest("section.run")?.id || "",
				Outlined: s.outlineStyle !== "none" || s.stroke !== "none" }`, &at)
		if at.Tag == "BODY" {
			break
		}
		if !at.Outlined {
			t.Errorf("%s %s has no visible focus", at.Tag, at.Href)
		}
		if at.Tag == "SUMMARY" && at.Run != "" {
			got = append(got, at.Run)
		}
		if strings.HasPrefix(at.Href, "#run-") {
			got = append(got, "link "+at.Href[1:])
		}
	}
	for _, id := range want {
		if !slices.Contains(got, id) || !slices.Contains(got, "link "+id) {
			t.Errorf("Tab did not reach %s and its link; it reached %v", id, got)
		}
	}
	if len(want) != len(sample().Scenarios) {
		t.Errorf("%d runs on the page", len(want))
	}
	// A link opens the folded run that it leads to and moves the focus there.
	b.run(t, chromedp.Focus(chromedp.CSS(`a[href="#run-1"]`)), chromedp.KeyEvent(kb.Enter))
	b.await(t, "the link to a folded run opens it",
		`document.querySelector("#run-1 details").open && document.activeElement.closest("section")?.id === "run-1"`)
}

// checkTable sorts by events and filters by words, by keyboard alone.
func (b *browser) checkTable(t *testing.T) {
	b.load(t, "light", 1280)
	column := `[...document.querySelectorAll("#overview tr.scenario:not([hidden])")].map(tr => tr.cells[4].textContent)`
	var events []string
	b.run(t, chromedp.Focus(chromedp.CSS(`#overview thead th:nth-child(5) button`)), chromedp.KeyEvent(kb.Enter))
	b.eval(t, column, &events)
	if want := []string{"12", "51,377", "128,400", "128,400"}; !slices.Equal(events, want) {
		t.Errorf("sorted %v, want %v", events, want)
	}
	b.run(t, chromedp.KeyEvent(kb.Enter))
	b.eval(t, column, &events)
	if len(events) == 0 || events[0] != "128,400" {
		t.Errorf("sorted down %v", events)
	}
	var shown string
	b.run(t, chromedp.Focus(chromedp.CSS("#filter")), chromedp.SendKeys(chromedp.CSS("#filter"), "cidr owner"))
	b.eval(t, column, &events)
	b.eval(t, `document.getElementById("shown").textContent + [...document.querySelectorAll("section.run:not([hidden])")].length`, &shown)
	if len(events) != 1 || shown != "1 of 4 runs shown1" {
		t.Errorf("filtered to %v, %q", events, shown)
	}
}

// checkChart walks a chart's marks: one Tab stop, arrow keys inside, the mark's words below.
func (b *browser) checkChart(t *testing.T) {
	b.load(t, "light", 1280)
	var stops, marks int
	b.eval(t, `document.querySelectorAll("#run-2 .plot")[0].querySelectorAll('[tabindex="0"]').length`, &stops)
	b.eval(t, `document.querySelectorAll("#run-2 .plot")[0].querySelectorAll(".mark").length`, &marks)
	if stops != 1 || marks < 8 {
		t.Errorf("%d tab stops among %d marks", stops, marks)
	}
	var said string
	b.eval(t, `document.querySelector('#run-2 .plot [tabindex="0"]').focus()`, nil)
	b.run(t, chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	b.eval(t, `document.querySelector("#run-2 .readout").textContent`, &said)
	if !strings.Contains(said, "drop-reply") {
		t.Errorf("the third mark in time says %q", said)
	}
}

// checkWithoutScript reads the page as a browser without scripts shows it.
func (b *browser) checkWithoutScript(t *testing.T) {
	call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.load(t, "light", 1280)
	defer call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false}) // what it shows hangs on it
	var got struct {
		Rows, Bodies, Focusable int
		Controls                bool
	}
	b.eval(t, `({ Rows: [...document.querySelectorAll("#overview tr.scenario")].filter(tr => tr.checkVisibility()).length, Controls: document.querySelector(".controls").checkVisibility(),
		Bodies: [...document.querySelectorAll("section.run .body")].filter(b => b.closest("details").open = true).filter(b => b.checkVisibility()).length,
		Focusable: document.querySelectorAll('#run-2 .mark[tabindex="0"]').length })`, &got)
	if got.Rows != 4 || got.Bodies != 4 || got.Controls || got.Focusable < 8 {
		t.Errorf("without script: %+v, want four rows, every run's body, no dead controls and every mark focusable", got)
	}
}
