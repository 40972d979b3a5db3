package cmd

import (
	"fmt"
	"io"
	"os"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/vppdrill/vppdrill/scenarios"
)

// progress tells that something is going on: a line that is rewritten on a terminal, a plain line now and then elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	width    int
	total    int
	started  time.Time
	quit     chan struct{}
	gone     sync.WaitGroup

	mu      sync.Mutex
	running []string
	// more, where set, goes on after the number of what is done, in place of what runs.
	more  func(elapsed time.Duration) string
	ended int
	// failed counts runs that did not pass, events those of all.
	failed int
	events int64
	shown  bool
}

// How often progress is told: as the eye reads on a terminal, as a patient log reader scrolls elsewhere.
const (
	terminalEvery = 200 * time.Millisecond
	plainEvery    = 10 * time.Second
)

// startProgress starts telling on w about total runs, 0 for nobody knows how many. stop must be called.
func startProgress(w io.Writer, total int) *progress {
	p := &progress{w: w, total: total, started: time.Now(), quit: make(chan struct{}), width: 80}
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
		for {
			select {
			case <-tick.C:
				p.tell()
			case <-p.quit:
				return
			}
		}
	})
	return p
}

func (p *progress) begin(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, name)
}

func (p *progress) end(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	if i := slices.Index(p.running, name); i >= 0 {
		p.running = slices.Delete(p.running, i, i+1)
	}
}

// result counts what a run came to.
func (p *progress) result(r scenarios.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events += r.Events
	if r.Verdict == scenarios.Fail || r.Verdict == scenarios.Error {
		p.failed++
	}
}

// heldBytes is how much memory the program holds.
func heldBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() - sample[1].Value.Uint64()
}

func (p *progress) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := ""
	if p.total > 0 {
		of = fmt.Sprintf(" of %d", p.total)
	}
	line := fmt.Sprintf("%d%s done, %s", p.ended, of, time.Since(p.started).Round(100*time.Millisecond))
	if p.total > 0 {
		line = fmt.Sprintf("%3d%% %s", 100*p.ended/p.total, line)
	}
	if p.failed > 0 {
		line += fmt.Sprintf(", %d failed", p.failed)
	}
	if p.events > 0 {
		line += fmt.Sprintf(", %.0f events/s", float64(p.events)/max(time.Since(p.started).Seconds(), 0.001))
	}
	line += fmt.Sprintf(", %d MiB", heldBytes()>>20)
	if p.more != nil {
		line = fmt.Sprintf("%d%s", p.ended, p.more(time.Since(p.started)))
	} else if len(p.running) > 0 {
		line += ", running " + strings.Join(p.running, ", ")
	}
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

// hide clears the line, so that a verdict can be printed where it stood.
func (p *progress) hide() {
	p.mu.Lock()
	defer p.mu.Unlock()
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
