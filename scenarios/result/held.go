package result

import (
	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// holdings records which pod held which address when, from facts. A span begins at the answer of the ADD and ends when
// the agent frees the address, or the sandbox or node is gone. Only the first limit spans are kept.
type holdings struct {
	limit int
	spans []Held
	open  map[holder]int
}

// holder is an attachment on a node: container IDs are unique only there.
type holder struct {
	node  string
	owner ipam.Owner
}

func (h *holdings) observe(f *fact.Fact) {
	switch x := f.What.(type) {
	case fact.Answered:
		h.start(f, x)
	case fact.Released, fact.Deleted, fact.SandboxGone:
		h.end(holder{f.Node, fact.OwnerOf(x)}, f)
	case fact.NodeGone:
		for key := range h.open { //vppdrill:unordered each span ends by itself
			if key.node == f.Node {
				h.end(key, f)
			}
		}
	}
}

func (h *holdings) start(f *fact.Fact, x fact.Answered) {
	key := holder{f.Node, x.Owner}
	if _, held := h.open[key]; held || len(h.spans) >= h.limit {
		return
	}
	if h.open == nil {
		h.open = map[holder]int{}
	}
	h.open[key] = len(h.spans)
	h.spans = append(h.spans, Held{Node: f.Node, Addr: x.Addr.String(), Pod: x.Pod, FromSeconds: f.At.Seconds(),
		UntilSeconds: -1})
}

func (h *holdings) end(key holder, f *fact.Fact) {
	if len(h.open) == 0 {
		return
	}
	if i, held := h.open[key]; held {
		h.spans[i].UntilSeconds = f.At.Seconds()
		delete(h.open, key)
	}
}

func (h *holdings) list() []Held { return h.spans }
