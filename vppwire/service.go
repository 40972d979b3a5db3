package vppwire

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"
)

// Service is one address and port of a service, with the endpoints that new sessions are spread over.
//
// It is always a load balancing mapping, also with one endpoint, so that endpoints come and go one by one and the
// sessions of the others go on: VPP can change a mapping of two and more locals only. What makes up the two is a
// placeholder of weight 0, which is never drawn. VPP sums weights in eight bits.
type Service struct {
	Addr  netip.Addr
	Port  uint16
	Proto Proto
	Twice Twice
	// Affinity is how many seconds a client keeps its endpoint after its last session has begun, 0 for not at all.
	Affinity uint32
	// Tag is for people: the service's name, at most TagMax bytes.
	Tag string
	// Endpoints is what FormatEndpoints made of them; at least one.
	Endpoints string
	natDependent
}

// ServiceTagMax is the longest Tag, in bytes: VPP's 63 less what says the affinity, which no dump shows.
const ServiceTagMax = 63 - len("4294967295s ")

// Twice says when the client's address is translated too.
type Twice uint8

// When it is: never, where the client is its own endpoint, or always.
const (
	TwiceNever Twice = iota
	TwiceSelf
	TwiceAlways
)

var twiceWords = [...]string{TwiceSelf: "self", TwiceAlways: "always"}

// Endpoint is one that sessions go to. Table is where it answers from, Weight its share of new sessions, not 0.
type Endpoint struct {
	Addr   netip.AddrPort
	Table  uint32
	Weight uint8
}

func compareEndpoints(a, b Endpoint) int {
	if c := a.Addr.Compare(b.Addr); c != 0 {
		return c
	}
	return int(int64(a.Table) - int64(b.Table))
}

// WeightsMax is the most that the weights of a service's endpoints add up to, so that VPP's eight bits hold them.
const WeightsMax = 255

// FormatEndpoints is the canonical text of endpoints, which differ in address, port or table:
// "10.1.1.2:80@1*1,10.1.1.3:80@1*2". It sorts them.
func FormatEndpoints(list []Endpoint) string {
	slices.SortFunc(list, compareEndpoints)
	b := make([]byte, 0, 24*len(list))
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(e.Addr.AppendTo(b), '@')
		b = append(strconv.AppendUint(b, uint64(e.Table), 10), '*')
		b = strconv.AppendUint(b, uint64(e.Weight), 10)
	}
	return string(b)
}

// ParseEndpoints reads what FormatEndpoints wrote, false for any other text.
func ParseEndpoints(text string) ([]Endpoint, bool) {
	list := make([]Endpoint, 0, 1+strings.Count(text, ","))
	for one := range strings.SplitSeq(text, ",") {
		addr, rest, _ := strings.Cut(one, "@")
		table, weight, _ := strings.Cut(rest, "*")
		a, err := netip.ParseAddrPort(addr)
		t, err2 := strconv.ParseUint(table, 10, 32)
		w, err3 := strconv.ParseUint(weight, 10, 8)
		if err != nil || err2 != nil || err3 != nil || !a.Addr().Is4() || w == 0 {
			return nil, false
		}
		list = append(list, Endpoint{a, uint32(t), uint8(w)})
	}
	return list, FormatEndpoints(slices.Clone(list)) == text
}

// Key implements Object.
func (o Service) Key() Key {
	return Key{Kind: KindService, Num: uint32(o.Port), Name: o.Proto.String(), Prefix: full(o.Addr)}
}

// AppendNeeds implements Object. NAT would make a table that is not there, for as long as a mapping names it, and no
// dump tells such a one from the node's own: it goes with its last mapping, under whatever was to be put into it.
func (o Service) AppendNeeds(keys []Key) []Key {
	keys = append(keys, natKey())
	var last uint64 // table 0 always exists
	for rest := o.Endpoints; ; {
		_, after, more := strings.Cut(rest, "@")
		if !more {
			return keys
		}
		number, _, _ := strings.Cut(after, "*")
		if t, err := strconv.ParseUint(number, 10, 32); err == nil && t != last {
			keys, last = needTable(keys, uint32(t), false), t
		}
		rest = after
	}
}

