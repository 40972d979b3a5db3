package vppproc_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// BenchmarkRoundTrip is what one request to an idle VPP takes, for several sleeps of its main loop; idle-% is the share
// of one processor that the VPP takes when nobody asks, RSS-MB what it holds.
func BenchmarkRoundTrip(b *testing.B) {
	binary, err := vppproc.Find("")
	if err != nil || os.Geteuid() != 0 {
		b.Skip("needs root and VPP")
	}
	for _, sleep := range []time.Duration{0, 10 * time.Microsecond, 100 * time.Microsecond, 300 * time.Microsecond, time.Millisecond} {
		b.Run(fmt.Sprintf("sleep-%dus", sleep.Microseconds()), func(b *testing.B) {
			p, err := vppproc.Start(context.Background(), vppproc.Config{Binary: binary, Dir: b.TempDir(), Sleep: sleep})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Kill()
			c, err := p.Dial()
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			for b.Loop() {
				if _, err := c.Version(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			before, at := ticks(b, p.PID()), time.Now()
			time.Sleep(2 * time.Second)
			b.ReportMetric(float64(ticks(b, p.PID())-before)/time.Since(at).Seconds(), "idle-%")
			b.ReportMetric(rss(b, p.PID()), "RSS-MB")
		})
	}
}

// ticks is the processor time of a process in hundredths of a second, the kernel's unit on all platforms that run VPP.
func ticks(b *testing.B, pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		b.Fatal(err)
	}
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return user + system
}

func rss(b *testing.B, pid int) float64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	kb, _ := strconv.ParseFloat(strings.Fields(after)[0], 64)
	return kb / 1024
}
