package audit

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// holder is who has an address.
type holder struct {
	place
	pod  *pod
	node *node
	// what is what of a node has it: empty for the node's own address. shared: others may have it as well.
	what    string
	service *service
	shared  bool
}

// String names a holder.
func (h *holder) String() string {
	switch {
	case h.pod != nil:
		return "pod " + h.pod.String() + " on " + orNone(h.pod.node)
	case h.node != nil && h.what != "":
		return "the " + h.what + " of node " + h.node.name
	case h.node != nil:
		return "node " + h.node.name
	}
	return "service " + h.service.podName.String()
}

func orNone(node string) string {
	if node == "" {
		return "no node"
	}
	return node
}

// duplicates are addresses that two of pods, nodes and services have.
func (j *judge) duplicates() {
	most := len(j.Objects.pods) + 2*len(j.byName) + len(j.services)
	holders, first := make([]holder, 0, most), make(map[place]int32, most)
	again := map[place][]int32{} // all that have one of more
	add := func(h holder) {
		at := int32(len(holders))
		holders = append(holders, h)
		known, taken := first[h.place]
		if !taken {
			first[h.place] = at
			return
		}
		if len(again[h.place]) == 0 {
			again[h.place] = []int32{known}
		}
		again[h.place] = append(again[h.place], at)
	}
	j.faces(func(_ int, p *pod, f face) {
		j.Judged[LawDuplicate]++
		add(holder{place: place{f.network, f.addr}, pod: p})
	})
	for _, n := range j.byName {
		for _, a := range n.internal {
			add(holder{place: place{addr: a}, node: n})
		}
		for _, own := range n.own {
			add(holder{place: place{addr: own.addr}, node: n, what: own.what})
		}
	}
	for i := range j.services {
		for _, a := range j.services[i].addrs {
			add(holder{place: place{addr: a}, service: &j.services[i]})
		}
		for _, a := range j.services[i].shared {
			add(holder{place: place{addr: a}, service: &j.services[i], shared: true})
		}
	}
	for at, list := range again { //vppdrill:unordered findings are sorted
		same := make([]*holder, len(list))
		for i, number := range list {
			same[i] = &holders[number]
		}
		j.same(at, same)
	}
}

// same judges those that have one address, each beside the first that it may not share it with.
func (j *judge) same(at place, all []*holder) {
	slices.SortStableFunc(all, func(a, b *holder) int {
		return cmp.Or(-cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.String(), b.String()))
	})
	for i, h := range all {
		for _, other := range all[:i] {
			if h.mayShare(other) {
				continue
			}
			severity, why := Error, ""
			for _, one := range []*holder{other, h} {
				because, surely := j.ghost(one)
				if because != "" {
					why += "; " + because
				}
				if surely {
					severity = Warning
				}
			}
			if at.network != "" && h.pod != nil && other.pod != nil && h.pod.node != other.pod.node &&
				strings.Contains(at.network, "/") && j.attachments[at.network] == nil {
				why += "; unless the network ends at each node: kubectl get network-attachment-definitions -A -o json shows it"
			}
			j.find(LawDuplicate, severity, at.addr, "%s%s", pair(other, h)+on(at.network), why)
			break
		}
	}
}

// rank orders holders of different kinds: those of the infrastructure in front.
func (h *holder) rank() int {
	switch {
	case h.pod != nil:
		return 0
	case h.service != nil:
		return 1
	}
	return 2
}

func on(network string) string {
	if network == "" {
		return ""
	}
	return " in " + network
}

// pair names two that have one address.
func pair(a, b *holder) string {
	if a.pod != nil && b.pod != nil {
		return "pods " + a.pod.String() + " on " + orNone(a.pod.node) + " and " + b.pod.String() + " on " +
			"" + orNone(b.pod.node) + " have it"
	}
	return a.String() + " and " + b.String() + " have it"
}

// mayShare reports whether two may have one address.
func (h *holder) mayShare(o *holder) bool {
	switch {
	case h.pod != nil && o.pod != nil: // one pod may have it twice; a machine that moves has it at both ends
		return h.pod == o.pod || h.pod.machine != "" && h.pod.machine == o.pod.machine && h.pod.namespace == o.pod.namespace
	case h.node != nil && o.node != nil:
		return h.node == o.node
	case h.service != nil && o.service != nil:
		return h.shared || o.shared || h.service.podName == o.service.podName
	case h.service != nil && o.node != nil: // some load balancers' addresses are nodes'
		return h.shared
	case h.node != nil && o.service != nil:
		return o.shared
	}
	return false
}

// ghost says why one that has an address may not be there any more; surely, where the address is free to be given
// again.
func (j *judge) ghost(h *holder) (why string, surely bool) {
	switch {
	case h.pod != nil:
		dead := j.Objects.nodes[h.pod.node].dead()
		if dead == "" || h.pod.node == "" || len(j.Objects.nodes) == 0 {
			return "", false
		}
		if h.pod.deleting {
			return h.pod.String() + " is being deleted, and its node " + h.pod.node + " " + dead + ": the address was free " +
				"to be given again", true
		}
		return "node " + h.pod.node + " of " + h.pod.String() + " " + dead, j.Objects.nodes[h.pod.node] == nil
	case h.node != nil:
		if dead := h.node.dead(); dead != "" {
			return "node " + h.node.name + " " + dead, true
		}
	}
	return "", false
}

// sameFamily reports whether two addresses are of one.
func sameFamily(a, b netip.Addr) bool { return a.Is4() == b.Is4() }
