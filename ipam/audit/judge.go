package audit

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Severity says how bad a finding is.
type Severity string

// Severities. Errors break traffic now or as soon as a pod comes; warnings will.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Laws that findings are of.
const (
	LawDuplicate  = "duplicate-address"
	LawOutside    = "outside-of-node"
	LawOverlap    = "ranges-overlap"
	LawService    = "services-overlap"
	LawNodeRange  = "nodes-overlap"
	LawLeak       = "leaked-address"
	LawGone       = "range-of-no-node"
	LawExhaustion = "runs-out"
)

// Laws are all, in the order of findings.
func Laws() []string {
	return []string{LawDuplicate, LawOutside, LawOverlap, LawService, LawNodeRange, LawLeak, LawGone, LawExhaustion}
}

// Finding is one thing that is wrong.
type Finding struct {
	Law      string   `json:"law"`
	Severity Severity `json:"severity"`
	// Subject is what it is about: an address, a range, a node.
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// String is a line for people.
func (f Finding) String() string {
	return fmt.Sprintf("%s %s: %s: %s", f.Severity, f.Law, f.Subject, f.Text)
}

// Report is what an audit found. Judged counts, by law, how many occasions it had to be broken; a law with none says
// nothing.
type Report struct {
	Nodes    int            `json:"nodes"`
	Pods     int            `json:"pods"`
	Findings []Finding      `json:"findings"`
	Judged   map[string]int `json:"judged"`
	// Unknown says what could not be judged, and for want of what.
	Unknown []string `json:"unknown,omitempty"`
}

// Broken reports whether an error was found.
func (r Report) Broken() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity == Error })
}

// judge collects findings.
type judge struct {
	*Objects
	Report
	// held are the ranges that count.
	held []heldRange
	// byName are the pods that run and have addresses of their own.
	byName map[string]pod
}

// Judge says what is wrong with a cluster that shows these objects.
func Judge(o *Objects) Report {
	j := &judge{Objects: o, byName: map[string]pod{}}
	j.Judged = map[string]int{}
	j.Nodes = len(o.nodes)
	j.held = slices.Clone(o.ranges)
	if slices.ContainsFunc(j.held, func(r heldRange) bool { return r.by != podCIDR }) {
		j.held = slices.DeleteFunc(j.held, func(r heldRange) bool { return r.by == podCIDR })
	}
	for _, p := range o.pods {
		if !p.over && !p.host {
			j.byName[p.String()] = p
			j.Pods++
		}
	}
	j.duplicates()
	j.outside()
	j.overlaps()
	j.services()
	j.nodeAddresses()
	j.leaks()
	j.exhaustion()
	order := Laws()
	slices.SortStableFunc(j.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(slices.Index(order, a.Law), slices.Index(order, b.Law)),
			cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Text, b.Text))
	})
	return j.Report
}

func (j *judge) find(law string, s Severity, subject any, format string, args ...any) {
	j.Findings = append(j.Findings, Finding{Law: law, Severity: s, Subject: fmt.Sprint(subject), Text: fmt.Sprintf(format, args...)})
}

func (j *judge) unknown(law, why string) { j.Unknown = append(j.Unknown, law+": "+why) }

// running are the pods with addresses of their own that run, in order of names.
func (j *judge) running() []pod {
	list := make([]pod, 0, len(j.byName))
	for _, p := range j.byName { // sorted below
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b pod) int { return cmp.Compare(a.String(), b.String()) })
	return list
}

func (j *judge) duplicates() {
	holder := map[netip.Addr]pod{}
	for _, p := range j.running() {
		for _, a := range p.addrs {
			j.Judged[LawDuplicate]++
			if other, taken := holder[a]; taken {
				j.find(LawDuplicate, Error, a, "pods %s on %s and %s on %s have it", other, other.node, p, p.node)
				continue
			}
			holder[a] = p
		}
	}
}

// of are the ranges of a node.
func (j *judge) of(node string) (list []netip.Prefix) {
	for _, r := range j.held {
		if r.node == node {
			list = append(list, r.prefix)
		}
	}
	return list
}

// outside are addresses that their pods' nodes have no range for. What the CNI's own record gives to that pod on that
// node is as it should be: Calico's nodes borrow from others' blocks when their pool has none left, and pods may ask
// for an address of their own.
func (j *judge) outside() {
	type grant struct {
		addr netip.Addr
		pod  string
		node string
	}
	granted := map[grant]bool{}
	for _, u := range j.used {
		granted[grant{u.addr, u.namespace + "/" + u.pod, u.node}] = true
	}
	without := map[string]bool{}
	for _, p := range j.running() {
		ranges := j.of(p.node)
		for _, a := range p.addrs {
			if granted[grant{a, p.String(), p.node}] {
				j.Judged[LawOutside]++
				continue
			}
			sameFamily := slices.ContainsFunc(ranges, func(r netip.Prefix) bool { return r.Addr().Is4() == a.Is4() })
			if !sameFamily {
				without[p.node] = true
				continue
			}
			j.Judged[LawOutside]++
			if !slices.ContainsFunc(ranges, func(r netip.Prefix) bool { return r.Contains(a) }) {
				j.find(LawOutside, Error, a, "pod %s has it, and its node %s has %s", p, p.node, join(ranges))
			}
		}
	}
	if len(without) > 0 {
		j.unknown(LawOutside, fmt.Sprintf("nothing says which ranges %d nodes with pods have", len(without)))
	}
}

