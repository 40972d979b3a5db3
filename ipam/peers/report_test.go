package peers

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/yardstick"
)

// Goals of the report. They are printed beside what was measured and asserted nowhere.
const (
	fasterGoal  = 5.0       // times the fastest peer in memory, at every fill
	bytesGoal   = 32.0      // per live lease beyond its key
	blocksGoal  = 5_000_000 // node CIDRs a second
	durableGoal = 100.0     // times host-local at 5,000 leases
)

// BenchmarkPeers races everybody once and prints the report. It takes about three minutes on an idle machine;
// -benchtime has no say.
func BenchmarkPeers(b *testing.B) {
	r := &report{out: os.Stdout}
	r.head()
	r.addresses()
	r.nodeBlocks()
	r.memory()
	r.durable(b.TempDir())
	r.restart(b.TempDir())
	r.foot()
	b.ReportMetric(0, "ns/op")
	yardstick.Beside(b)
}

// report prints as it measures, because a reader waits.
type report struct {
	out    io.Writer
	spread float64 // the worst of all races
	// queue are verdicts that stand below the table which they are about.
	queue  []string
	missed int
	lost   int
}

func (r *report) printf(format string, args ...any) { fmt.Fprintf(r.out, format, args...) }

func (r *report) head() {
	r.printf("\nAllocators beside the originals: %s, %s/%s, %d processors, load %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), load())
	r.printf("The machine at this moment: %.0f rounds a second of scenarios/yardstick's reference work.\n", yardstick.Rate())
	r.printf("Medians of %d rounds in turns. In memory: nanoseconds of the calling thread's processor time, collector's threads not\n"+
		"counted. On disk and restart: wall clock. Other load on the machine still costs caches and turbo: compare, do not quote.\n", rounds)
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:1], " ")
}

// verdict keeps a goal's outcome for flush.
func (r *report) verdict(met bool, format string, args ...any) {
	word := "met       "
	if !met {
		word = "MISSED    "
		r.missed++
	}
	r.queue = append(r.queue, word+fmt.Sprintf(format, args...))
}

// wins says plainly that a peer is faster than one of ours.
func (r *report) wins(format string, args ...any) {
	r.lost++
	r.queue = append(r.queue, "PEER WINS "+fmt.Sprintf(format, args...))
}

func (r *report) flush() {
	for _, line := range r.queue {
		r.printf("  %s\n", line)
	}
	r.queue = nil
}

func (r *report) addresses() {
	var races [][]*lane
	for _, fill := range fills {
		races = append(races, race(everybody(), fill))
	}
	r.table("One address of a /16 and back, ns (allocations), by how full it is", races)
	r.factors(races)
}

func (r *report) nodeBlocks() {
	var pairs, filling []contestant
	for _, s := range allBlockSets() {
		pairs, filling = append(pairs, s.racer()), append(filling, s.filler())
	}
	var races [][]*lane
	for _, fill := range fills {
		races = append(races, race(pairs, fill))
	}
	r.table("One node CIDR of 65,536 and back, ns (allocations), by how full the cluster is", races)
	r.factors(races)
	r.printf("\nNode CIDRs a second, all 65,536 of an empty cluster\n")
	for _, l := range race(filling, 0) {
		r.printf("  %-38s %12.0f\n", l.title(), 1e9/l.median())
		if l.ours() {
			r.verdict(1e9/l.median() >= blocksGoal, "%.1f million node CIDRs a second, goal %d million", 1e3/l.median(), blocksGoal/1_000_000)
		}
	}
	r.flush()
}

// table prints one line for each contestant, one column for each fill.
func (r *report) table(title string, races [][]*lane) {
	r.printf("\n%s\n  %-38s", title, "")
	for _, fill := range fills {
		r.printf("%16s", percent(fill))
	}
	r.printf("  keeps\n")
	for i, first := range races[0] {
		r.printf("  %-38s", first.title())
		for _, lanes := range races {
			l := lanes[i]
			if l.err != nil {
				r.printf("%16s", "left out")
				continue
			}
			r.spread = max(r.spread, l.spread())
			r.printf("%16s", fmt.Sprintf("%s (%.0f)", nanoseconds(l.median()), l.allocs))
		}
		r.printf("  %s\n", first.class)
	}
	for _, lanes := range races {
		for _, l := range lanes {
			if l.err != nil {
				r.printf("  left out: %v\n", l.err)
			}
		}
	}
}

func nanoseconds(ns float64) string {
	switch {
	case ns < 100:
		return fmt.Sprintf("%.1f", ns)
	case ns < 100_000:
		return fmt.Sprintf("%.0f", ns)
	}
	return fmt.Sprintf("%.1f ms", ns/1e6)
}

