package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// crowded is a report as large as a whole catalogue's: hundreds of real runs with their stories.
func crowded(t *testing.T, runs int) Report {
	t.Helper()
	var different []result.Result
	for _, name := range []string{"node-joins", "pods-come-and-go", "agent-restarts", "duel"} {
		different = append(different, realRun(t, name, false))
	}
	r := Report{Version: "test"}
	for i := range runs {
		s := different[i%len(different)]
		s.Scenario, s.Seed = fmt.Sprintf("%s-%d", s.Scenario, i), uint64(i)
		r.Scenarios = append(r.Scenarios, s)
	}
	return r
}

// broken is a report of runs that all failed, each in a way of its own: the most that a page shows.
func broken(t *testing.T, runs int) Report {
	t.Helper()
	var different []result.Result
	for _, name := range []string{"last-id-out-of-range", "etcd-lost-ids", "failed-add-leaks"} {
		different = append(different, realRun(t, name, true))
	}
	r := Report{Version: "test"}
	for i := range runs {
		s := different[i%len(different)]
		f := *s.Failure
		f.Cause = string(rune('一' + i))
		s.Failure, s.Scenario, s.Seed = &f, fmt.Sprintf("%s-%d", s.Scenario, i), uint64(i)
		r.Scenarios = append(r.Scenarios, s)
	}
	return r
}

// month is a report of one run of 300 nodes over 31 days, as full as a report keeps runs.
func month() Report {
	s := sample().Scenarios[0]
	s.VirtualSeconds, s.Nodes = 31*86400, 300
	s.Addresses = nil
	s.Story = &result.Story{Base: map[string][]string{}, Starts: []float64{0, 1, 1, 2, 2, 3, 4, 5, 60}}
	for look := range 96 {
		l := result.Look{AtSeconds: s.VirtualSeconds * float64(look) / 95}
		for n := range 300 {
			if look == 0 || (n*7+look*13)%4 == 0 {
				l.Nodes = append(l.Nodes, result.Seen{Name: fmt.Sprintf("node-%d", n+1), Up: "mav", ID: uint32(n + 1), Address: fmt.Sprintf("192.168.16.%d/20", n), Blocks: []string{fmt.Sprintf("10.%d.%d.0/24", n/256, n%256)},
					Held: (n + look) % 200, Free: 252 - (n+look)%200, Pods: (n + look) % 200, Tables: []string{"0: 301 routes", "1: 640 routes"}, Tunnels: 299})
			}
		}
		s.Story.Looks = append(s.Story.Looks, l)
	}
	for n := range 300 {
		var lines []string
		for i := range 600 {
			lines = append(lines, fmt.Sprintf("  route table 1 10.%d.%d.0/24 via 192.168.30.%d interface %d", i/256, i%256, n, i))
		}
		s.Story.Base[fmt.Sprintf("node-%d", n+1)] = lines
	}
	for i := range 600 {
		node := fmt.Sprintf("node-%d", i%300+1)
		s.Story.Events = append(s.Story.Events, result.Told{Event: int64(i), AtSeconds: s.VirtualSeconds - 60 + float64(i)/10, Node: node, Line: node + " call ip_route_add_del_v2 add route table 1 10.9.9.9/32 via 10.1.1.1 host-vd0123456789ab",
			Came: []string{fmt.Sprintf("  route table 1 10.9.%d.%d/32 via 10.1.1.1 interface 7", i/256, i%256)}})
	}
	for i := range 4000 {
		s.Addresses = append(s.Addresses, result.Held{Node: fmt.Sprintf("node-%d", i%300+1), Addr: fmt.Sprintf("10.0.%d.%d", i/250, i%250), Pod: fmt.Sprintf("default/pod-%d", i), FromSeconds: float64(i) * 600, UntilSeconds: float64(i)*600 + 360000})
	}
	return Report{Version: "test", Scenarios: []result.Result{s}}
}

// TestPagesOpenQuickly goal: a catalogue of 290 runs, 600 failures and a run of 300 nodes for 31 days stay under 5 MB and are open within a
// second. Method: each in a real browser; what counts is how long the page's thread computes until it is loaded and laid out, which is the same on a
// machine that others use as well. The clock's time is told beside it.
func TestPagesOpenQuickly(t *testing.T) {
	program := findChromium()
	if program == "" {
		t.Skip("no chromium found in PATH: the pages were not opened")
	}
	for name, r := range map[string]Report{"a catalogue": crowded(t, 290), "a month": month(), "a bad day": broken(t, 600)} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := writeFolder(dir, r); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(dir, pageFile))
			if err != nil || info.Size() > 5<<20 {
				t.Fatalf("%d bytes, %v", info.Size(), err)
			}
			b := startBrowser(t, program, "file://"+filepath.Join(dir, pageFile))
			call(t, b, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
			b.run(t, chromedp.Navigate("about:blank"))
			before := b.computed(t)
			b.load(t, "light", 1280)
			took := b.computed(t) - before
			var wall float64
			b.eval(t, `const e = performance.getEntriesByType("navigation")[0]; return e.loadEventEnd - e.startTime`, &wall)
			t.Logf("%d bytes, open after %.0f ms of the page's thread, %.0f ms by the clock", info.Size(), took, wall)
			if took <= 0 || took > 1000 {
				t.Errorf("open after %.0f ms", took)
			}
			b.eval(t, `document.querySelector(".run > details").open = true`, nil)
			b.await(t, "the story stands", `(document.querySelector(".story") || document.body).scrollIntoView({ behavior: "instant" }); return !!document.querySelector(".story[data-ready]")`)
			b.picture(t, "large-"+name[2:]+".png")
		})
	}
}

// computed is how many milliseconds the page's main thread has computed.
func (b *browser) computed(t *testing.T) float64 {
	t.Helper()
	m, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range m.Metrics {
		if x.Name == "ThreadTime" {
			return x.Value * 1000
		}
	}
	t.Fatal("the browser does not tell its thread's time")
	return 0
}