func (j *judge) overlaps() {
	byStart := slices.Clone(j.held)
	slices.SortStableFunc(byStart, func(a, b heldRange) int {
		return cmp.Or(a.prefix.Addr().Compare(b.prefix.Addr()), cmp.Compare(a.prefix.Bits(), b.prefix.Bits()))
	})
	var open []heldRange // those that reach as far as here: prefixes lie within each other or apart
	for _, r := range byStart {
		j.Judged[LawOverlap]++
		open = slices.DeleteFunc(open, func(o heldRange) bool { return !o.prefix.Overlaps(r.prefix) })
		for _, o := range open {
			if o.node != r.node {
				j.find(LawOverlap, Error, r.prefix, "node %s has it (%s), and node %s has %s (%s)", r.node, r.by, o.node, o.prefix, o.by)
			}
		}
		open = append(open, r)
		if len(j.nodes) > 0 {
			j.Judged[LawGone]++
			if _, there := j.nodes[r.node]; !there {
				j.find(LawGone, Warning, r.prefix, "%s gives it to node %s, which does not exist", r.by, r.node)
			}
		}
	}
}

func (j *judge) services() {
	for _, s := range j.Objects.services {
		for _, r := range j.held {
			j.Judged[LawService]++
			for _, a := range s.addrs {
				if r.prefix.Contains(a) {
					j.find(LawService, Error, a, "service %s has it, and it lies in %s of node %s", s.name, r.prefix, r.node)
				}
			}
			for _, c := range s.cidrs {
				if r.prefix.Overlaps(c) {
					j.find(LawService, Error, c, "%s overlaps %s of node %s", s.name, r.prefix, r.node)
				}
			}
		}
	}
}

func (j *judge) nodeAddresses() {
	for _, n := range j.inOrder() {
		for _, a := range n.addresses {
			for _, r := range j.held {
				j.Judged[LawNodeRange]++
				if r.prefix.Contains(a) {
					j.find(LawNodeRange, Error, a, "node %s has it, and it lies in %s of node %s", n.name, r.prefix, r.node)
				}
			}
		}
	}
}

func (j *judge) inOrder() []node {
	list := make([]node, 0, len(j.nodes))
	for _, n := range j.nodes { // sorted below
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b node) int { return cmp.Compare(a.name, b.name) })
	return list
}

// leaks are records of pods that do not exist, and of pods that have other addresses.
func (j *judge) leaks() {
	if len(j.used) == 0 {
		j.unknown(LawLeak, "the cluster shows no records of addresses in use (Calico's IPAMBlocks and CiliumNodes do)")
	}
	if len(j.used) > 0 && len(j.pods) == 0 {
		j.unknown(LawLeak, "the cluster shows no pods")
		return
	}
	for _, u := range j.used {
		j.Judged[LawLeak]++
		switch p, there := j.byName[u.namespace+"/"+u.pod]; {
		case !there:
			j.find(LawLeak, Warning, u.addr, "%s has it for pod %s/%s, which does not run", u.by, u.namespace, u.pod)
		case len(p.addrs) > 0 && !slices.Contains(p.addrs, u.addr):
			j.find(LawLeak, Warning, u.addr, "%s has it for pod %s, which has %s", u.by, p, join(p.addrs))
		}
	}
}

// exhaustion tells nodes whose kubelets take more pods than there are addresses for. Blocks that are given on demand do
// not count.
func (j *judge) exhaustion() {
	for _, n := range j.inOrder() {
		if slices.ContainsFunc(j.held, func(r heldRange) bool { return r.node == n.name && !r.whole }) {
			continue // it gets more when it needs more
		}
		for _, four := range []bool{true, false} {
			room, known := 0, false
			for _, r := range j.held {
				if r.node == n.name && r.whole && r.prefix.Addr().Is4() == four {
					known, room = true, room+capacity(r.prefix)
				}
			}
			if !known || n.maxPods == 0 {
				continue
			}
			j.Judged[LawExhaustion]++
			if room < n.maxPods {
				have := 0
				for _, p := range j.running() {
					if p.node == n.name {
						have++
					}
				}
				j.find(LawExhaustion, Warning, n.name, "its kubelet takes %d pods, and %s has addresses for %d; %d pods have one now", n.maxPods, join(j.of(n.name)), room, have)
			}
		}
	}
}

// capacityMost is where counting ends: no kubelet takes as many.
const capacityMost = 1 << 20

// capacity is how many pods a range has addresses for: all but the network's, the gateway's and of IPv4 the
// broadcast's.
func capacity(p netip.Prefix) int {
	host := p.Addr().BitLen() - p.Bits()
	if host >= 20 {
		return capacityMost
	}
	return max(0, 1<<host-3)
}

func join[T fmt.Stringer](list []T) string {
	var texts []string
	for _, x := range list {
		texts = append(texts, x.String())
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}
