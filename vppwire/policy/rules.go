package policy

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Filter is what a pod may send (Egress) and get (Ingress), for ACLs on both sides of its interface.
type Filter struct{ Ingress, Egress []vppwire.ACLRule }

// everyone are all addresses of each family.
var everyone = [...]netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0)}

// ways are a pod's rules of one direction while they are collected: who is at the other end, and to which ports.
type ways struct {
	list   []vppwire.ACLRule
	egress bool
}

// add lets a peer through.
func (w *ways) add(peer netip.Prefix, p Port) { w.rule(vppwire.ACLReflect, peer, p) }

// rule puts a peer and everyone of its family where they belong in a rule. Those that deny come first: see
// vppwire.CompareACLRules.
func (w *ways) rule(action vppwire.ACLAction, peer netip.Prefix, p Port) {
	r := vppwire.ACLRule{Action: action, Src: peer, Dst: everyone[0], Proto: p.Proto, First: p.First, Last: p.Last}
	if peer.Addr().Is6() {
		r.Dst = everyone[1]
	}
	if w.egress {
		r.Src, r.Dst = r.Dst, r.Src
	}
	w.list = append(w.list, r)
}

func (w *ways) all() {
	for _, p := range everyone {
		w.add(p, Port{})
	}
}

// sorted are the rules, each once, in the order that their text has.
func (w *ways) sorted() []vppwire.ACLRule {
	slices.SortFunc(w.list, vppwire.CompareACLRules)
	return slices.Compact(w.list)
}

// Closed is the filter of a pod that only its node reaches.
func (p *Place) Closed() Filter {
	var in, out ways
	out.egress = true
	p.own(&in)
	p.own(&out)
	return Filter{in.sorted(), out.sorted()}
}

// own adds what always passes.
func (p *Place) own(w *ways) {
	for _, a := range p.Node {
		w.add(netip.PrefixFrom(a, a.BitLen()), Port{})
	}
}

// filter is what the policies that there are say of a pod.
func (t *Table) filter(pod *Pod) Filter {
	in, out := ways{}, ways{egress: true}
	isolated := [2]bool{}
	for _, p := range t.selecting(pod) {
		isolated[0], isolated[1] = isolated[0] || p.Ingress, isolated[1] || p.Egress
		if p.Ingress {
			t.rules(&in, p, p.IngressRules, pod)
		}
		if p.Egress {
			t.rules(&out, p, p.EgressRules, pod)
		}
	}
	for i, w := range [...]*ways{&in, &out} {
		if !isolated[i] {
			w.list = nil
			w.all()
			continue
		}
		t.place.own(w)
		for _, a := range pod.Addrs { // itself, by a service's address or without
			w.add(netip.PrefixFrom(a, a.BitLen()), Port{})
		}
	}
	if isolated[1] {
		t.fronts(&out, pod)
	}
	return Filter{in.sorted(), out.sorted()}
}

// rules adds what a policy's rules of a direction allow pod.
func (t *Table) rules(w *ways, p *Policy, rules []Rule, pod *Pod) {
	for i := range rules {
		r := &rules[i]
		ports := r.Ports
		if ports == nil {
			ports = []Port{{}}
		}
		for k := range ports {
			port := &ports[k]
			if port.Proto == 0 && r.Ports != nil {
				continue // nobody knows what it would be
			}
			t.peers(w, p, r, port, pod)
		}
	}
}

// peers adds what a rule allows at one port.
func (t *Table) peers(w *ways, p *Policy, r *Rule, port *Port, pod *Pod) {
	if port.Named != "" && !w.egress { // the pod's own, whoever asks
		for _, named := range pod.Ports {
			if named.Name == port.Named && named.Proto == port.Proto {
				t.peers(w, p, r, &Port{Proto: named.Proto, First: named.Port, Last: named.Port}, pod)
			}
		}
		return
	}
	if r.Peers == nil && port.Named == "" {
		for _, all := range everyone {
			w.add(all, *port)
		}
		return
	}
	if r.Peers == nil { // whoever has a port of that name
		t.pods(w, port, func(*Pod, netip.Addr) bool { return true })
	}
	for i := range r.Peers {
		x := &r.Peers[i]
		switch {
		case x.Block.IsValid() && port.Named == "":
			for _, b := range without(x.Block, x.Except) {
				w.add(b, *port)
			}
		case x.Block.IsValid(): // of the pods there
			t.pods(w, port, func(_ *Pod, a netip.Addr) bool { return x.holds(a) })
		case x.Pods != nil || x.Namespaces != nil:
			t.pods(w, port, func(other *Pod, _ netip.Addr) bool { return t.means(p, x, other) })
		}
	}
}

