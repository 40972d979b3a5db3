package datastore

import (
	"maps"
	"net/netip"
	"slices"
	"time"
)

// slow is DataStore's twin: a flat list of addresses that every operation walks through; accounts are counted anew.
type slow struct {
	now     time.Time
	cooling time.Duration
	enis    map[string]slowENI
	addrs   []*slowAddr
	// claims of addresses that are not there, and release times of such.
	orphans map[IPAMKey]netip.Addr
	gone    map[netip.Addr]time.Time
	fail    error // of the checkpoint
	file    map[IPAMKey]netip.Addr
}

type slowENI struct {
	device         int
	primary, trunk bool
	created        time.Time
}

type slowAddr struct {
	addr     netip.Addr
	eni      string
	unit     netip.Prefix
	key      IPAMKey
	released time.Time
}

func newSlow(now time.Time) *slow {
	return &slow{
		now: now, cooling: CoolingPeriod, enis: make(map[string]slowENI), orphans: make(map[IPAMKey]netip.Addr),
		gone: make(map[netip.Addr]time.Time), file: make(map[IPAMKey]netip.Addr),
	}
}

func (s *slow) find(a netip.Addr) *slowAddr {
	for _, x := range s.addrs {
		if x.addr == a {
			return x
		}
	}
	return nil
}

func (s *slow) holder(k IPAMKey) *slowAddr {
	for _, x := range s.addrs {
		if x.key == k {
			return x
		}
	}
	return nil
}

func (s *slow) cools(at time.Time) bool { return !at.IsZero() && s.now.Sub(at) <= s.cooling }

func (s *slow) idle(x *slowAddr) bool { return x.key.IsZero() && !s.cools(x.released) }

func (s *slow) assigned() map[IPAMKey]netip.Addr {
	m := maps.Clone(s.orphans)
	for _, x := range s.addrs {
		if !x.key.IsZero() {
			m[x.key] = x.addr
		}
	}
	return m
}

func (s *slow) write() error {
	if s.fail == nil {
		s.file = s.assigned()
	}
	return s.fail
}

func (s *slow) addENI(id string, device int, primary, trunk bool) error {
	if _, ok := s.enis[id]; ok {
		return ErrDuplicatedENI
	}
	s.enis[id] = slowENI{device, primary, trunk, s.now}
	return nil
}

func (s *slow) add(eni string, unit netip.Prefix) error {
	if _, ok := s.enis[eni]; !ok {
		return ErrUnknownENI
	}
	for a := unit.Addr(); unit.Contains(a); a = a.Next() {
		if s.find(a) != nil {
			return ErrIPAlreadyInStore
		}
	}
	for a := unit.Addr(); unit.Contains(a); a = a.Next() {
		x := &slowAddr{addr: a, eni: eni, unit: unit, released: s.gone[a]}
		delete(s.gone, a)
		for k, o := range s.orphans {
			if o == a {
				x.key = k
				x.released = time.Time{}
				delete(s.orphans, k)
			}
		}
		s.addrs = append(s.addrs, x)
	}
	return nil
}

func (s *slow) removeUnit(eni string, unit netip.Prefix) {
	s.addrs = slices.DeleteFunc(s.addrs, func(x *slowAddr) bool {
		if x.eni != eni || x.unit != unit {
			return false
		}
		if !x.key.IsZero() {
			s.orphans[x.key] = x.addr
		} else if s.cools(x.released) {
			s.gone[x.addr] = x.released
		}
		return true
	})
}

func (s *slow) units(eni string) (list []netip.Prefix) {
	for _, x := range s.addrs {
		if x.eni == eni && !slices.Contains(list, x.unit) {
			list = append(list, x.unit)
		}
	}
	return list
}

func (s *slow) del(eni string, unit netip.Prefix, force bool) error {
	if _, ok := s.enis[eni]; !ok {
		return ErrUnknownENI
	}
	if !slices.Contains(s.units(eni), unit) {
		return ErrUnknownIP
	}
	for _, x := range s.addrs {
		if x.eni == eni && x.unit == unit && !x.key.IsZero() && !force {
			return ErrIPInUse
		}
	}
	s.removeUnit(eni, unit)
	return nil
}

