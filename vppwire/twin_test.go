package vppwire

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/fib"
	"go.fd.io/govpp/binapi/fib_types"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"
	"pgregory.net/rapid"
)

const twinNIC = "GigabitEthernet0/8/0"

// bare is a dataplane made from dumps: a map of objects that believes each call and shows itself in dumps. It refuses
// what no dataplane could do: an object without what it needs, a deletion of what others stand on.
type bare struct {
	down  map[Key]Object // links that went down with what is above them, as they were
	have  map[Key]Object
	index map[string]uint32
	next  uint32
}

// errNotThere is what a deletion in vain is refused with.
var errNotThere = errors.New("it is not there")

func newBare() *bare {
	return &bare{down: map[Key]Object{}, have: map[Key]Object{}, index: map[string]uint32{twinNIC: 1}, next: 1}
}

func (b *bare) sorted() []Object {
	return slices.SortedFunc(maps.Values(b.have), func(x, y Object) int { return strings.Compare(x.Key().String(), y.Key().String()) })
}

// add is a call that writes.
func (b *bare) add(o Object) error {
	for _, k := range o.AppendNeeds(nil) {
		if b.have[k] == nil {
			return fmt.Errorf("%s needs %s", o.Key(), k)
		}
	}
	k := o.Key()
	if x, ok := o.(taking); ok {
		for _, y := range b.sorted() {
			if y, ok := y.(taking); ok && y != x && overlap(x.takes(), y.takes()) {
				return ErrLinuxExists
			}
		}
	}
	if old := b.have[k]; old != nil && !o.replaces(old) {
		return fmt.Errorf("%s stands already", k)
	}
	b.have[k] = o
	if kinds[k.Kind].creates.prefix != "" {
		b.next++
		b.index[k.Name] = b.next
	}
	if x, ok := o.(bringing); ok {
		b.have[x.brings().Key()] = x.brings()
	}
	if link, ok := lowered(o); ok && b.down[link] != nil {
		b.have[link] = b.down[link]
	}
	delete(b.down, k)
	if v, ok := o.(Veth); ok { // a new pair is down until somebody sets it up, or VPP opens an AF_PACKET on it
		b.down[linkKey("", v.Device)] = LinkState{Name: v.Device, MTU: 1500}
	}
	return nil
}

func overlap(x, y [2]Key) bool {
	return slices.ContainsFunc(x[:], func(k Key) bool { return k != Key{} && slices.Contains(y[:], k) })
}

func (b *bare) del(k Key) error {
	for _, o := range b.sorted() {
		owner, owned := o.owner()
		if slices.Contains(o.AppendNeeds(nil), k) && (!owned || owner != k) {
			return fmt.Errorf("%s is needed by %s", k, o.Key())
		}
	}
	if b.have[k] == nil {
		return errNotThere
	}
	if link, ok := lowered(b.have[k]); ok && b.have[link] != nil {
		b.down[link] = b.have[link]
		delete(b.have, link)
	}
	b.drop(k)
	return nil
}

// drop takes k away and all that goes with it.
func (b *bare) drop(k Key) {
	o := b.have[k]
	delete(b.have, k)
	if kinds[k.Kind].creates.prefix != "" {
		delete(b.index, k.Name)
	}
	for _, x := range b.sorted() {
		if owner, owned := x.owner(); owned && owner == k {
			b.drop(x.Key())
		}
	}
	if x, ok := o.(taking); ok {
		for _, l := range x.takes() {
			b.drop(l)
			delete(b.down, l)
		}
	}
}

// lowered is the link that goes up and down with o.
func lowered(o Object) (Key, bool) {
	if x, ok := o.(lowering); ok {
		return x.lowers()
	}
	return Key{}, false
}

// die is VPP's end: Linux stays, without taps' devices.
func (b *bare) die() {
	for _, o := range b.sorted() {
		if kinds[o.Key().Kind].dumps[0] != linuxDump {
			b.drop(o.Key())
		}
	}
	b.index = map[string]uint32{twinNIC: 1}
}

func (b *bare) find(name string, kind Kind) Object { return b.have[Key{Kind: kind, Name: name}] }

// call performs c.
func (b *bare) call(c Call) Result {
	p := c.p
	r := Result{seq: p.seq}
	switch p.verb {
	case VerbDump:
		r.shown = &shown{}
		b.show(p, &r)
	case VerbDelete:
		r.Err = b.del(p.obj.Key())
	default:
		r.Err = b.add(p.obj)
		if p.number != nil {
			r.number = b.index[p.obj.Key().Name]
		}
	}
	return r
}

