package cmd

import (
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// stallMost is how much processor time one event of a run may take in the code under test: the slowest of the catalogue
// take milliseconds, a dump of a node with thousands of pods a second.
const stallMost = 15 * time.Second

// growthMost is by how many bytes what is in use may grow in one event, beyond twice what was in use before it.
const growthMost = 1 << 30

// stallWatch finds a step that never ends, or that takes all memory before it could. Nothing can end it from outside,
// as it does not return: the program says where it is, and ends.
type stallWatch struct {
	// spent is this process's processor time, heap how many bytes live, stacks what its goroutines do, exit ends it.
	spent  func() time.Duration
	heap   func() uint64
	stacks func() string
	exit   func(code int)
	seen   map[*running]stalled
}

// stalled is a run without a new event.
type stalled struct {
	events int64
	since  time.Duration
	heap   uint64
}

func newStallWatch() stallWatch {
	return stallWatch{spent: processorTime, heap: liveBytes, stacks: allStacks, exit: os.Exit, seen: map[*running]stalled{}}
}

// look is what there is to say of the runs under way, "" nearly always.
func (w *stallWatch) look(runs []*running) string {
	now, heap := w.spent(), w.heap()
	var still []*running
	took := ""
	for _, r := range runs {
		s, known := w.seen[r]
		if n := r.events.Load(); !known || s.events != n {
			w.seen[r] = stalled{n, now, heap}
		} else if now-s.since >= stallMost*time.Duration(len(runs)) {
			still, took = append(still, r), fmt.Sprintf("%s of processor time", stallMost)
		} else if heap > 2*s.heap+growthMost {
			still, took = append(still, r), fmt.Sprintf("%d MiB of memory", (heap-s.heap)>>20)
		}
	}
	maps.DeleteFunc(w.seen, func(r *running, _ stalled) bool { return !slices.Contains(runs, r) })
	if len(still) == 0 {
		return ""
	}
	// Laws may take their time with a large cluster. Only what simulators drive is to come back at once.
	where := productStep(w.stacks())
	if where == "" {
		return ""
	}
	return fmt.Sprintf("%s: a step does not end: it has taken %s and is in %s: look at what its loop waits for",
		still[0].where(), took, where)
}

// frame is a line of a stack with a function of this module, and the file behind it.
var frame = regexp.MustCompile(`(?m)^github\.com/vppdrill/vppdrill/([^\n]+)\([^\n]*\)\n\t([^\n ]+:\d+)`)

// productStep names the functions of the code under test in which a simulator's goroutine is, the innermost first; ""
// where it is in none, or where the simulator has not stepped it but reads what it holds, as judges do.
func productStep(stacks string) string {
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		var names []string
		for _, f := range frame.FindAllStringSubmatch(stack, -1) {
			if !strings.HasPrefix(f[1], "ipam") && !strings.HasPrefix(f[1], "vppwire") {
				if strings.HasPrefix(f[1], "sim") && len(names) > 0 && strings.Contains(names[len(names)-1], "Step (") {
					return strings.Join(names[:min(len(names), 5)], ", called by ")
				}
				break
			}
			names = append(names, fmt.Sprintf("%s (%s)", f[1], path.Base(f[2])))
		}
	}
	return ""
}

func allStacks() string {
	text := make([]byte, 1<<20)
	return string(text[:runtime.Stack(text, true)])
}

// endStalled says what does not end, and ends the program.
func (p *progress) endStalled() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text := p.stalls.look(p.running); text != "" {
		p.clear()
		fmt.Fprintln(p.w, "vppdrill: "+text)
		p.stalls.exit(cli.ExitBroken)
	}
}
