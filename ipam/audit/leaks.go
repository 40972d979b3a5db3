package audit

import (
	"net/netip"
	"slices"
	"strings"
)

// leaks are records of pods, nodes and services that do not exist, and of pods that have other addresses.
func (j *judge) leaks() {
	some := slices.ContainsFunc(j.records, func(r record) bool { return j.used.has(r.source) })
	if some && len(j.Objects.pods) == 0 {
		j.unknown(LawLeak, "the cluster shows no pods: kubectl get pods -A -o json gets them")
	}
	type leak struct {
		addr netip.Addr
		pod  podName
	}
	told, services := map[leak]bool{}, map[podName]bool{}
	for _, s := range j.services {
		if s.cidrs == nil {
			services[s.podName] = true
		}
	}
	for i := range j.records {
		r := &j.records[i]
		if !j.used.has(r.source) || j.wrong[place{r.network, r.addr}] { // another pod has it, and it is told as that one's
			continue
		}
		why := ""
		switch r.kind {
		case ofPod:
			if len(j.Objects.pods) == 0 {
				continue
			}
			if why = j.leaked(r); why != "" {
				key := leak{r.addr, r.pod()}
				if told[key] {
					continue // two records say the same of it
				}
				told[key] = true
			}
		case ofNode:
			if len(j.Objects.nodes) > 0 && r.node != "" && j.Objects.nodes[r.node] == nil {
				if why = "for the " + r.what + " of node " + r.node + ", which does not exist"; r.handle != "" {
					why += " (handle " + r.handle + ")"
				}
			}
		case ofService:
			if len(services) > 0 && !services[r.pod()] {
				why = "for service " + r.pod().String() + ", which does not exist"
			}
		default:
			continue
		}
		j.Judged[LawLeak]++
		if why != "" {
			j.find(LawLeak, Warning, r.addr, "%s has it %s", r.by, why)
		}
	}
	j.serviceRecords()
}

// leaked says why no pod has the address of a record; empty: one has it, may get it, or keeps it.
func (j *judge) leaked(r *record) string {
	for _, name := range []podName{r.pod(), r.second} {
		p := j.runs(name)
		if p == nil {
			continue
		}
		addrs := p.addrs()
		second := strings.HasPrefix(r.network, anyNetwork) || strings.Contains(r.network, "/")
		switch {
		case len(addrs) == 0, j.holds(r), second && !p.told, r.kept:
			return ""
		case second || !slices.ContainsFunc(addrs, func(a netip.Addr) bool { return sameFamily(a, r.addr) }):
			return "for pod " + p.String() + ", which does not have it"
		}
		return "for pod " + p.String() + ", which has " + join(addrs)
	}
	if r.kept {
		return ""
	}
	gone := "for pod " + r.pod().String() + ", which does not run"
	if r.node != "" && len(j.Objects.nodes) > 0 && j.Objects.nodes[r.node] == nil {
		gone += ", on node " + r.node + ", which does not exist"
	}
	return gone
}

// someServices reports whether the objects show any; ranges of services are none.
func (j *judge) someServices() bool {
	return slices.ContainsFunc(j.services, func(s service) bool { return s.cidrs == nil })
}

// serviceRecords holds IPAddresses against services, which give their addresses away by them.
func (j *judge) serviceRecords() {
	claims := map[netip.Addr]podName{}
	j.each(func(p *part) {
		if p.claims != nil {
			claims[p.claims.addr] = p.claims.service
		}
	})
	if len(claims) == 0 || !j.someServices() {
		return
	}
	have := map[netip.Addr]podName{}
	for _, s := range j.services {
		for _, a := range s.addrs {
			have[a] = s.podName
			j.Judged[LawRecord]++
			switch by, claimed := claims[a]; {
			case !claimed:
				j.find(LawRecord, Error, a, "service %s has it, and no IPAddress says so: the next service gets it", s.podName)
			case by != s.podName:
				j.find(LawRecord, Error, a, "service %s has it, and its IPAddress is of service %s: it is given again when that "+
					"one goes", s.podName, by)
			}
		}
	}
	for a, s := range claims { //vppdrill:unordered findings are sorted
		j.Judged[LawLeak]++
		if _, has := have[a]; !has {
			j.find(LawLeak, Warning, a, "an IPAddress has it for service %s, which does not have it", s)
		}
	}
}

// handles holds Calico's handles against its blocks: a handle that counts more addresses than there are in a block
// keeps what is gone from being forgotten.
func (j *judge) handles() {
	type counted struct {
		handle string
		block  netip.Prefix
	}
	blocks := map[netip.Prefix]bool{}
	for _, c := range j.covers {
		if c.source == calico {
			blocks[c.prefix] = true
		}
	}
	if len(blocks) == 0 || !j.used.has(calico) {
		return
	}
	counts := map[counted]int{}
	for i := range j.records {
		if r := &j.records[i]; r.source == calico && r.handle != "" {
			if p, err := blockOf(r.by); err == nil {
				counts[counted{strings.ToLower(r.handle), p}]++
			}
		}
	}
	j.each(func(p *part) {
		for b, n := range p.handle.blocks { //vppdrill:unordered findings are sorted
			j.Judged[LawLeak]++
			if have := counts[counted{strings.ToLower(p.handle.id), b}]; have < n {
				j.find(LawLeak, Warning, b, "IPAMHandle %s counts %d of its addresses, and the block gives it %d: it stays "+
					"after its pod", p.handle.id, n, have)
			}
		}
	})
}

// blockOf is the block in the name of a record.
func blockOf(by string) (netip.Prefix, error) {
	return netip.ParsePrefix(strings.TrimPrefix(by, calicoBlock))
}

// lost are pods of nodes that do not exist.
func (j *judge) lost() {
	if len(j.Objects.nodes) == 0 {
		return
	}
	for i := range j.Objects.pods {
		p := &j.Objects.pods[i]
		if p.over || p.node == "" {
			continue
		}
		j.Judged[LawNoNode]++
		if j.Objects.nodes[p.node] == nil {
			subject := p.String()
			if addrs := p.addrs(); len(addrs) > 0 {
				subject = addrs[0].String()
			}
			j.find(LawNoNode, Warning, subject, "pod %s has it on node %s, which does not exist: nothing runs it, and the "+
				"address may be given again", p, p.node)
		}
	}
}
