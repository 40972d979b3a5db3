package lab

import (
	"testing"
	"time"
)

// Goal: who waited for a processor for half of a time was starved, who waited less, or is not known for long enough,
// was not. Method: a table of samples, one a second, each the waiting so far in tenths of a second; asked for the time
// from the third sample on.
func TestStarving(t *testing.T) {
	begin := time.Unix(1000, 0)
	for name, c := range map[string]struct {
		tenths []int
		want   string
	}{
		"nobody knows":             {nil, ""},
		"idle":                     {[]int{0, 0, 0, 0, 0, 0, 0, 0}, ""},
		"busy machine":             {[]int{0, 4, 8, 12, 16, 20, 24, 28}, ""},
		"starved":                  {[]int{0, 0, 0, 9, 18, 27, 36, 45}, "it waited for a processor for 4.5s of 5s"},
		"starved before":           {[]int{0, 9, 18, 20, 22, 24, 26, 28}, ""},
		"starved at first":         {[]int{0, 0, 0, 9, 18, 26, 26, 26}, "it waited for a processor for 2.6s of 5s"},
		"too short to know":        {[]int{0, 0, 0, 9, 18}, ""},
		"two threads of it":        {[]int{0, 0, 0, 18, 36, 54, 72, 90}, "it waited for a processor for 9s of 5s"},
		"a waiting thread is gone": {[]int{50, 50, 50, 51, 20, 21, 22, 23}, ""},
	} {
		var samples []sample
		for i, w := range c.tenths {
			samples = append(samples, sample{begin.Add(time.Duration(i) * time.Second), time.Duration(w) * 100 * time.Millisecond})
		}
		if have := starving("it", samples, begin.Add(2*time.Second)); have != c.want {
			t.Errorf("%s: %q, want %q", name, have, c.want)
		}
	}
}
