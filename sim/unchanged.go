package sim

import (
	"reflect"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
)

// unchanged tells of an object of a program's that it has written as it was. A real API server gives such a write no version, and nobody hears of it.
func (w *World) unchanged(old, now cluster.Object) {
	if old == nil || now == nil || len(w.listeners) == 0 {
		return
	}
	x, is := now.(*cluster.Resource)
	if is && reflect.DeepEqual(x.Value, old.(*cluster.Resource).Value) {
		w.emit(scenarios.Fact{Kind: scenarios.FactNeedless, Node: x.Name, Text: "an update of the resource " + x.Name, Broken: "changes nothing of it"})
	}
}
