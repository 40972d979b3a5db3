package vppmodel

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/classify"
)

// classifier is one classifier table. Its sessions are keyed by the bytes that its mask leaves of what they match.
type classifier struct {
	mask       []byte
	skip       uint32 // in vectors
	next, miss uint32
	buckets    uint32
	sessions   map[string]classifierSession
}

// classifierSession is what becomes of a packet that matches. hit is VPP's 16 bits of it.
type classifierSession struct {
	hit     uint16
	opaque  uint32
	advance int32
}

// vectorSize is a vector of the classifier, in bytes; a table looks at up to five.
const (
	vectorSize = 16
	vectorsMax = 5
)

// filters are the input ACLs of interfaces: the tables of their IPv4, IPv6 and bridged packets. VPP never forgets an
// interface's (src/vnet/classify/in_out_acl.c): the next one with the index counts as having it, while no packet is
// looked at.
type filters struct {
	table [3]uint32
	acts  [3]bool
}

// The places in filters.
const (
	filterIP4 = iota
	filterIP6
	filterL2
)

func (v *VPP) classifier(at uint32) *classifier {
	if at < uint32(len(v.classifiers)) {
		return v.classifiers[at]
	}
	return nil
}

// changeClassifier makes, chains or deletes a table. To chain one that is not there makes it.
func (v *VPP) changeClassifier(m *classify.ClassifyAddDelTable, r *classify.ClassifyAddDelTableReply) int32 {
	at, retval := v.addDelClassifier(m)
	*r = classify.ClassifyAddDelTableReply{Retval: retval, NewTableIndex: none, SkipNVectors: none, MatchNVectors: none}
	if retval == ok && m.IsAdd {
		c := v.classifiers[at]
		r.NewTableIndex, r.SkipNVectors, r.MatchNVectors = at, c.skip, uint32(len(c.mask)/vectorSize)
	}
	return retval
}

func (v *VPP) addDelClassifier(m *classify.ClassifyAddDelTable) (at uint32, retval int32) {
	c := v.classifier(m.TableIndex)
	switch {
	case uint32(len(m.Mask)) != m.MatchNVectors*vectorSize:
		return none, invalidValue
	case !m.IsAdd && c == nil:
		return none, noSuchTable
	case !m.IsAdd:
		v.deleteClassifier(m.TableIndex, m.DelChain)
		return none, ok
	case c != nil:
		c.next = m.NextTableIndex
		return m.TableIndex, ok
	case m.MemorySize == 0:
		return none, invalidMemorySize
	case m.Nbuckets == 0, m.MatchNVectors < 1, m.MatchNVectors > vectorsMax:
		return none, invalidValue
	}
	at = v.classifierAt.get()
	v.classifiers = grown(v.classifiers, at)
	v.classifiers[at] = &classifier{mask: bytes.Clone(m.Mask), skip: m.SkipNVectors, next: m.NextTableIndex, miss: m.MissNextIndex,
		buckets: powerOfTwo(m.Nbuckets), sessions: map[string]classifierSession{}}
	return at, ok
}

func powerOfTwo(n uint32) uint32 {
	p := uint32(1)
	for p < n {
		p <<= 1
	}
	return p
}

func (v *VPP) deleteClassifier(at uint32, chain bool) {
	c := v.classifier(at)
	if c == nil {
		return
	}
	if chain {
		v.deleteClassifier(c.next, true)
	}
	v.classifiers[at] = nil
	v.classifierAt.put(at)
}

// changeSession adds, changes or deletes one session; a deleted table is -3, a match of another length -5 in govpp's
// names.
func (v *VPP) changeSession(m *classify.ClassifyAddDelSession) int32 {
	c := v.classifier(m.TableIndex)
	switch {
	case c == nil:
		return noSuchTable
	case len(m.Match) != int(c.skip)*vectorSize+len(c.mask):
		return invalidValue
	}
	key := bytes.Clone(m.Match[int(c.skip)*vectorSize:])
	for i := range key {
		key[i] &= c.mask[i]
	}
	if m.IsAdd {
		c.sessions[string(key)] = classifierSession{uint16(m.HitNextIndex), m.OpaqueIndex, m.Advance}
		return ok
	}
	if _, found := c.sessions[string(key)]; !found {
		return noSuchEntry
	}
	delete(c.sessions, string(key))
	return ok
}

func (v *VPP) classifierIDs(_ *classify.ClassifyTableIds, r *classify.ClassifyTableIdsReply) int32 {
	*r = classify.ClassifyTableIdsReply{Ids: []uint32{}}
	for at, c := range v.classifiers {
		if c != nil {
			r.Ids = append(r.Ids, uint32(at))
		}
	}
	r.Count = uint32(len(r.Ids))
	return ok
}

