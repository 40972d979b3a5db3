package service

import (
	"maps"
	"net/netip"
	"reflect"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Table keeps the facts and what follows from them. It is not safe for concurrent use. The zero Table is not usable;
// see New.
type Table struct {
	place    Place
	services map[Name]*known
	slices   map[Name]*Slice
	// claims are the services that want an address and port, in the order of their names.
	claims map[key][]Name
	dirty  map[Name]bool
	// listed, slicesListed: all of each have been told once.
	listed, slicesListed bool
}

// key is what VPP finds a mapping by.
type key struct {
	addr  netip.Addr
	port  uint16
	proto vppwire.Proto
}

// known is one service.
type known struct {
	Service
	claims []key
	// exists: it has been told; else it is only known by its slices.
	exists bool
	slices map[Name]bool
}

// New returns a Table that knows of no service.
func New() *Table {
	return &Table{services: map[Name]*known{}, slices: map[Name]*Slice{}, claims: map[key][]Name{}, dirty: map[Name]bool{}}
}

// Settle says what the node's situation is; everything is decided again where it is another one.
func (t *Table) Settle(p Place) {
	if reflect.DeepEqual(t.place, p) {
		return
	}
	t.place = p
	for n := range t.services { // in any order: a set
		t.dirty[n] = true
	}
}

func (t *Table) service(n Name) *known {
	s := t.services[n]
	if s == nil {
		s = &known{slices: map[Name]bool{}}
		t.services[n] = s
	}
	return s
}

// Seen takes a service as it is now. The slices of the fact stay the caller's and are not changed.
func (t *Table) Seen(s Service) {
	k := t.service(s.Name)
	if k.exists && reflect.DeepEqual(k.Service, s) {
		return
	}
	k.Service, k.exists = s, true
	t.dirty[s.Name] = true
}

// Gone takes away a service; its slices are told of by themselves.
func (t *Table) Gone(n Name) {
	if s := t.services[n]; s != nil && s.exists {
		s.Service, s.exists = Service{}, false
		t.dirty[n] = true
	}
}

// SliceSeen takes a slice as it is now.
func (t *Table) SliceSeen(s Slice) {
	old := t.slices[s.Name]
	if old != nil {
		if reflect.DeepEqual(*old, s) {
			return
		}
		t.forget(old)
	}
	t.slices[s.Name] = &s
	of := Name{s.Name.Namespace, s.Service}
	t.service(of).slices[s.Name] = true
	t.dirty[of] = true
}

// SliceGone takes away a slice.
func (t *Table) SliceGone(n Name) {
	if old := t.slices[n]; old != nil {
		t.forget(old)
		delete(t.slices, n)
	}
}

// forget takes a slice off its service.
func (t *Table) forget(s *Slice) {
	of := Name{s.Name.Namespace, s.Service}
	delete(t.service(of).slices, s.Name)
	t.dirty[of] = true
}

// Listed says which services exist: any other is gone, also one that was told since the last list. A service that came
// and went in a gap of the news was told last by a watch, and not by any list.
func (t *Table) Listed(names []Name) {
	exist := set(names)
	for _, n := range slices.SortedFunc(maps.Keys(t.services), Name.Compare) {
		if !exist[n] {
			t.Gone(n)
		}
	}
	t.listed = true
}

// SlicesListed is Listed of slices.
func (t *Table) SlicesListed(names []Name) {
	exist := set(names)
	for _, n := range slices.SortedFunc(maps.Keys(t.slices), Name.Compare) {
		if !exist[n] {
			t.SliceGone(n)
		}
	}
	t.slicesListed = true
}

// Known reports whether both lists have been told.
func (t *Table) Known() bool { return t.listed && t.slicesListed }

func set(names []Name) map[Name]bool {
	s := make(map[Name]bool, len(names))
	for _, n := range names {
		s[n] = true
	}
	return s
}

// Change is what one service wants in VPP now; nothing where it is not served.
type Change struct {
	Name    Name
	Objects []vppwire.Object
}

// Changes returns the services that were decided again since the last call, in the order of their names.
func (t *Table) Changes() []Change {
	if len(t.dirty) == 0 || !t.place.Address.IsValid() {
		return nil
	}
	for _, n := range slices.SortedFunc(maps.Keys(t.dirty), Name.Compare) {
		t.claim(n) // which makes others dirty: a service that lets go of an address makes it the next one's turn
	}
	out := make([]Change, 0, len(t.dirty))
	for _, n := range slices.SortedFunc(maps.Keys(t.dirty), Name.Compare) {
		out = append(out, Change{n, t.objects(n)})
		if s := t.services[n]; !s.exists && len(s.slices) == 0 {
			delete(t.services, n)
		}
	}
	clear(t.dirty)
	return out
}

// claim says what addresses and ports a service wants, and makes those dirty that want one that it has taken or let go.
func (t *Table) claim(n Name) {
	s := t.services[n]
	var now []key
	for _, f := range t.place.fronts(&s.Service) {
		if !slices.Contains(now, f.key) {
			now = append(now, f.key)
		}
	}
	for _, k := range s.claims {
		if slices.Contains(now, k) {
			continue
		}
		t.claims[k] = slices.DeleteFunc(t.claims[k], func(m Name) bool { return m == n })
		if len(t.claims[k]) == 0 {
			delete(t.claims, k)
		}
		t.touch(k)
	}
	for _, k := range now {
		if slices.Contains(s.claims, k) {
			continue
		}
		t.claims[k] = append(t.claims[k], n)
		slices.SortFunc(t.claims[k], Name.Compare)
		if len(t.claims[k]) > 1 {
			t.touch(k)
		}
	}
	s.claims = now
}

// OuterAddresses are the external addresses of all services that are not the node's own, in order.
func (t *Table) OuterAddresses() []netip.Addr {
	var out []netip.Addr
	for _, s := range t.services { //vppdrill:unordered sorted below
		for _, a := range s.ExternalIPs {
			if a.Is4() && a != t.place.Address && !slices.Contains(t.place.Hosts, a) {
				out = append(out, a)
			}
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out)
}

func (t *Table) touch(k key) {
	for _, m := range t.claims[k] {
		t.dirty[m] = true
	}
}

// objects are the mappings of a service, in the order of its addresses and ports.
func (t *Table) objects(n Name) []vppwire.Object {
	s := t.services[n]
	var out []vppwire.Object
	seen := map[key]bool{}
	for _, f := range t.place.fronts(&s.Service) {
		if seen[f.key] || t.claims[f.key][0] != n {
			continue
		}
		seen[f.key] = true
		var list []vppwire.Endpoint
		if f.health {
			list = t.place.answering(f.key.port)
		} else if list = t.place.choose(t.endpoints(s, f.port), f.local); len(list) == 0 {
			continue
		}
		if slices.ContainsFunc(list, func(e vppwire.Endpoint) bool { return slices.Contains(t.place.Hosts, e.Addr.Addr()) }) {
			// This host may be client and endpoint under two addresses, and would answer itself; clients outside, by its own way
			// to them.
			f.twice = vppwire.TwiceAlways
		}
		affinity := s.Affinity
		if f.health {
			affinity = 0
		}
		out = append(out, vppwire.Service{Addr: f.key.addr, Port: f.key.port, Proto: f.key.proto, Twice: f.twice, Affinity: affinity,
			Tag: tag(n), Endpoints: vppwire.FormatEndpoints(list)})
	}
	return out
}

// tag is the service's name as VPP takes it.
func tag(n Name) string {
	text := n.String()
	return text[:min(len(text), vppwire.ServiceTagMax)]
}

// candidate is an endpoint with the port that it answers on.
type candidate struct {
	Endpoint
	port uint16
}

// endpoints are those of one port of a service, without repeats.
func (t *Table) endpoints(s *known, p *Port) []candidate {
	var out []candidate
	seen := map[netip.AddrPort]bool{}
	for _, n := range slices.SortedFunc(maps.Keys(s.slices), Name.Compare) {
		slice := t.slices[n]
		for _, sp := range slice.Ports {
			if sp.Name != p.Name || sp.Proto != p.Proto || sp.Port == 0 {
				continue
			}
			for _, e := range slice.Endpoints {
				at := netip.AddrPortFrom(e.Addr, sp.Port)
				if e.Addr.Is4() && !seen[at] {
					seen[at] = true
					out = append(out, candidate{e, sp.Port})
				}
			}
		}
	}
	return out
}
