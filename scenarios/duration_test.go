package scenarios_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: durations read as people write them. Method: a table.
func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "10s": 10 * time.Second, "1h30m": 90 * time.Minute, "3d": 72 * time.Hour, "31d": 744 * time.Hour,
		"1d12h": 36 * time.Hour, "1.5h": 90 * time.Minute, "250ms": 250 * time.Millisecond, "1d0s": 24 * time.Hour, "-2s": -2 * time.Second,
		"-1d1h": -25 * time.Hour,
	} {
		if d, err := scenarios.ParseDuration(text); err != nil || d != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "10", "5x", "d", "1.5d", "1h1d", "--1s", "1d-1s", "1d+1s", "+1s", "999999d", "106751d24h", "1 s"} {
		if d, err := scenarios.ParseDuration(text); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
}

// Goal: FormatDuration is read back. Method: random durations.
func TestFormatDuration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Min(0).Draw(t, "duration"))
		if again, err := scenarios.ParseDuration(scenarios.FormatDuration(d)); err != nil || again != d {
			t.Fatalf("%d became %s became %d, %v", d, scenarios.FormatDuration(d), again, err)
		}
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"0", "3d", "1d12h", "1h30m", "-5s", "1.5s", "1d250ms"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := scenarios.ParseDuration(text)
		if err != nil {
			return
		}
		if again, err := scenarios.ParseDuration(scenarios.FormatDuration(d)); err != nil || again != d {
			t.Fatalf("%q is %d became %s became %d, %v", text, d, scenarios.FormatDuration(d), again, err)
		}
	})
}