// show answers a dump.
func (b *bare) show(p *request, r *Result) {
	st := p.step
	say := func(m api.Message) { r.shown.details = append(r.shown.details, m) }
	at := func(name string) interface_types.InterfaceIndex { return interface_types.InterfaceIndex(b.index[name]) }
	switch st.dump {
	case sourceDump:
		say(&fib.FibSourceDetails{Src: fib.FibSource{ID: 9, Name: "API"}})
	case interfaceDump:
		for _, name := range slices.SortedFunc(maps.Keys(b.index), func(x, y string) int { return int(b.index[x]) - int(b.index[y]) }) {
			say(b.details(name))
		}
	case inTableDump:
		if o, ok := b.have[inTableKey(st.name, st.ip6)].(InTable); ok {
			r.number = o.Table
		}
	case neighborConfigDump:
		reply := p.reply.(*ip_neighbor.IPNeighborConfigGetReply)
		*reply = ip_neighbor.IPNeighborConfigGetReply{MaxNumber: 50000}
		if o, ok := b.have[NeighborConfig{IP6: st.ip6}.Key()].(NeighborConfig); ok {
			reply.MaxNumber, reply.MaxAge = o.MaxNumber, o.MaxAge
		}
	case linuxDump:
		r.shown.linux = b.linux(st.name)
	case tableDump:
		say(&ip.IPTableDetails{})
	}
	for _, o := range b.sorted() {
		if o.shown() != st {
			continue
		}
		switch o := o.(type) {
		case Tap:
			say(&tapv2.SwInterfaceTapV2Details{SwIfIndex: uint32(at(TapName(o.ID))), ID: o.ID, HostIfName: o.Host, HostNamespace: o.Netns,
				HostMacAddr: toMAC(o.HostMAC), HostMtuSize: o.HostMTU, RxRingSz: o.RxRing, TxRingSz: o.TxRing})
		case AFPacket:
			say(&af_packet.AfPacketDetails{HostIfName: o.Device})
		case VXLAN:
			say(&vxlan.VxlanTunnelV2Details{Instance: o.Instance, SrcAddress: toAddress(o.Src), DstAddress: toAddress(o.Dst), Vni: o.VNI, EncapVrfID: o.Table})
		case Table:
			say(&ip.IPTableDetails{Table: ip.IPTable{TableID: o.ID}})
		case Address:
			say(&ip.IPAddressDetails{SwIfIndex: at(o.If), Prefix: ip_types.AddressWithPrefix(toPrefix(o.Addr))})
		case Unnumbered:
			say(&ip.IPUnnumberedDetails{SwIfIndex: at(o.If), IPSwIfIndex: at(o.Donor)})
		case Bridge:
			d := &l2.BridgeDomainDetails{BdID: o.ID, Forward: true, BviSwIfIndex: allInterfacesIndex}
			for _, x := range b.sorted() {
				if m, ok := x.(Member); ok && m.Bridge == o.ID {
					d.SwIfDetails = append(d.SwIfDetails, l2.BridgeDomainSwIf{SwIfIndex: at(m.If), Shg: m.SHG})
					if m.BVI {
						d.BviSwIfIndex = at(m.If)
					}
				}
			}
			say(d)
		case FIB:
			say(&l2.L2FibTableDetails{BdID: o.Bridge, Mac: toMAC(o.MAC), SwIfIndex: at(o.If), StaticMac: true})
		case Neighbor:
			say(&ip_neighbor.IPNeighborDetails{Neighbor: ip_neighbor.IPNeighbor{SwIfIndex: at(o.If), Flags: ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC,
				MacAddress: toMAC(o.MAC), IPAddress: toAddress(o.Addr)}})
		case Route:
			path := fib_types.FibPath{SwIfIndex: allInterfaces, TableID: o.Table}
			switch {
			case o.Drop:
				path.Type = fib_types.FIB_API_PATH_TYPE_DROP
			case o.ToTable:
				path.TableID = o.Lookup
			default:
				path.Nh.Address = toAddress(o.Via).Un
				if o.If != "" {
					path.SwIfIndex = uint32(at(o.If))
				}
			}
			say(&ip.IPRouteV2Details{Route: ip.IPRouteV2{TableID: o.Table, Prefix: toPrefix(o.Prefix), Src: 9, NPaths: 1, Paths: []fib_types.FibPath{path}}})
		}
	}
}

