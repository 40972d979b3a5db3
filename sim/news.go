package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
)

// delivery is the fate of one change that the API server sends to a watch. Changes for agents are judged where the
// agent receives them.
func (w *World) delivery(to *cluster.InformerConfig) cluster.Delivery {
	if to.Name == cluster.AgentProgram || !w.faulty() {
		return cluster.Delivery{}
	}
	v := w.judge(fault.Op{Node: programAt(w.net.Name(to.At)), Kind: fault.KindControlWatch, Name: to.Kind.String()})
	return cluster.Delivery{
		Late: v.Delay, Lost: v.Action == fault.Vanish || v.Action == fault.Refuse, Twice: v.Action == fault.Duplicate,
	}
}

// listing is how old a list is that the API server answers from its cache, and whether it is refused. Agents ask for
// none.
func (w *World) listing(to *cluster.InformerConfig) (age time.Duration, refused bool) {
	if !w.faulty() {
		return 0, false
	}
	v := w.judge(fault.Op{Node: programAt(w.net.Name(to.At)), Kind: fault.KindControlList, Name: to.Kind.String()})
	return v.Delay, v.Action == fault.Vanish || v.Action == fault.Refuse
}

// programAt is which program runs at an endpoint of that name, whatever life of it; machines and the scheduler are
// called by their own names.
func programAt(name string) string {
	i := slices.IndexFunc(controllers.Programs, func(p string) bool { return strings.HasPrefix(name, p+"-") })
	if i < 0 {
		return name
	}
	return controllers.Programs[i]
}
