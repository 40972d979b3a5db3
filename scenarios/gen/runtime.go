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

// drawOtherGC has one GC of four be for another network than that of the pods.
func (d drawer) drawOtherGC(timeline []scenarios.Step) {
	for i := range timeline {
		if gc, is := timeline[i].Action.(scenarios.GC); is && d.coin("gc of another network", 4) {
			gc.Other = true
			timeline[i].Action = gc
		}
	}
}