// AppendText implements Object: "service 10.96.0.10:53 udp self affinity 10800 tag default/dns to 10.1.1.2:53@1*1".
func (o Service) AppendText(b []byte) []byte {
	b = netip.AddrPortFrom(o.Addr, o.Port).AppendTo(append(b, "service "...))
	b = append(append(b, ' '), o.Proto.String()...)
	if o.Twice != TwiceNever {
		b = append(append(b, ' '), twiceWords[o.Twice]...)
	}
	if o.Affinity != 0 {
		b = appendNumber(b, "affinity", uint64(o.Affinity))
	}
	if o.Tag != "" {
		b = appendWord(b, " tag", o.Tag)
	}
	return appendWord(b, " to", o.Endpoints)
}

func (Service) parse(p *words) Object {
	var o Service
	w := p.word()
	at, err := netip.ParseAddrPort(w)
	if err != nil || at.String() != w || !at.Addr().Is4() {
		p.fail("%q is not an IPv4 address and a port", w)
	}
	o.Addr, o.Port = at.Addr(), at.Port()
	if o.Proto = p.proto(); o.Proto == 0 {
		p.fail("a service is of tcp or udp")
	}
	switch {
	case p.has(twiceWords[TwiceSelf]):
		o.Twice = TwiceSelf
	case p.has(twiceWords[TwiceAlways]):
		o.Twice = TwiceAlways
	}
	if p.has("affinity") {
		if o.Affinity = uint32(p.number(32)); o.Affinity == 0 {
			p.fail("no affinity is not written")
		}
	}
	if p.has("tag") {
		if o.Tag = p.word(); len(o.Tag) > ServiceTagMax {
			p.fail("the tag is longer than %d bytes", ServiceTagMax)
		}
	}
	p.expect("to")
	o.Endpoints = p.word()
	if _, ok := ParseEndpoints(o.Endpoints); !ok && p.err == nil {
		p.fail("%q is no list of endpoints", o.Endpoints)
	}
	return o
}

func (o Service) owner() (Key, bool) { return Key{}, false }
func (o Service) ours() bool         { return true }
func (o Service) shown() dumpStep    { return dumpStep{dump: serviceDump} }

// replaces: by endpoints that come and go one by one. A client with affinity would keep an endpoint that has gone (VPP
// forgets whom a client keeps only with the whole mapping), so there the mapping goes first.
func (o Service) replaces(old Object) bool {
	have, ok := old.(Service)
	if !ok {
		return false
	}
	_, _, ok = o.step(have)
	return ok
}

// step is the next change of one endpoint on the way from have: the endpoint, and what stands then. False where there
// is none. VPP keeps at least two locals, one of which is the placeholder.
func (o Service) step(have Service) (e Endpoint, then Service, ok bool) {
	then = have
	same := o
	same.Endpoints = have.Endpoints
	if same != have {
		return e, then, false
	}
	wanted, _ := ParseEndpoints(o.Endpoints)
	there, _ := ParseEndpoints(have.Endpoints)
	sum := 0
	for _, x := range there {
		sum += int(x.Weight)
	}
	at := func(list []Endpoint, e Endpoint) int {
		return slices.IndexFunc(list, func(x Endpoint) bool { return compareEndpoints(x, e) == 0 })
	}
	going := slices.IndexFunc(there, func(x Endpoint) bool { return at(wanted, x) >= 0 && !slices.Contains(wanted, x) })
	if going < 0 { // those of another weight come first: the last one could not be taken away to come back
		going = slices.IndexFunc(there, func(x Endpoint) bool { return at(wanted, x) < 0 })
	}
	if going >= 0 && o.Affinity != 0 {
		return e, then, false
	}
	for _, x := range wanted {
		if at(there, x) < 0 && sum+int(x.Weight) <= WeightsMax {
			then.Endpoints = FormatEndpoints(append(slices.Clone(there), x))
			return x, then, true
		}
	}
	if going < 0 || len(there) < 2 {
		return e, then, false
	}
	e = there[going]
	then.Endpoints = FormatEndpoints(slices.Delete(slices.Clone(there), going, going+1))
	return e, then, true
}

type serviceMessages struct {
	mapping      nat44_ed.Nat44AddDelLbStaticMapping
	mappingReply nat44_ed.Nat44AddDelLbStaticMappingReply
	local        nat44_ed.Nat44LbStaticMappingAddDelLocal
	localReply   nat44_ed.Nat44LbStaticMappingAddDelLocalReply
}

func (Service) messages() []api.Message {
	m := new(serviceMessages)
	return []api.Message{&m.mapping, &m.mappingReply, &m.local, &m.localReply}
}

