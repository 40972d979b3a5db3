package plan

import "testing"

// Goal: a share is rounded to the nearest percent, and what is neither nothing nor all is never told as such. Method: a table.
func TestPercent(t *testing.T) {
	for _, c := range [...]struct {
		part, whole uint64
		want        string
	}{
		{0, 254, "0%"}, {200, 4294967295, "less than 1%"}, {200, 256, "78%"}, {200, 254, "79%"}, {254, 254, "100%"},
		{999, 1000, "more than 99%"}, {1, 200, "1%"}, {0, 0, "0%"},
	} {
		if got := percent(c.part, c.whole); got != c.want {
			t.Errorf("%d of %d is %s, want %s", c.part, c.whole, got, c.want)
		}
	}
}