func (v *VPP) classifierInfo(m *classify.ClassifyTableInfo, r *classify.ClassifyTableInfoReply) int32 {
	*r = classify.ClassifyTableInfoReply{Retval: classifierMissing}
	if c := v.classifier(m.TableID); c != nil {
		*r = classify.ClassifyTableInfoReply{TableID: m.TableID, Nbuckets: c.buckets, MatchNVectors: uint32(len(c.mask) / vectorSize),
			SkipNVectors: c.skip, ActiveSessions: uint32(len(c.sessions)), NextTableIndex: c.next, MissNextIndex: c.miss,
			MaskLength: uint32(len(c.mask)), Mask: bytes.Clone(c.mask)}
	}
	return r.Retval
}

func (v *VPP) sessionDump(m *classify.ClassifySessionDump) []api.Message {
	c := v.classifier(m.TableID)
	if c == nil {
		return nil
	}
	out := make([]api.Message, 0, len(c.sessions))
	for _, key := range slices.Sorted(maps.Keys(c.sessions)) {
		s := c.sessions[key]
		out = append(out, &classify.ClassifySessionDetails{TableID: m.TableID, HitNextIndex: uint32(s.hit), Advance: s.advance,
			OpaqueIndex: s.opaque, MatchLength: uint32(len(key)), Match: []byte(key)})
	}
	return out
}

// setFilter puts a table before an interface or takes it away. VPP takes the three tables one by one and stops at the
// first that is refused, or that is there already; then it succeeds without changing the remaining ones.
func (v *VPP) setFilter(m *classify.InputACLSetInterface) int32 {
	if v.at(uint32(m.SwIfIndex)) == nil {
		return invalidIndex
	}
	f := v.filter(uint32(m.SwIfIndex))
	for k, at := range [...]uint32{m.IP4TableIndex, m.IP6TableIndex, m.L2TableIndex} {
		switch {
		case at == none:
			continue
		case v.classifier(at) == nil:
			return noSuchTable
		case m.IsAdd && f.table[k] != none:
			return ok
		case m.IsAdd:
			f.table[k], f.acts[k] = at, true
		case f.table[k] != at:
			return noSuchTable
		default:
			f.table[k], f.acts[k] = none, false
		}
	}
	return ok
}

func (v *VPP) filter(index uint32) *filters {
	f := v.filters[index]
	if f == nil {
		f = &filters{table: [3]uint32{none, none, none}}
		v.filters[index] = f
	}
	return f
}

func (v *VPP) filterGet(m *classify.ClassifyTableByInterface, r *classify.ClassifyTableByInterfaceReply) int32 {
	*r = classify.ClassifyTableByInterfaceReply{SwIfIndex: m.SwIfIndex, IP4TableID: none, IP6TableID: none, L2TableID: none}
	if v.at(uint32(m.SwIfIndex)) == nil {
		r.Retval = invalidIndex
		return invalidIndex
	}
	if f := v.filters[uint32(m.SwIfIndex)]; f != nil {
		r.IP4TableID, r.IP6TableID, r.L2TableID = f.table[filterIP4], f.table[filterIP6], f.table[filterL2]
	}
	return ok
}

// classifierCrash: a table goes that packets of an interface are looked up in.
func (v *VPP) classifierCrash(m *classify.ClassifyAddDelTable) CrashTrigger {
	if m.IsAdd || v.classifier(m.TableIndex) == nil {
		return ""
	}
	for index, f := range v.filters { //vppdrill:unordered any of them will do
		for k := range f.table {
			if f.acts[k] && f.table[k] == m.TableIndex && v.at(index) != nil {
				return CrashClassifierInUse
			}
		}
	}
	return ""
}

// Where a frame holds its sender, in bytes from its start.
const (
	frameFrom, frameType, framePacket, frameSrc4, frameSrc6 = 6, 12, 14, 26, 22
	// frameLength is that of the headers of IPv6, frameLength4 that of IPv4's.
	frameLength, frameLength4 = 54, 34
)

// filterOf is the place of the table that an interface's packets of a family are looked up in: in a bridge domain all
// frames are, in one.
func filterOf(i *iface, ip6 bool) int {
	switch {
	case i != nil && i.bridged:
		return filterL2
	case ip6:
		return filterIP6
	}
	return filterIP4
}