func (o Service) fill(m *nat44_ed.Nat44AddDelLbStaticMapping) {
	*m = nat44_ed.Nat44AddDelLbStaticMapping{ExternalAddr: o.Addr.As4(), ExternalPort: o.Port, Protocol: uint8(o.Proto),
		Flags: nat_types.NAT_IS_OUT2IN_ONLY}
	switch o.Twice {
	case TwiceSelf:
		m.Flags |= nat_types.NAT_IS_SELF_TWICE_NAT
	case TwiceAlways:
		m.Flags |= nat_types.NAT_IS_TWICE_NAT
	}
}

func (o Service) create(s *Session, r *request, over Object) {
	m := buffers[serviceMessages](s, KindService)
	if have, ok := over.(Service); ok {
		if e, then, ok := o.step(have); ok {
			m.local = nat44_ed.Nat44LbStaticMappingAddDelLocal{IsAdd: len(then.Endpoints) > len(have.Endpoints), ExternalAddr: o.Addr.As4(),
				ExternalPort: o.Port, Protocol: uint8(o.Proto), Local: e.local()}
			r.obj = then // and on from there
			r.invoke(&m.local, &m.localReply, &m.localReply.Retval)
			return
		}
	}
	o.fill(&m.mapping)
	m.mapping.IsAdd, m.mapping.Affinity, m.mapping.Tag = true, o.Affinity, o.tag()
	// the placeholder
	m.mapping.Locals = append(m.mapping.Locals, nat44_ed.Nat44LbAddrPort{Addr: o.Addr.As4(), Port: o.Port})
	list, _ := ParseEndpoints(o.Endpoints)
	for _, e := range list {
		m.mapping.Locals = append(m.mapping.Locals, e.local())
	}
	r.invoke(&m.mapping, &m.mappingReply, &m.mappingReply.Retval)
}

func (e Endpoint) local() nat44_ed.Nat44LbAddrPort {
	return nat44_ed.Nat44LbAddrPort{Addr: ip_types.IP4Address(e.Addr.Addr().As4()), Port: e.Addr.Port(), Probability: e.Weight, VrfID: e.Table}
}

func (o Service) delete(s *Session, r *request) bool {
	m := buffers[serviceMessages](s, KindService)
	o.fill(&m.mapping)
	r.invoke(&m.mapping, &m.mappingReply, &m.mappingReply.Retval)
	return true
}

// tag is what VPP keeps: the affinity too, as its dump leaves that out.
func (o Service) tag() string {
	if o.Affinity == 0 {
		return o.Tag
	}
	return strings.TrimSuffix(strconv.FormatUint(uint64(o.Affinity), 10)+"s "+o.Tag, " ")
}

// readTag reads what tag wrote.
func (o *Service) readTag(text string) {
	seconds, rest, _ := strings.Cut(text, " ")
	number, isAffinity := strings.CutSuffix(seconds, "s")
	n, err := strconv.ParseUint(number, 10, 32)
	if !isAffinity || err != nil {
		o.Tag = text
		return
	}
	o.Affinity, o.Tag = uint32(n), rest
}

var serviceDump = &dump{reader: serviceReader{}}

type serviceReader struct{}

func (serviceReader) messages() []api.Message {
	return []api.Message{&nat44_ed.Nat44LbStaticMappingDump{}, &nat44_ed.Nat44LbStaticMappingDetails{}}
}

func (serviceReader) ask(_ *Session, _ dumpStep, r *request) {
	r.dump(&nat44_ed.Nat44LbStaticMappingDump{})
}

func (serviceReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		d, ok := m.(*nat44_ed.Nat44LbStaticMappingDetails)
		if !ok {
			continue
		}
		o := Service{Addr: netip.AddrFrom4(d.ExternalAddr), Port: d.ExternalPort, Proto: Proto(d.Protocol)}
		switch {
		case d.Flags&nat_types.NAT_IS_TWICE_NAT != 0:
			o.Twice = TwiceAlways
		case d.Flags&nat_types.NAT_IS_SELF_TWICE_NAT != 0:
			o.Twice = TwiceSelf
		}
		o.readTag(d.Tag)
		var list []Endpoint
		for _, l := range d.Locals {
			if l.Probability != 0 {
				list = append(list, Endpoint{netip.AddrPortFrom(netip.AddrFrom4(l.Addr), l.Port), l.VrfID, l.Probability})
			}
		}
		o.Endpoints = FormatEndpoints(list)
		s.observe(o)
	}
}