func (b *bare) details(name string) *interfaceDetails {
	d := &interfaceDetails{SwIfIndex: interface_types.InterfaceIndex(b.index[name]), InterfaceName: name, Mtu: make([]uint32, 4)}
	if k, ok := interfaceKey(name); ok {
		switch o := b.have[k].(type) {
		case Loopback:
			d.L2Address = toMAC(o.MAC)
		case Tap:
			d.L2Address, d.Tag = toMAC(o.MAC), o.Tag
		case AFPacket:
			d.L2Address = toMAC(o.MAC)
		}
	}
	if b.find(name, KindUp) != nil {
		d.Flags = interface_types.IF_STATUS_API_FLAG_ADMIN_UP
	}
	if o, ok := b.find(name, KindTag).(Tag); ok {
		d.Tag = o.Text
	}
	if o, ok := b.find(name, KindMTU).(MTU); ok {
		d.Mtu[0] = o.Bytes
	}
	return d
}

func (b *bare) linux(netns string) (s LinuxState) {
	link := func(kind, name, peer, peerNetns string) {
		l := LinuxLink{Name: name, Type: kind, Peer: peer, PeerNetns: peerNetns, OffloadOff: b.have[Offload{netns, name}.Key()] != nil}
		if o, ok := b.have[linkKey(netns, name)].(LinkState); ok {
			l.Up, l.MTU, l.MAC = true, o.MTU, o.MAC
		} else if o, ok := b.down[linkKey(netns, name)].(LinkState); ok {
			l.MTU, l.MAC = o.MTU, o.MAC
		}
		for _, o := range b.sorted() {
			if a, ok := o.(LinuxAddress); ok && a.Netns == netns && a.Link == name {
				l.Addrs = append(l.Addrs, a.Addr)
			}
		}
		s.Links = append(s.Links, l)
	}
	for _, o := range b.sorted() {
		switch o := o.(type) {
		case Veth:
			if netns == "" {
				link("veth", o.Device, o.Peer, o.PeerNetns)
			}
			if netns == o.PeerNetns {
				link("veth", o.Peer, o.Device, "")
			}
		case Tap:
			if netns == o.Netns {
				link("tun", o.Host, "", "")
			}
		case LinuxRoute:
			if netns == o.Netns {
				s.Routes = append(s.Routes, HostRoute{Netns: netns, Dst: o.Dst, Via: o.Via, Link: o.Link})
			}
		case LinuxNeighborEntry:
			if netns == o.Netns {
				s.Neighbors = append(s.Neighbors, LinuxNeighbor{Link: o.Link, Addr: o.Addr, MAC: o.MAC})
			}
		}
	}
	return s
}