func (s *slow) remove(eni string, force bool) error {
	if _, ok := s.enis[eni]; !ok {
		return ErrUnknownENI
	}
	for _, x := range s.addrs {
		if x.eni == eni && !x.key.IsZero() && !force {
			return ErrENIInUse
		}
	}
	for _, u := range s.units(eni) {
		s.removeUnit(eni, u)
	}
	delete(s.enis, eni)
	return nil
}

// order is the ENIs in the order in which assignments look at them.
func (s *slow) order() []string {
	return slices.SortedFunc(maps.Keys(s.enis), func(a, b string) int {
		return compareENI(&eni{id: a, device: s.enis[a].device}, &eni{id: b, device: s.enis[b].device})
	})
}

func (s *slow) removeUnused(warm, minimum int) string {
	for _, id := range slices.Backward(s.order()) {
		e := s.enis[id]
		available, total, quiet := 0, 0, true
		for _, x := range s.addrs {
			if x.eni == id {
				quiet = quiet && s.idle(x)
				continue
			}
			total++
			if s.idle(x) {
				available++
			}
		}
		if !e.primary && !e.trunk && quiet && s.now.Sub(e.created) >= ENILifeMin && available >= warm && total >= minimum {
			_ = s.remove(id, false)
			return id
		}
	}
	return ""
}

// begun reports whether a pod has an address of a unit.
func (s *slow) begun(unit netip.Prefix) bool {
	return slices.ContainsFunc(s.addrs, func(x *slowAddr) bool { return x.unit == unit && !x.key.IsZero() })
}

func (s *slow) assign(k IPAMKey) (netip.Addr, int, error) {
	if !k.Valid() {
		return netip.Addr{}, -1, ErrInvalidKey
	}
	if x := s.holder(k); x != nil {
		return x.addr, s.enis[x.eni].device, nil
	}
	var best *slowAddr
	for _, begun := range [...]bool{true, false} {
		for _, id := range s.order() {
			for _, x := range s.addrs {
				fits := x.eni == id && s.idle(x) && s.begun(x.unit) == begun
				if fits && (best == nil || best.eni == id && s.begun(best.unit) == begun && x.addr.Less(best.addr)) {
					best = x
				}
			}
		}
	}
	if best == nil {
		return netip.Addr{}, -1, ErrNoAvailableIPs
	}
	if s.fail != nil {
		return netip.Addr{}, -1, s.fail
	}
	delete(s.orphans, k)
	best.key = k
	return best.addr, s.enis[best.eni].device, s.write()
}

func (s *slow) unassign(k IPAMKey) (netip.Addr, int, error) {
	x := s.holder(k)
	if x == nil {
		if a, ok := s.orphans[k]; ok {
			delete(s.orphans, k)
			s.gone[a] = s.now
			_ = s.write()
		}
		return netip.Addr{}, 0, ErrUnknownPod
	}
	if s.fail != nil {
		return netip.Addr{}, 0, s.fail
	}
	x.key, x.released = IPAMKey{}, s.now
	return x.addr, s.enis[x.eni].device, s.write()
}

// restart forgets all but the file and the ENIs.
func (s *slow) restart() {
	for _, x := range s.addrs {
		x.key = IPAMKey{}
	}
	s.orphans = make(map[IPAMKey]netip.Addr)
	for k, a := range s.file {
		if x := s.find(a); x != nil {
			x.key = k
		} else {
			s.orphans[k] = a
		}
	}
}

func (s *slow) stats() Stats {
	var out Stats
	units := make(map[netip.Prefix]bool)
	for _, x := range s.addrs {
		out.TotalIPs++
		switch {
		case !x.key.IsZero():
			out.AssignedIPs++
		case s.cools(x.released):
			out.CooldownIPs++
		}
		if x.unit.Bits() < 32 {
			whole, seen := units[x.unit]
			units[x.unit] = (whole || !seen) && s.idle(x)
		}
	}
	for _, whole := range units {
		out.TotalPrefixes++
		if whole {
			out.FreePrefixes++
		}
	}
	return out
}
