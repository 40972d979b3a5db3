package experiment

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/vppdrill/vppdrill/reports/picturetest"
)

// Goal: the page works for people: nothing is cut on a phone, text is legible by day and by night, and so is every cell of a heat map. Method:
// chromium, headless, at two sizes and in both schemes; the pictures stay where VPPDRILL_PICTURES says.
func TestBrowser(t *testing.T) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium found in PATH: the page was not tried in a browser")
	}
	file := filepath.Join(t.TempDir(), "experiment.html")
	text := written(t, "vary: {config.ipam.podSubnetOneNodePrefixLen: 24..27, topology.nodes: 2..4}\nseeds: 3\nmeasure: [wastedAddresses, startP99Seconds, podsNeverPlaced, events, vppCalls, peakPods, apiWrites, leakedAddresses]\n")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(program), chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless,
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(time.Minute))
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	ctx, leave := chromedp.NewContext(ctx)
	defer leave()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1280} {
			t.Run(fmt.Sprintf("%s/%d", scheme, width), func(t *testing.T) { look(ctx, t, file, scheme, width) })
		}
	}
}

// seen is what a look at the page found.
type seen struct {
	Wide, Cut, Poor []string
	Texts, Cells    int
	Tall            float64
}

func look(ctx context.Context, t *testing.T, file, scheme string, width int64) {
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
		t.Skipf("chromium does not start here: %v", err)
	}
	if _, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+file), chromedp.WaitReady(chromedp.CSS("table"))); err != nil {
		t.Fatal(err)
	}
	answer, err := chromedp.Run(ctx, chromedp.Evaluate[string](lookScript))
	if err != nil {
		t.Fatal(err)
	}
	var s seen
	if err := json.Unmarshal([]byte(answer), &s); err != nil {
		t.Fatal(err)
	}
	for _, text := range append(append(s.Wide, s.Cut...), s.Poor...) {
		t.Error(text)
	}
	if s.Texts < 80 || s.Cells < 40 {
		t.Errorf("only %d texts and %d cells were looked at: the look is blind", s.Texts, s.Cells)
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if dir := os.Getenv("VPPDRILL_PICTURES"); err == nil && dir != "" {
		err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("experiment-%s-%d.png", scheme, width)), png, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	beyond := true
	shot, err := chromedp.Call(ctx, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{Format: "png", CaptureBeyondViewport: &beyond,
		Clip: &cdppage.Viewport{Width: float64(width), Height: min(s.Tall, picturesTall), Scale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	version, err := chromedp.Call(ctx, cdpbrowser.GetVersion, cdp.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	picturetest.Kept(t, *rewrite, picturesDir, fmt.Sprintf("experiment-%s-%d", scheme, width), version.Product, shot.Data)
}

// Where pictures of the page are kept, and how much of it one shows in CSS pixels.
const (
	picturesDir  = "testdata/pictures"
	picturesTall = 2400
)

var rewrite = flag.Bool("rewrite", false, "keep what the browser shows in testdata/pictures")

// TestPicturesAreOfThisPage goal: who reviews a change of the page sees what it looks like. Method: the pictures kept are of this template, by a
// hash beside them; each is there and small. `go test ./reports/experiment -rewrite` takes them again, in chromium.
func TestPicturesAreOfThisPage(t *testing.T) {
	_, err := exec.LookPath("chromium")
	var names []string
	for _, scheme := range []string{"light", "dark"} {
		names = append(names, "experiment-"+scheme+"-360", "experiment-"+scheme+"-1280")
	}
	picturetest.Of(t, *rewrite && err == nil, picturesDir, pageText, names...)
}

// lookScript finds what is wider than the window, tables that scroll, and texts whose contrast is below WCAG's 4.5. A text of a heat map stands
// on the cell below it.
const lookScript = `JSON.stringify((() => {
	const out = { Wide: [], Cut: [], Poor: [], Texts: 0, Cells: 0, Tall: document.documentElement.scrollHeight }, width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > width) out.Wide.push("the page is " + document.documentElement.scrollWidth + " wide of " + width);
	for (const t of document.querySelectorAll(".wide")) if (t.scrollWidth > t.clientWidth) out.Cut.push("a table is " + t.scrollWidth + " wide of " + t.clientWidth);
	const parse = c => (c.match(/[\d.]+/g) || [0, 0, 0]).map(Number), lum = c => {
		const f = parse(c).slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2];
	};
	const judge = (what, ink, ground, least) => {
		const a = lum(ink), b = lum(ground), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < least) out.Poor.push("contrast " + ratio.toFixed(2) + " of " + what);
	};
	const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$/.test(c)) return c; } return "rgb(255,255,255)"; };
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.textContent.trim() || e.closest("svg, style") || !e.checkVisibility()) continue;
		out.Texts++;
		judge(walk.currentNode.textContent.trim().slice(0, 30), getComputedStyle(e).color, ground(e), 4.5);
	}
	for (const text of document.querySelectorAll(".coloured text")) {
		const box = text.getBoundingClientRect(), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
		const cell = [...text.closest("svg").querySelectorAll("path")].reverse().find(p => {
			const b = p.getBoundingClientRect();
			return getComputedStyle(p).fill !== "none" && b.left <= x && b.right >= x && b.top <= y && b.bottom >= y && b.width > 5 && b.height > 5 && b.width < 300;
		});
		if (!cell) continue;
		out.Cells++;
		judge("cell " + text.textContent.trim(), getComputedStyle(text).fill, getComputedStyle(cell).fill, 4.5);
	}
	return out;
})())`
