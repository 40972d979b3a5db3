package probe

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Wanted is a VPP as its agent wants it: what a view shows, with the agent's objects in the place of everything that clients of VPP
// decide, and without what only others have made. Names, MACs of NICs, leased addresses and NAT stay the view's. False for a view
// that is no dump of this package.
func Wanted(view fact.VPP, objects []vppwire.Object) (fact.VPP, bool) {
	have, ok := view.(*tables)
	if !ok {
		return nil, false
	}
	w := &wanted{tables: &tables{ifaces: map[uint32]*fact.Interface{}, fibs: map[uint32][]entry{}, guards: map[guard]uint32{},
		classifiers: map[uint32]*classifier{}, acls: acls{rules: map[uint32][]fact.ACLRule{}}, nat: have.nat, ids: slices.Clone(have.ids)},
		have: have, byName: map[string]*fact.Interface{}}
	for _, o := range objects {
		w.interfaces(o)
	}
	w.machine(objects)
	for _, o := range objects {
		w.apply(o)
		w.steals(o)
	}
	w.routes(objects)
	w.sources(objects)
	w.filters(objects)
	w.finish()
	return w.tables, true
}

// wanted is tables that are being made of objects.
type wanted struct {
	*tables
	have   *tables
	byName map[string]*fact.Interface
}

// interfaces makes those that objects want, under the numbers of the dump where it has them.
func (w *wanted) interfaces(o vppwire.Object) {
	switch o := o.(type) {
	case vppwire.Loopback:
		w.add(vppwire.LoopbackName(o.Instance), fact.Interface{Type: fact.TypeLoopback, MAC: o.MAC})
	case vppwire.Tap:
		w.add(vppwire.TapName(o.ID), fact.Interface{Type: fact.TypeTap, MAC: o.MAC, Host: o.Host, HostNetns: o.Netns})
	case vppwire.AFPacket:
		w.add(vppwire.AFPacketName(o.Device), fact.Interface{Type: fact.TypeAFPacket, MAC: o.MAC, Host: o.Device})
	case vppwire.VXLAN:
		w.add(vppwire.VXLANName(o.Instance), fact.Interface{Type: fact.TypeVXLAN, Src: o.Src, Dst: o.Dst, VNI: o.VNI, EncapTable: o.Table})
	}
}

func (w *wanted) add(name string, i fact.Interface) {
	i.Name, i.Index = name, ^uint32(0)
	for _, index := range w.have.order {
		if h := w.have.ifaces[index]; h.Name == name {
			i.Index, i.MTU, i.MTU4, i.MTU6, i.LinkMTU = index, h.MTU, h.MTU4, h.MTU6, h.LinkMTU
			if i.MAC == (vppwire.MAC{}) {
				i.MAC = h.MAC
			}
			i.NAT = h.NAT
		}
	}
	if i.Index == ^uint32(0) { // one that is missing
		i.Index = 1 << 20
		for w.ifaces[i.Index] != nil {
			i.Index++
		}
	}
	w.ifaces[i.Index], w.byName[name] = &i, &i
	w.order = append(w.order, i.Index)
}

// machine takes over what VPP has without an agent: its NICs, and the routes of the addresses that nobody wants but the machine.
func (w *wanted) machine(objects []vppwire.Object) {
	addressed := map[string]bool{}
	for _, o := range objects {
		if a, ok := o.(vppwire.Address); ok {
			addressed[a.If] = true
		}
	}
	for _, index := range w.have.order {
		h := *w.have.ifaces[index]
		if w.ifaces[index] != nil || h.Type != fact.TypeNIC && h.Type != fact.TypeLocal {
			continue
		}
		if addressed[h.Name] {
			h.Addrs = nil
		}
		w.ifaces[index], w.byName[h.Name] = &h, &h
		w.order = append(w.order, index)
	}
}

func (w *wanted) on(name string, set func(i *fact.Interface)) {
	if i := w.byName[name]; i != nil {
		set(i)
	}
}

// apply is what an object wants of an interface or a bridge domain.
func (w *wanted) apply(o vppwire.Object) {
	switch o := o.(type) {
	case vppwire.Up:
		w.on(o.If, func(i *fact.Interface) { i.Up = true })
	case vppwire.MTU:
		w.on(o.If, func(i *fact.Interface) { i.MTU = o.Bytes })
	case vppwire.Table:
		if id := o.Key().Num; !slices.Contains(w.ids, id) {
			w.ids = append(w.ids, id)
		}
	case vppwire.InTable:
		w.on(o.If, func(i *fact.Interface) {
			if o.IP6 {
				i.Table6 = o.Table
			} else {
				i.Table4 = o.Table
			}
		})
	case vppwire.Address:
		w.on(o.If, func(i *fact.Interface) { i.Addrs = append(i.Addrs, o.Addr) })
	case vppwire.Unnumbered:
		if donor := w.byName[o.Donor]; donor != nil {
			w.on(o.If, func(i *fact.Interface) { i.Unnumbered, i.HasUnnumbered = donor.Index, true })
		}
	case vppwire.Bridge:
		w.bridges = append(w.bridges, fact.Bridge{ID: o.ID, Forward: true})
	case vppwire.Member:
		w.on(o.If, func(i *fact.Interface) { i.Bridge, i.BVI, i.SHG = o.Bridge, o.BVI, o.SHG })
	case vppwire.FIB:
		w.on(o.If, func(i *fact.Interface) {
			w.l2 = append(w.l2, fact.FIBEntry{Bridge: o.Bridge, MAC: o.MAC, Index: i.Index, Static: true})
		})
	case vppwire.Neighbor:
		w.on(o.If, func(i *fact.Interface) {
			w.statics = append(w.statics, fact.Neighbor{Index: i.Index, Addr: o.Addr, MAC: o.MAC})
		})
	}
}

