package sim

import (
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// adding is an ADD that has no answer yet. seq is the write of the journal, which replaces nothing, that has its sandbox, 0 for none so far.
type adding struct {
	request, seq uint64
	owner        ipam.Owner
}

// addings are the ADDs of a process.
type addings []adding

// asked takes an ADD in.
func (l *addings) asked(p *process, e agent.PodAdd) {
	*l = slices.DeleteFunc(*l, func(a adding) bool { return !p.awaits(a.request) })
	*l = append(*l, adding{request: e.Request, owner: e.Sandbox.Owner})
}

// wrote notes which ADDs a write is for.
func (l addings) wrote(e agent.Persist) {
	if e.Replace {
		return
	}
	for i := range e.Records {
		if r := &e.Records[i]; r.Kind == agent.RecordSandbox {
			for j := range l {
				if l[j].owner == r.Sandbox.Owner && l[j].seq == 0 {
					l[j].seq = e.Seq
				}
			}
		}
	}
}

// undone are the ADDs that a failed write ends, as what it, or one behind it, was to keep of them may not be there after a crash.
func (l *addings) undone(p *process, e agent.Persisted) (requests []uint64) {
	*l = slices.DeleteFunc(*l, func(a adding) bool {
		switch {
		case a.seq == 0 || e.Err == nil && a.seq > e.Seq || e.Err != nil && a.seq < e.Seq:
			return false
		case e.Err != nil && p.awaits(a.request):
			requests = append(requests, a.request)
		}
		return true
	})
	return requests
}

// awaits reports whether somebody waits for a request.
func (p *process) awaits(number uint64) bool {
	return slices.ContainsFunc(p.open, func(r openRequest) bool { return r.number == number })
}