// Admits reports whether the input ACL of an interface lets a packet of its source's family pass, by its frame's source
// and its own.
func (v *VPP) Admits(index uint32, from [6]byte, src netip.Addr) bool {
	f := v.filters[index]
	k := filterOf(v.at(index), src.Is6())
	if f == nil || !f.acts[k] {
		return true
	}
	frame := make([]byte, frameLength)
	copy(frame[frameFrom:], from[:])
	if src.Is6() {
		ip := src.As16()
		frame[frameType], frame[frameType+1], frame[framePacket] = 0x86, 0xdd, 0x60
		copy(frame[frameSrc6:], ip[:])
	} else {
		frame = frame[:frameLength4]
		frame[frameType], frame[framePacket] = 0x08, 0x45
		if src.Is4() {
			ip := src.As4()
			copy(frame[frameSrc4:], ip[:])
		}
	}
	for at := f.table[k]; at != none; {
		c := v.classifier(at)
		if c == nil {
			return false // VPP would look into freed memory
		}
		if s, found := c.sessions[c.key(frame)]; found {
			return s.hit != 0
		}
		if c.next == none {
			return c.miss != 0
		}
		at = c.next
	}
	return true
}

// Sender is one session that lets packets pass.
type Sender struct {
	Addr netip.Addr
	MAC  [6]byte
}

// Senders lists those of an interface's input ACLs by address, as far as they look at both sources and nothing else.
func (v *VPP) Senders(index uint32) []Sender {
	f, i := v.filters[index], v.at(index)
	if f == nil {
		return nil
	}
	var out []Sender
	k := filterOf(i, false)
	if c := v.acting(f, k, 2); c != nil {
		for key, s := range c.sessions { //vppdrill:unordered sorted below
			out = s.appendSender(out, netip.AddrFrom4([4]byte([]byte(key[frameSrc4:]))), key)
		}
	}
	if c := v.acting(f, filterIP6, 3); c != nil && k != filterL2 {
		for key, s := range c.sessions { //vppdrill:unordered sorted below
			out = s.appendSender(out, netip.AddrFrom16([16]byte([]byte(key[frameSrc6:]))), key)
		}
	}
	slices.SortFunc(out, func(a, b Sender) int { return cmp.Or(a.Addr.Compare(b.Addr), bytes.Compare(a.MAC[:], b.MAC[:])) })
	return out
}

// acting is the table in a place that packets are looked up in, if it compares that many vectors from a frame's start;
// else nil.
func (v *VPP) acting(f *filters, place, vectors int) *classifier {
	if !f.acts[place] {
		return nil
	}
	if c := v.classifier(f.table[place]); c != nil && c.skip == 0 && len(c.mask) == vectors*vectorSize {
		return c
	}
	return nil
}

func (s classifierSession) appendSender(list []Sender, addr netip.Addr, key string) []Sender {
	if s.hit == 0 {
		return list
	}
	return append(list, Sender{addr, [6]byte([]byte(key[frameFrom:]))})
}

// key is what the table's mask leaves of a frame; a frame that ends before is as if followed by zeros.
func (c *classifier) key(frame []byte) string {
	key := make([]byte, len(c.mask))
	if from := int(c.skip) * vectorSize; from < len(frame) {
		copy(key, frame[from:])
	}
	for i := range key {
		key[i] &= c.mask[i]
	}
	return string(key)
}

// forgetFilters: an interface that goes takes along that its packets are looked at, but not which table it had.
func (v *VPP) forgetFilters(index uint32) {
	if f := v.filters[index]; f != nil {
		f.acts = [3]bool{}
	}
}

// appendClassifiers appends tables with their sessions, and the input ACLs of interfaces.
func (v *VPP) appendClassifiers(b []byte) []byte {
	for at, c := range v.classifiers {
		if c == nil {
			continue
		}
		b = fmt.Appendf(b, "classifier #%d mask %x skip %d", at, c.mask, c.skip)
		b = appendNumber(appendNumber(b, " next ", c.next), " miss ", c.miss, '\n')
		for _, key := range slices.Sorted(maps.Keys(c.sessions)) {
			b = fmt.Appendf(b, "session #%d %x hit %d\n", at, key, c.sessions[key].hit)
		}
	}
	for _, index := range slices.Sorted(maps.Keys(v.filters)) {
		for k, word := range [...]string{" ip4 ", " ip6 ", " l2 "} {
			f := v.filters[index]
			if f.table[k] == none {
				continue
			}
			b = appendNumber(v.appendIndex(append(b, "input-acl "...), index), word, f.table[k])
			if !f.acts[k] {
				b = append(b, " idle"...)
			}
			b = append(b, '\n')
		}
	}
	return b
}