// pods adds every pod that is meant, at a port of its own where that has a name.
func (t *Table) pods(w *ways, port *Port, meant func(*Pod, netip.Addr) bool) {
	for _, other := range t.pod { // in any order: the rules are sorted
		for _, a := range other.Addrs {
			if !meant(other, a) {
				continue
			}
			at := netip.PrefixFrom(a, a.BitLen())
			if port.Named == "" {
				w.add(at, *port)
				continue
			}
			for _, named := range other.Ports {
				if named.Name == port.Named && named.Proto == port.Proto {
					w.add(at, Port{Proto: named.Proto, First: named.Port, Last: named.Port})
				}
			}
		}
	}
}

// means reports whether a peer of a policy is a pod.
func (t *Table) means(p *Policy, x *Peer, pod *Pod) bool {
	if x.Pods == nil && x.Namespaces == nil {
		return false
	}
	if x.Namespaces == nil && pod.Name.Namespace != p.Name.Namespace {
		return false
	}
	if x.Namespaces != nil {
		labels, known := t.namespace[pod.Name.Namespace]
		if !known || !x.Namespaces.Matches(labels) {
			return false
		}
	}
	return x.Pods == nil || x.Pods.Matches(pod.Labels)
}

// holds reports whether an address is in a peer's block and none of its exceptions.
func (x *Peer) holds(a netip.Addr) bool {
	return x.Block.Contains(a) && !slices.ContainsFunc(x.Except, func(e netip.Prefix) bool { return e.Contains(a) })
}

// without is a block as prefixes that leave its exceptions out.
func without(block netip.Prefix, except []netip.Prefix) []netip.Prefix {
	block = block.Masked()
	inside := false
	for _, e := range except {
		if e.Bits() <= block.Bits() && e.Contains(block.Addr()) {
			return nil
		}
		inside = inside || block.Contains(e.Addr())
	}
	if !inside {
		return []netip.Prefix{block}
	}
	low, high := halves(block)
	return append(without(low, except), without(high, except)...)
}

// halves are the two prefixes that a prefix consists of; it is longer than an address.
func halves(p netip.Prefix) (low, high netip.Prefix) {
	b := p.Addr().AsSlice()
	b[p.Bits()/8] |= 0x80 >> (p.Bits() % 8)
	upper, _ := netip.AddrFromSlice(b)
	return netip.PrefixFrom(p.Addr(), p.Bits()+1), netip.PrefixFrom(upper, p.Bits()+1)
}

// fronts adds the services' addresses of which a pod may reach every endpoint. One that rules let through by chance, as a
// block around it does and the node's own address, is denied where an endpoint is not for the pod: VPP looks at a packet
// before it chooses one.
func (t *Table) fronts(w *ways, pod *Pod) {
	rules := w.list
	for _, f := range t.place.Fronts {
		front, port := netip.PrefixFrom(f.Addr.Addr(), f.Addr.Addr().BitLen()), Port{Proto: f.Proto, First: f.Addr.Port(), Last: f.Addr.Port()}
		reached := 0
		for _, e := range f.Endpoints {
			if vppwire.Permits(rules, t.own(pod, e.Addr()), e.Addr(), f.Proto, e.Port()) {
				reached++
			}
		}
		if reached < len(f.Endpoints) && vppwire.Permits(rules, t.own(pod, front.Addr()), front.Addr(), f.Proto, f.Addr.Port()) {
			w.rule(vppwire.ACLDeny, front, port)
		}
		switch {
		case reached == 0:
		case reached == len(f.Endpoints):
			w.add(front, port)
		default:
			t.refused = append(t.refused, Refused{pod.Name, f.Addr, f.Proto, reached, len(f.Endpoints)})
		}
	}
}

// own is the pod's address of the same family, or any.
func (t *Table) own(pod *Pod, like netip.Addr) netip.Addr {
	for _, a := range pod.Addrs {
		if a.Is4() == like.Is4() {
			return a
		}
	}
	return like
}
