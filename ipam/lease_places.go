package ipam

// place is where an owner attaches. A node's owners differ in their containers: it has few networks and names of
// interfaces.
type place struct{ network, ifName string }

// places number the places of all leases. A number is free again with the last lease there.
type places struct {
	list   []occupied
	byName map[place]uint32
	last   uint32 // found last, which is nearly always the next one too
	free   []uint32
}

// occupied is a place with so many owners.
type occupied struct {
	place
	owners int
}

// find is the number of a place with owners.
func (p *places) find(network, ifName string) (uint32, bool) {
	if int(p.last) < len(p.list) {
		if l := &p.list[p.last]; l.ifName == ifName && l.network == network && l.owners > 0 {
			return p.last, true
		}
	}
	n, ok := p.byName[place{network, ifName}]
	if ok {
		p.last = n
	}
	return n, ok
}

// add numbers a place that has no number. The caller puts an owner there.
func (p *places) add(network, ifName string) uint32 {
	if p.byName == nil {
		p.byName = make(map[place]uint32)
	}
	at := place{network, ifName}
	n := uint32(len(p.list))
	if last := len(p.free) - 1; last >= 0 {
		n, p.free = p.free[last], p.free[:last]
		p.list[n].place = at
	} else {
		p.list = append(p.list, occupied{place: at})
	}
	p.byName[at] = n
	p.last = n
	return n
}

// left takes one owner away.
func (p *places) left(n uint32) {
	l := &p.list[n]
	l.owners--
	if l.owners == 0 {
		delete(p.byName, l.place)
		l.place = place{}
		p.free = append(p.free, n)
	}
}