// universe is what random states are made of: versions of the same object stand in one row.
var universe = func() (rows [][]Object) {
	for row := range strings.SplitSeq(strings.TrimSpace(`
table 1
table 2
loopback loop0 mac 12:2b:00:00:00:01 | loopback loop0 mac 12:2b:00:00:00:02
loopback loop1 mac 12:2b:00:00:00:03
loopback loop2 mac 12:2b:00:00:00:04
veth vd1 peer eth0 netns /a | veth vd1 peer eth1 netns /a | veth vd1 peer eth0 netns /b
veth vd2 peer eth0 netns /a
af-packet host-vd1 mac 02:fe:00:00:00:01 | af-packet host-vd1 mac 02:fe:00:00:00:02
tap tap1 mac 02:fe:00:00:00:03 host eth5 netns /a hostmac 02:fe:00:00:00:04 hostmtu 1450 rx 256 tx 256 tag t | tap tap1 mac 02:fe:00:00:00:03 host eth5 netns /b hostmac 02:fe:00:00:00:04 hostmtu 1450 rx 256 tx 256 tag u
vxlan vxlan_tunnel2 src 192.168.16.1 dst 192.168.16.2 vni 10 table 0 | vxlan vxlan_tunnel2 src 192.168.16.1 dst 192.168.16.2 vni 10 table 2
up loop0
up loop1
up host-vd1
up vxlan_tunnel2
up GigabitEthernet0/8/0
tag loop0 a | tag loop0 b
tag host-vd1 pod
mtu tap1 1450 | mtu tap1 9000
in-table loop0 1 | in-table loop0 2
in-table loop1 1
in-table tap1 1 | in-table tap1 2
address loop0 10.9.0.1/24 table 1 | address loop0 10.9.0.1/24 table 2
address loop1 10.9.1.1/24 table 1
address GigabitEthernet0/8/0 192.168.16.1/24 table 0
unnumbered tap1 loop1 table 1 | unnumbered tap1 loop2 table 0
bridge 1
member loop2 bd 1 bvi shg 1
member vxlan_tunnel2 bd 1 shg 1 | member vxlan_tunnel2 bd 1 shg 2
fib bd 1 12:2b:00:00:00:09 vxlan_tunnel2 | fib bd 1 12:2b:00:00:00:09 loop2
neighbor loop0 10.9.0.2 12:2b:00:00:00:05 | neighbor loop0 10.9.0.2 12:2b:00:00:00:06
neighbor tap1 10.9.0.3 12:2b:00:00:00:05
neighbor-config ip4 max 50000 age 240 | neighbor-config ip4 max 10 age 0
route table 1 10.8.0.0/16 via 10.9.0.2 loop0 | route table 1 10.8.0.0/16 drop | route table 1 10.8.0.0/16 lookup 0 | route table 1 10.8.0.0/16 lookup 2
route table 0 10.7.0.0/16 via 192.168.16.2 | route table 0 10.7.0.0/16 lookup 2
route table 2 10.6.0.0/16 via 10.9.0.2 tap1
link vd1 mtu 1450 mac 00:00:00:00:00:00 of vd1
link netns /a eth0 mtu 1450 mac 02:fe:00:00:00:07 of vd1 | link netns /a eth0 mtu 1400 mac 02:fe:00:00:00:07 of vd1 | link netns /a eth0 mtu 1450 mac 02:fe:00:00:00:07 of vd2
link netns /b eth5 mtu 1450 mac 02:fe:00:00:00:04 of tap1
offload netns /a eth0
offload vd1
linux-address netns /a eth0 10.1.1.2/32
linux-address netns /b eth5 10.1.1.3/32
linux-route netns /a eth0 10.1.1.1/32
linux-route netns /a eth0 0.0.0.0/0 via 10.1.1.1 | linux-route netns /a eth0 0.0.0.0/0
linux-neighbor netns /a eth0 10.1.1.1 02:fe:00:00:00:01 | linux-neighbor netns /a eth0 10.1.1.1 02:fe:00:00:00:09`), "\n") {
		var versions []Object
		for line := range strings.SplitSeq(row, " | ") {
			o, err := ParseObject(line)
			if err != nil {
				panic(err)
			}
			versions = append(versions, o)
		}
		rows = append(rows, versions)
	}
	return rows
}()

// draw is a random state in which everything has what it needs.
func draw(t *rapid.T, label string) []Object {
	var drawn []Object
	percent := rapid.SampledFrom([]int{20, 60, 90}).Draw(t, label)
	for i, versions := range universe {
		if rapid.IntRange(0, 99).Draw(t, label) < percent {
			drawn = append(drawn, versions[rapid.IntRange(0, len(versions)-1).Draw(t, fmt.Sprint(label, i))])
		}
	}
	b := newBare()
	var list []Object
	for again := true; again; {
		again = false
		drawn = slices.DeleteFunc(drawn, func(o Object) bool {
			// The link must be the one that the pair or tap makes.
			if l, ok := o.(LinkState); ok && !makes(b, l) || b.add(o) != nil {
				return false
			}
			list, again = append(list, o), true
			clear(b.down) // a link that comes up by itself is nobody's wish
			return true
		})
	}
	return list
}

// makes reports whether what is said to make a link does.
func makes(b *bare, l LinkState) bool {
	owner, _ := l.owner()
	x, ok := b.have[owner].(taking)
	if !ok {
		return false
	}
	links := x.takes()
	return slices.Contains(links[:], l.Key())
}

// same reports whether what is there, as far as a dump tells, is what is wanted.
func same(want, have Object) bool {
	x, ok := want.(incomplete)
	return want == have || ok && x.like(have)
}

