package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// decisions reports to the run's account, if there is one, the agent's decisions that no event shows: journal writes,
// messages, waits.
func (p *process) decisions(effects []agent.Effect) {
	if p.m.w.decided == nil {
		return
	}
	tell := func(text string) { p.m.w.decided(p.m.name, text) }
	for _, e := range effects {
		switch e := e.(type) {
		case agent.Persist:
			if e.Replace {
				tell(fmt.Sprintf("writes its journal anew, with %d records", len(e.Records)))
				continue
			}
			for i := range e.Records {
				tell(fmt.Sprintf("writes record %d to its journal: %s", e.Seq, e.Records[i].AppendText(nil)))
			}
		case agent.Log:
			tell("says: " + e.Message)
		}
	}
	if lacks := strings.Join(slices.Collect(p.agent.Lacks()), ", "); lacks != p.lacks {
		p.lacks = lacks
		tell("lacks: " + cmp.Or(lacks, "nothing"))
	}
	if slices.ContainsFunc(effects, isCall) {
		return
	}
	if waits := p.agent.Pending(); waits != p.waits {
		p.waits = waits
		tell("waits: " + cmp.Or(waits, "for nothing"))
	}
}
