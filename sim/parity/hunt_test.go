package parity

import (
	"context"
	"strings"
	"testing"
	"time"
)

// Goal: a hunt finds the way in which VPP 25.10 was found to hang, and nothing where nothing is. Method: a real one
// with 4 and 16 AF_PACKET interfaces that get frames at one time, and with 64 routes.
func TestHunt(t *testing.T) {
	path, err := FindVPP("")
	if err != nil {
		t.Skip(err)
	}
	if free, err := newTestbed(); err != nil {
		t.Skip(err)
	} else {
		free.close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	trials, err := Hunt{Path: path, Most: 64, Only: []string{"af-packets", "routes"}}.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range trials {
		t.Logf("%+v", x)
		got = append(got, strings.Join([]string{x.Load, x.Verdict}, " "))
	}
	want := "af-packets fine, af-packets silent, routes fine, routes fine, routes fine"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}

// Goal: what grows with every round is called a leak, and what grows once or less than VPP tells is not. Method: a
// table.
func TestLeaks(t *testing.T) {
	for _, c := range []struct {
		heaps, files [4]int
		count        int
		want         string
	}{
		{heaps: [4]int{100 << 10, 100 << 10, 100 << 10, 100 << 10}, count: 1000},
		{heaps: [4]int{0, 900 << 10, 900 << 10, 900 << 10}, count: 1000},
		{heaps: [4]int{0, 10 << 10, 20 << 10, 30 << 10}, count: 1000}, // what VPP rounds to
		{heaps: [4]int{0, 60_000, 120_000, 180_000}, count: 1000, want: "60 bytes of heap more for each object and round"},
		{files: [4]int{9, 10, 11, 12}, count: 4, want: "3 open files more in 3 rounds"},
		{files: [4]int{9, 10, 10, 12}, count: 4},
	} {
		var v []Vitals
		for i := range c.heaps {
			v = append(v, Vitals{Heap: int64(c.heaps[i]), Descriptors: c.files[i]})
		}
		if got := leaks(v, c.count); got != c.want {
			t.Errorf("%v %v: %q, want %q", c.heaps, c.files, got, c.want)
		}
	}
}

// Goal: VPP's words about its heap are understood. Method: those of a 25.10, and others.
func TestParseHeap(t *testing.T) {
	for text, want := range map[string]int64{
		"    total: 192.00M, used: 39.16M, free: 152.84M, trimmable: 99.50M": 41062236,
		"used: 1.50G, free: 1K": 1610612736,
		"used: 17, free: 1K":    17,
	} {
		if got, err := parseHeap(text); got != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	if _, err := parseHeap("unused"); err == nil {
		t.Error("nothing is understood")
	}
}