// wrong says what a naive differ would have to do about each key: all objects are compared with all, over and over,
// until nothing changes any more. A key that is not in it must not be touched.
func wrong(have map[Key]Object, want []Object) map[Key]bool {
	touch, gone := map[Key]bool{}, map[Key]bool{}
	wanted := map[Key]Object{}
	for _, o := range want {
		wanted[o.Key()] = o
	}
	for _, o := range want {
		k := o.Key()
		if h := have[k]; h == nil || !same(o, h) {
			touch[k] = true
			gone[k] = gone[k] || h != nil && !o.replaces(h)
		}
	}
	for k, o := range have {
		if wanted[k] == nil && o.ours() && !kinds[k.Kind].noDelete {
			touch[k], gone[k] = true, true
		}
	}
	for changed := true; changed; {
		changed = false
		for k, o := range have {
			if x, ok := o.(taking); ok && gone[k] { // links go with what makes them, those that are down too
				for _, l := range x.takes() {
					changed = changed || !gone[l]
					touch[l], gone[l] = true, true
				}
			}
			owner, owned := o.owner()
			stands := o.AppendNeeds(nil)
			if owned {
				stands = append(stands, owner)
			}
			for _, n := range stands {
				if gone[n] && !gone[k] {
					touch[k], gone[k], changed = true, true, true
				}
			}
		}
	}
	for k := range gone { // and a link goes down with what is above it
		if link, ok := lowered(have[k]); ok && gone[k] {
			touch[link] = true
			for m, x := range have { // and what was set on it is not believed any longer
				if owner, owned := x.owner(); owned && owner == link {
					touch[m] = true
				}
			}
		}
	}
	for _, o := range want { // what comes with an object that is made again is right, or goes again
		if x, ok := o.(bringing); ok && touch[o.Key()] {
			touch[x.brings().Key()] = true
		}
	}
	return touch
}

// unfinished says for what a group that wants objects, and wanted former ones, is not done. What lies in another
// namespace than the host's goes with the namespace's link, which another pair than the group's may have made: no dump
// tells whose it is. What is not ours, as that a NIC is up, no dump notes while nobody wants it: it is left as it was
// by a group that comes to want it and goes before a call was made for it, unless the Session has known it.
func unfinished(b *bare, groups map[string][]Object, name string, former []Object, known map[Key]bool) (why []string) {
	wanted := map[Key]bool{}
	for _, objects := range groups {
		for _, o := range objects {
			wanted[o.Key()] = true
		}
	}
	for _, o := range groups[name] {
		if h := b.have[o.Key()]; h == nil || !same(o, h) {
			why = append(why, o.Key().String()+" is missing")
		}
	}
	for _, o := range former {
		if k := o.Key(); b.have[k] != nil && !wanted[k] && k.Netns == "" && !kinds[k.Kind].noDelete && (o.ours() || known[k]) {
			why = append(why, k.String()+" is left")
		}
	}
	return why
}

