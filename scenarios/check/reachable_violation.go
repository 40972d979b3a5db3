package check

// wrong is the violation that a sender's packets to destination j end in the wrong place, as the last walk shows.
func (p *proof) wrong(i int, from witness, j int) error {
	d := &p.dests.list[j]
	switch d.kind {
	case toPod:
		to := &p.s.Nodes[d.home]
		return p.unreachable(i, from, to.Pods[d.pod].Pod+" ("+d.addr.String()+") on "+to.Name)
	case toHost:
		return p.unreachable(i, from, "the host of "+p.s.Nodes[d.home].Name+" at "+d.addr.String())
	case toVPP:
		return p.unreachable(i, from, p.s.Nodes[d.home].Name+" at its address "+d.addr.String())
	case toOutside:
		return p.unreachable(i, from, d.addr.String()+" on the network between the nodes")
	}
	path := p.w.Path()
	v := broken(reachableName, p.s.At, p.s.Nodes[i].Name,
		"packets of %s to %s, an unassigned address, are not dropped: %s",
		p.named(i, from), d.addr, path.Outcome)
	show(v, path)
	return v
}

// named is a sender with its node.
func (p *proof) named(i int, from witness) string {
	if from.addr.IsValid() {
		return from.who + " (" + from.addr.String() + ") on " + p.s.Nodes[i].Name
	}
	return from.who
}

// unreachable is the violation shown by the last walk.
func (p *proof) unreachable(i int, from witness, what string) error {
	path := p.w.Path()
	v := broken(reachableName, p.s.At, p.s.Nodes[i].Name, "%s does not reach %s: %s", p.named(i, from), what, path.Outcome)
	show(v, path)
	return v
}