// finish fills bridge domains with their members and sorts everything.
func (w *wanted) finish() {
	for i := range w.bridges {
		b := &w.bridges[i]
		for _, ifc := range w.ifaces { //vppdrill:unordered sorted below
			if ifc.Bridge != b.ID {
				continue
			}
			b.Members = append(b.Members, fact.BridgeMember{Index: ifc.Index, BVI: ifc.BVI, SHG: ifc.SHG})
			if ifc.BVI {
				w.l2 = append(w.l2, fact.FIBEntry{Bridge: b.ID, MAC: ifc.MAC, Index: ifc.Index, BVI: true, Static: true})
			}
		}
		slices.SortFunc(b.Members, func(x, y fact.BridgeMember) int { return int(x.Index) - int(y.Index) })
	}
	w.tables.finish()
}

// routes are the wanted ones, and what VPP derives from addresses and neighbors. The dump's own derived routes serve where they
// lead out of an interface that is wanted too; those of the API and of VPP's command line do not.
func (w *wanted) routes(objects []vppwire.Object) {
	seen := map[fact.Route]bool{}
	put := func(table uint32, r fact.Route) {
		key := fact.Route{Table: table, Prefix: r.Prefix}
		if !seen[key] {
			seen[key] = true
			r.Table = table
			w.fibs[table] = append(w.fibs[table], entry{Route: r})
		}
	}
	for _, o := range objects {
		r, ok := o.(vppwire.Route)
		if !ok {
			continue
		}
		out := fact.Route{Prefix: r.Prefix, API: true, Index: ^uint32(0)}
		switch {
		case r.Drop:
			out.Action = fact.ActionDrop
		case r.ToTable:
			out.Action, out.Lookup = fact.ActionLookup, r.Lookup
		default:
			out.Action, out.Via, out.Lookup = fact.ActionForward, r.Via, r.Table
			w.on(r.If, func(i *fact.Interface) { out.Index = i.Index })
		}
		put(r.Table, out)
	}
	for _, index := range w.order {
		i := w.ifaces[index]
		for _, a := range i.Addrs {
			table := i.Table4
			if a.Addr().Is6() {
				table = i.Table6
			}
			put(table, fact.Route{Prefix: netip.PrefixFrom(a.Addr(), a.Addr().BitLen()), Action: fact.ActionLocal, Index: index})
			if !a.IsSingleIP() {
				put(table, fact.Route{Prefix: a.Masked(), Action: fact.ActionForward, Index: index})
			}
		}
	}
	for _, n := range w.statics {
		i := w.ifaces[n.Index]
		table := i.Table4
		if n.Addr.Is6() {
			table = i.Table6
		}
		put(table, fact.Route{Prefix: netip.PrefixFrom(n.Addr, n.Addr.BitLen()), Action: fact.ActionForward, Via: n.Addr, Index: n.Index})
	}
	for _, table := range slices.Sorted(maps.Keys(w.have.fibs)) {
		for _, e := range w.have.fibs[table] {
			if gone := e.Index != ^uint32(0) && w.ifaces[e.Index] == nil; !e.API && !e.configured && !gone {
				put(table, e.Route)
			}
		}
	}
}

// sources are who may send through guarded interfaces as whom.
func (w *wanted) sources(objects []vppwire.Object) {
	four, six := &classifier{understood: true}, &classifier{understood: true, ip6: true}
	const id4, id6 = 0, 1
	w.classifiers[id4], w.classifiers[id6] = four, six
	for _, o := range objects {
		switch o := o.(type) {
		case vppwire.Source:
			c := four
			if o.Addr.Is6() {
				c = six
			}
			c.sources = append(c.sources, fact.Source{Addr: o.Addr, MAC: o.MAC})
		case vppwire.Guard:
			w.on(o.If, func(i *fact.Interface) {
				if o.IP6 {
					i.Guarded6, w.guards[guard{i.Index, true}] = true, id6
				} else {
					i.Guarded, w.guards[guard{i.Index, false}] = true, id4
				}
			})
		}
	}
}

// filters are the wanted ACLs. Rules that are held are the dump's, as nobody has told the agent better ones.
func (w *wanted) filters(objects []vppwire.Object) {
	numbers, held := map[string]uint32{}, map[string]bool{}
	for _, o := range objects {
		a, ok := o.(vppwire.ACL)
		if !ok {
			continue
		}
		n := uint32(len(numbers))
		numbers[a.Name], held[a.Name] = n, a.Held
		rules, _ := vppwire.ParseACLRules(a.Rules)
		w.acls.rules[n] = nil
		for _, r := range rules {
			w.acls.rules[n] = append(w.acls.rules[n], fact.ACLRule{Permit: r.Action != vppwire.ACLDeny, Reflect: r.Action == vppwire.ACLReflect,
				Src: r.Src, Dst: r.Dst, Proto: uint8(r.Proto), SrcPorts: [2]uint16{0, ^uint16(0)}, DstPorts: [2]uint16{r.First, r.Last}})
		}
	}
	for _, o := range objects {
		l, ok := o.(vppwire.ACLList)
		i := w.byName[l.If]
		if !ok || i == nil {
			continue
		}
		for _, side := range [...]struct {
			names   string
			leaving bool
		}{{l.In, false}, {l.Out, true}} {
			on := filter{index: i.Index, leaving: side.leaving}
			for name := range strings.SplitSeq(side.names, ",") {
				if name == "" {
					continue
				}
				if held[name] {
					w.acls.rules[numbers[name]], _ = w.have.ACLs(i.Index, side.leaving)
				}
				on.acls = append(on.acls, numbers[name])
			}
			w.acls.on = append(w.acls.on, on)
		}
	}
}