// factors compares each of ours with the fastest peer that does the same work.
func (r *report) factors(races [][]*lane) {
	r.printf("\nTimes faster than the fastest peer that keeps the same\n")
	for i, first := range races[0] {
		if !first.ours() || first.class == draw {
			continue
		}
		r.printf("  %-38s", first.name)
		worst, worstFill := 0.0, 0
		for f, lanes := range races {
			l := lanes[i]
			peer := fastest(lanes, func(p *lane) bool { return !p.ours() && p.class == l.class })
			if l.err != nil || peer == nil {
				r.printf("%16s", "-")
				continue
			}
			times := peer.median() / l.median()
			r.printf("%16s", factor(times))
			if worst == 0 || times < worst {
				worst, worstFill = times, fills[f]
			}
			if times < 1 {
				r.wins("%s beats %s at %s: %.1f to %.1f ns", peer.title(), l.name, percent(fills[f]), peer.median(), l.median())
			}
		}
		r.printf("\n")
		if first.note != "" {
			r.queue = append(r.queue, fmt.Sprintf("note      %s: at least %s its fastest like (at %s): %s", first.name, factor(worst), percent(worstFill), first.note))
			continue
		}
		r.verdict(worst >= fasterGoal, "%s: at least %s its fastest like (at %s), goal %.0fx", first.name, factor(worst), percent(worstFill), fasterGoal)
	}
	r.acrossClasses(races)
	r.flush()
}

// acrossClasses says where a peer that keeps less is faster than our allocators with owners: it is not the same work,
// but who needs no owners should know.
func (r *report) acrossClasses(races [][]*lane) {
	for f, lanes := range races {
		own := fastest(lanes, func(l *lane) bool { return l.ours() && l.class == owning })
		peer := fastest(lanes, func(l *lane) bool { return !l.ours() && l.class == bare })
		if own != nil && peer != nil && peer.median() < own.median() {
			r.wins("%s keeps no owners and so beats our fastest allocator that does (%s) at %s: %.0f to %.0f ns", peer.title(), own.name,
				percent(fills[f]), peer.median(), own.median())
		}
	}
}

func factor(f float64) string {
	if f >= 10 {
		return fmt.Sprintf("%.0fx", f)
	}
	return fmt.Sprintf("%.1fx", f)
}

func (r *report) memory() {
	r.printf("\nBytes a live lease costs beyond its key of %d, %d leases of a /16\n", keyBytes, live)
	for _, w := range weigh() {
		if w.err != nil {
			r.printf("  left out: %v\n", w.err)
			continue
		}
		r.printf("  %-38s %8.1f  %s\n", w.title, w.bytes, w.class)
		if w.ours {
			r.verdict(w.bytes <= bytesGoal, "%s: %.1f bytes a lease, goal %.0f", w.title, w.bytes, bytesGoal)
		}
	}
	r.flush()
}

func (r *report) durable(dir string) {
	r.printf("\nOne durable address and back at %d leases, wall clock\n", durableLeases)
	d, err := raceDisks(dir)
	if err != nil {
		r.printf("  left out: %v\n", err)
		return
	}
	host := "host-local " + version(hostLocalModule)
	for i, who := range [...]string{"one caller", fmt.Sprintf("%d callers, per pair", callers)} {
		r.printf("  %-21s ours (contiv + journal) %9s   %s %9s   %s\n", who, short(d.ours[i]), host, short(d.peer[i]),
			factor(float64(d.peer[i])/float64(d.ours[i])))
	}
	r.printf("  One small write and its sync takes %s on this disk. Ours syncs before it answers, twice a pair; host-local never syncs.\n", short(d.sync))
	for i, who := range [...]string{"one caller", "many callers"} {
		times := float64(d.peer[i]) / float64(d.ours[i])
		if times < 1 {
			r.wins("host-local with %s: %s to %s", who, short(d.peer[i]), short(d.ours[i]))
		}
		r.verdict(times >= durableGoal, "durable store with %s: %s host-local, goal %.0fx", who, factor(times), durableGoal)
	}
	r.flush()
}

func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

func (r *report) restart(dir string) {
	r.printf("\nRestart with %d leases, ipam/contiv, wall clock\n", million)
	opened, applied, both, err := restartMedians(dir)
	if err != nil {
		r.printf("  left out: %v\n", err)
		return
	}
	r.printf("  read the journal %s, apply %s, both %s\n", short(opened), short(applied), short(both))
	r.verdict(both <= restartGoal, "restart with a million leases in %s, goal %s", short(both), short(restartGoal))
	r.flush()
}

func (r *report) foot() {
	r.printf("\nThe middle half of any contestant's rounds lay at most %.0f %% apart; load is now %s.\n", 100*r.spread, load())
	for _, why := range leftOut {
		r.printf("left out: %s\n", why)
	}
	r.printf("Goals missed: %d. Peers that win: %d.\n", r.missed, r.lost)
}
