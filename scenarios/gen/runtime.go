package gen

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// drawRuntime draws how badly container runtimes behave: well in half of all runs, else each way by itself.
func (d drawer) drawRuntime() (r scenarios.Runtime) {
	if d.coin("runtime behaves", 2) {
		return r
	}
	for _, x := range [...]struct {
		label string
		on    *bool
	}{
		{"orphans", &r.Orphans}, {"repeat add", &r.RepeatAdd}, {"repeat del of all", &r.RepeatDel}, {"twice del", &r.TwiceDel},
		{"no netns", &r.NoNetns}, {"add before del", &r.AddBeforeDel},
	} {
		*x.on = d.coin(x.label, 3)
	}
	if d.coin("impatient", 2) {
		r.Timeout = d.between("plugin timeout", scenarios.RuntimeTimeoutLeast, time.Minute)
	}
	return r
}