// Goal: a Session does what a naive differ would, and nothing else. Method: a random state is there, another is wanted,
// in some groups; the Session runs on a dataplane that is a map and shows itself by dumps. Without faults each call
// must be about a key that the differ calls wrong, and each such key is written at most twice; with faults (requests
// and answers lost, refusals, VPP's death, a new Session, groups that go and others that come for what they wanted) the
// end must be the same: what is wanted is there, and of the rest only what is not ours or has no deletion. A group that
// is told to be done is done: all that it wants is there, and of what it wanted only what another group wants, what has
// no deletion, or what is not ours and the Session has never seen or made.
func TestTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBare()
		for _, o := range draw(t, "have") {
			if err := b.add(o); err != nil {
				t.Fatal(err)
			}
		}
		want := draw(t, "want")
		faults := rapid.Bool().Draw(t, "faults")
		mayTouch := wrong(b.have, want)
		// parked is what groups that went wanted until another wants it, former the same until the group is told to be done.
		groups, parked, former := map[string][]Object{}, map[string][]Object{}, map[string][]Object{}
		for _, o := range want {
			name := fmt.Sprint("g", rapid.IntRange(0, 2).Draw(t, "group"))
			groups[name] = append(groups[name], o)
		}
		pid := uint32(1)
		known := map[Key]bool{}                                       // what the Session has wanted when it looked, or has written
		set, shares := NewObjectSet(), rapid.Bool().Draw(t, "shares") // what is shared outlives the Session
		start := func() *Session {
			s := NewSession()
			if shares {
				s.Share(set)
			}
			clear(known)
			for _, name := range slices.Sorted(maps.Keys(groups)) {
				s.SetAlike(name, groups[name])
				for _, o := range groups[name] {
					known[o.Key()] = true
				}
			}
			s.AllowDelete()
			s.Connect(pid)
			return s
		}
		s := start()
		s.DoubtNetns("/a") // namespaces of pods that nobody wants are looked at when whoever knows them says so
		s.DoubtNetns("/b")
		now, writes, log := time.Unix(0, 0), map[Key]int{}, []string{}
		looked := false // at the present VPP, without which nothing is known
		told := func() {
			looked = looked || s.Looked()
			for _, name := range s.Changed() {
				if done, _ := s.Done(name); !done || !looked {
					continue // it was, for a moment, or as far as a journal tells
				}
				for _, why := range unfinished(b, groups, name, former[name], known) {
					t.Fatalf("%s is told to be done, but %s\n%s", name, why, strings.Join(log, "\n"))
				}
				delete(former, name)
			}
		}
		comeBack := func(calls int) {
			gone := slices.Sorted(maps.Keys(parked))[0]
			name := fmt.Sprint("g", calls+3)
			groups[name] = parked[gone]
			delete(parked, gone)
			s.SetAlike(name, groups[name])
		}
	calls:
		for calls := 0; ; calls++ {
			c, ok := s.Next(now)
			if !ok {
				at, waiting := s.WakeAt()
				switch {
				case waiting:
					now = at
				case len(parked) > 0:
					comeBack(calls)
				default:
					break calls
				}
				continue
			}
			if calls > 2000 {
				t.Fatalf("no end:\n%s\n%s", strings.Join(log[len(log)-40:], "\n"), s.AppendPlan(nil))
			}
			fate := 0
			if faults && calls < 300 {
				fate = rapid.IntRange(0, 31).Draw(t, "fate")
			}
			log = append(log, c.String()+[...]string{"", " (lost)", " (answer lost)", " (refused)", " (VPP dies)", " (agent dies)", " (a group goes)"}[max(0, fate-25)])
			if c.Writes() && fate-25 != 3 {
				known[c.Key()] = true
			}
			// what comes with another group's object is not the former one's
			if x, ok := c.p.obj.(bringing); ok && c.Verb() == VerbCreate {
				k := x.brings().Key()
				for _, name := range slices.Sorted(maps.Keys(former)) {
					former[name] = slices.DeleteFunc(slices.Clone(former[name]), func(o Object) bool { return o.Key() == k })
				}
			}
			switch fate - 25 {
			case 1:
				s.Feed(now, c.Unanswered())
			case 2:
				lost := c.Unanswered()
				b.call(c)
				s.Feed(now, lost)
			case 3:
				s.Feed(now, c.Refused(errors.New("refused")))
			case 4:
				if rapid.Bool().Draw(t, "performed") {
					b.call(c)
				}
				b.die()
				looked = false
				pid++
				s.Disconnect()
				s.Connect(pid)
			case 5:
				b.call(c)
				s = start()
				looked = false
				clear(former)
				s.DoubtNetns("/a")
				s.DoubtNetns("/b")
			case 6:
				s.Feed(now, b.call(c))
				if len(parked) > 0 && rapid.Bool().Draw(t, "comes") {
					comeBack(calls)
				} else if looked && len(groups) > 0 { // whoever drops a group waits until VPP has been looked at
					name := rapid.SampledFrom(slices.Sorted(maps.Keys(groups))).Draw(t, "goes")
					parked[name], former[name] = groups[name], groups[name]
					delete(groups, name)
					s.Set(name, nil)
				}
			default:
				r := b.call(c)
				if c.Writes() {
					writes[c.Key()]++
					// After VPP's death a bridge's entries are still believed in, because nobody asks about a bridge that is gone: one
					// refused call tells. And a deletion that was refused stands in the way of the next pair's link.
					if r.Err != nil && !(faults && (errors.Is(r.Err, errNotThere) || errors.Is(r.Err, ErrLinuxExists))) {
						t.Fatalf("%s: %v\n%s", c, r.Err, strings.Join(log, "\n"))
					}
					if !faults && !mayTouch[c.Key()] {
						t.Fatalf("%s is about something that is right\n%s", c, strings.Join(log, "\n"))
					}
				}
				s.Feed(now, r)
			}
			told()
		}
		if !s.Idle() {
			t.Fatalf("%s\n%s", s.Pending(), s.AppendPlan(nil))
		}
		for k, n := range writes {
			if !faults && n > 2 {
				t.Fatalf("%s was written %d times\n%s", k, n, strings.Join(log, "\n"))
			}
		}
		want = slices.Concat(slices.Collect(maps.Values(groups))...)
		if left := wrong(b.have, want); len(left) > 0 {
			t.Fatalf("wrong at the end: %v\n%s\n%s", slices.Collect(maps.Keys(left)), strings.Join(log, "\n"), s.AppendPlan(nil))
		}
	})
}
