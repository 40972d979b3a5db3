package audit

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// judge collects findings.
type judge struct {
	*Objects
	Report
	// byName are the nodes in the order of their names.
	byName []*node
	// ranges, pools, records and covers are those of all objects and nodes; in use are those whose source is, by used.
	ranges   []heldRange
	pools    []pool
	records  []record
	covers   []cover
	services []service
	reserved []netip.Prefix
	subnets  map[string]*subnet
	// attachments are those that objects show, by their names.
	attachments map[string]*attachment
	evidence    [sources]evidence
	used        systems
	// named are sources whose records name running pods rightly; explained counts by source the addresses whose pods'
	// nodes have them.
	named systems
	// showing are sources of which something says something of addresses, booking those with records; hiding: a CNI
	// that may have pools shows nothing of them.
	showing, booking systems
	hiding           bool
	// of finds ranges, pooled pools, covered covers, ofNode the ranges of a node, and booked the first record of each
	// address, from which next leads on.
	of, pooled, covered index
	ofNode              map[string][]int32
	booked              map[netip.Addr]int32
	next                []int32
	// explained are, for each pod's address in order, the sources that say it.
	explained []systems
	// onNode counts pods with addresses of their own by node; held are by node the ranges that count.
	onNode map[string]int
	held   map[string][]heldRange
	wrong  map[place]bool
}

// place is an address of a network.
type place struct {
	network string
	addr    netip.Addr
}

// Judge says what is wrong with a cluster that shows these objects.
func Judge(o *Objects) Report {
	j := newJudge(o)
	j.gather()
	j.networks()
	j.choose()
	j.duplicates()
	j.wrongRecords()
	j.bookedTwice()
	j.outside()
	j.overlaps()
	j.overlapsOfPools()
	j.overlapsOfStores()
	j.servicesOverlap()
	j.nodesOverlap()
	j.leaks()
	j.handles()
	j.lost()
	j.families()
	j.exhaustion()
	j.tell()
	order := Laws()
	slices.SortStableFunc(j.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(slices.Index(order, a.Law), slices.Index(order,
			b.Law)),
			compareSubjects(a.Subject, b.Subject), cmp.Compare(a.Text, b.Text))
	})
	return j.Report
}

func newJudge(o *Objects) *judge {
	j := &judge{Objects: o, subnets: map[string]*subnet{}, attachments: map[string]*attachment{},
		booked: map[netip.Addr]int32{}, ofNode: map[string][]int32{},
		onNode: map[string]int{}, held: map[string][]heldRange{}, wrong: map[place]bool{}}
	j.Judged = map[string]int{}
	j.Nodes = len(o.nodes)
	return j
}

// compareSubjects orders addresses as such, and everything else by its letters.
func compareSubjects(a, b string) int {
	left, errLeft := netip.ParseAddr(a)
	right, errRight := netip.ParseAddr(b)
	if errLeft == nil && errRight == nil {
		return left.Compare(right)
	}
	return cmp.Compare(a, b)
}

func (j *judge) find(law string, s Severity, subject any, format string, args ...any) {
	j.Findings = append(j.Findings, Finding{Law: law, Severity: s, Subject: fmt.Sprint(subject),
		Text: fmt.Sprintf(format, args...)})
}

func (j *judge) unknown(law, format string, args ...any) {
	j.Unknown = append(j.Unknown, law+": "+fmt.Sprintf(format, args...))
}

// gather puts together what objects say.
func (j *judge) gather() {
	for _, n := range j.nodes { // sorted below
		j.byName = append(j.byName, n)
	}
	slices.SortFunc(j.byName, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
	for _, n := range j.byName {
		j.ranges = append(j.ranges, n.ranges...)
	}
	j.each(func(p *part) {
		j.ranges = append(j.ranges, p.ranges...)
		j.pools = append(j.pools, p.pools...)
		j.records = append(j.records, p.records...)
		j.covers = append(j.covers, p.covers...)
		j.services = append(j.services, p.services...)
		j.reserved = append(j.reserved, p.reserved...)
		j.Findings = append(j.Findings, p.findings...)
		for law, n := range p.judged { //vppdrill:unordered sums
			j.Judged[law] += n
		}
		if p.subnet != nil {
			j.subnets[p.subnet.name] = p.subnet
		}
		if p.attachment != nil {
			j.attachments[p.attachment.name] = p.attachment
		}
		if !p.read {
			if j.Unread == nil {
				j.Unread = map[string]int{}
			}
			j.Unread[p.kind]++
		}
	})
	for _, r := range j.ranges {
		j.showing.add(r.source)
	}
	for _, r := range j.records {
		j.showing.add(r.source)
		j.booking.add(r.source)
	}
	for _, c := range j.covers {
		j.showing.add(c.source)
	}
	for _, l := range j.pools {
		j.showing.add(l.source)
	}
	for i := range j.Objects.pods {
		if p := &j.Objects.pods[i]; p.alone() {
			j.Pods++
			j.onNode[p.node]++
		}
	}
	j.evidence = j.shown()
}

// alone reports whether a pod runs and has addresses of its own, or will have.
func (p *pod) alone() bool { return !p.over && !p.host }

// networks says of which network the addresses of pods and records are: what kube-ovn's VPCs have in common are no
// duplicates, nor are those of attachments that end at their nodes.
func (j *judge) networks() {
	for i := range j.records {
		name, ok := strings.CutPrefix(j.records[i].network, subnetNetwork)
		switch {
		case !ok:
		case j.subnets[name] != nil:
			j.records[i].network = j.subnets[name].network
		case name == ovnDefault:
			j.records[i].network = ""
		}
	}
	for i := range j.Objects.pods {
		p := &j.Objects.pods[i]
		network := ""
		switch s := j.subnets[p.subnet]; {
		case p.router != "":
			network = vpcNetwork(p.router)
		case s != nil:
			network = s.network
		case p.subnet != "" && p.subnet != ovnDefault:
			network = subnetNetwork + p.subnet
		}
		for k := range p.faces {
			switch f := &p.faces[k]; {
			case !f.second:
				f.network = network
			case j.attachments[f.network] != nil && j.attachments[f.network].local:
				f.network += " on " + p.node
			}
		}
	}
	// kube-ovn's records are complete for its subnets.
	if slices.ContainsFunc(j.records, func(r record) bool { return r.source == kubeOVN }) {
		j.each(func(p *part) {
			if p.subnet != nil {
				for _, r := range p.subnet.ranges {
					j.covers = append(j.covers, cover{prefix: r, network: p.subnet.network, by: "subnet " + p.subnet.name,
						source: kubeOVN})
				}
			}
		})
	}
}

// faces goes through the addresses of pods that run and have some of their own, with the number of each.
func (j *judge) faces(take func(number int, p *pod, f face)) {
	number := 0
	for i := range j.Objects.pods {
		p := &j.Objects.pods[i]
		if !p.alone() {
			continue
		}
		for _, f := range p.faces {
			take(number, p, f)
			number++
		}
	}
}

// of what a list of texts has, at most so many are told.
const toldMost = 6

func join[T fmt.Stringer](list []T) string {
	var texts []string
	for _, x := range list {
		texts = append(texts, x.String())
	}
	switch {
	case len(texts) == 0:
		return "none"
	case len(texts) > toldMost:
		return fmt.Sprintf("%s and %d more", strings.Join(texts[:toldMost], ", "), len(texts)-toldMost)
	}
	return strings.Join(texts, ", ")
}
