package cmd

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// progress shows that work is going on: a line that is rewritten on a terminal, a plain line now and then elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	width    int
	total    int
	started  time.Time
	quit     chan struct{}
	gone     sync.WaitGroup

	mu      sync.Mutex
	running []*running
	// more, where set, goes on after the number of what is done, in place of what runs. done counts the parts of runs that
	// have not ended, too.
	more  func(elapsed time.Duration, done float64) string
	ended int
	// failed counts runs that did not pass, events those of runs that have ended.
	failed int
	events int64
	shown  bool
	// memory says once when it becomes short.
	memory memoryWatch
	// stalls ends the program when a step never ends.
	stalls stallWatch
}

// How often progress is shown: as the eye reads on a terminal, as a patient log reader scrolls elsewhere.
const (
	terminalEvery = 200 * time.Millisecond
	plainEvery    = 10 * time.Second
	memoryEvery   = 250 * time.Millisecond
)

// startProgress starts printing to w about total runs, 0 for an unknown number. stop must be called.
func startProgress(w io.Writer, total int) *progress {
	p := &progress{w: w, total: total, started: time.Now(), quit: make(chan struct{}), width: 80, memory: newMemoryWatch(), stalls: newStallWatch()}
	every := plainEvery
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal, every = true, terminalEvery
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 20 {
			p.width = width
		}
	}
	p.gone.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		look := time.NewTicker(memoryEvery)
		defer look.Stop()
		for {
			select {
			case <-tick.C:
				p.tell()
			case <-look.C:
				p.warn()
				p.endStalled()
			case <-p.quit:
				return
			}
		}
	})
	return p
}

// begin starts telling of a run, until end.
func (p *progress) begin(s *scenarios.Scenario) *running {
	r := &running{name: s.Name, nodes: s.Topology.Nodes, end: s.BreakEnd()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, r)
	return r
}

func (p *progress) end(r *running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	if i := slices.Index(p.running, r); i >= 0 {
		p.running = slices.Delete(p.running, i, i+1)
	}
}

// warn says once that memory becomes short, and what would fit.
func (p *progress) warn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text := p.memory.look(p.running); text != "" {
		p.clear()
		fmt.Fprintln(p.w, "vppdrill: "+text)
	}
}

// result counts what a run came to.
func (p *progress) result(r result.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events += r.Events
	if r.Verdict == result.Fail || r.Verdict == result.Error {
		p.failed++
	}
}

func (p *progress) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := ""
	if p.total > 0 {
		of = fmt.Sprintf(" of %d", p.total)
	}
	elapsed := time.Since(p.started)
	line := fmt.Sprintf("%d%s done, %s", p.ended, of, elapsed.Round(100*time.Millisecond))
	events, done := p.events, float64(p.ended)
	var where []string
	for _, r := range p.running {
		events += r.events.Load()
		done += r.share()
		where = append(where, r.where())
	}
	if p.total > 0 {
		line = fmt.Sprintf("%3d%% %s", min(int(100*done/float64(p.total)), 100), line)
	}
	if p.failed > 0 {
		line += fmt.Sprintf(", %d failed", p.failed)
	}
	if events > 0 {
		line += fmt.Sprintf(", %.0f events/s", float64(events)/max(elapsed.Seconds(), 0.001))
	}
	held := fmt.Sprintf(", %d MiB", heldBytes()>>20)
	if p.more != nil {
		line = fmt.Sprintf("%d%s", p.ended, p.more(elapsed, done))
	} else if len(where) > 0 {
		held += ", running " + strings.Join(where, ", ")
	}
	line += held
	if !p.terminal {
		fmt.Fprintln(p.w, "vppdrill: "+line)
		return
	}
	if r := []rune(line); len(r) >= p.width {
		line = string(r[:p.width-2]) + "…"
	}
	fmt.Fprint(p.w, "\r\x1b[K"+line)
	p.shown = true
}

// pace is how fast work goes and how long the rest of it takes at that pace, after elapsed: ", 1.5 runs/s, 20s left". Runs
// that take longer than a second are told by their time. There is no estimate before as much as one run is done.
func pace(done, total float64, elapsed time.Duration) string {
	if done < 1 || elapsed <= 0 {
		return ""
	}
	each := elapsed.Seconds() / done
	text := fmt.Sprintf(", %.1f runs/s", 1/each)
	if each > 1 {
		text = fmt.Sprintf(", %s a run", roughly(each))
	}
	if left := total - done; left > 0 {
		text += fmt.Sprintf(", about %s left", roughly(left*each))
	}
	return text
}

// roughly is a time in seconds as an estimate deserves it: two units at most.
func roughly(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Minute:
		return max(d.Round(time.Second), time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// hide clears the line, so that a verdict can be printed where it stood.
func (p *progress) hide() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// clear is hide for callers that hold mu.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func (p *progress) stop() {
	close(p.quit)
	p.gone.Wait()
	p.hide()
}
