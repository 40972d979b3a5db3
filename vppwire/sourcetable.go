package vppwire

import (
	"bytes"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/classify"
)

// SourceTable is the classifier table of who may send as whom on the interface that pods share: a frame's source and
// that of the packet in it, together, must be one of its sessions (Source). What is not is dropped. It is one of a
// family for a node, and alone it does nothing; Guard puts it before an interface.
type SourceTable struct{ IP6 bool }

// The table's shape. A frame's source MAC is at byte 6 and the source of the packet in it at byte 26, or 22 where that
// is of IPv6, so two vectors of 16 bytes hold both, or three. VPP's buckets are chains: a few sessions in each of 256
// serve any node. 2 MB of heap is VPP's own default; a session takes 96 bytes with its share of a page.
const (
	sourceMAC, sourceIP4, sourceIP6 = 6, 26, 22
	sourceVector                    = 16
	sourceBuckets                   = 256
	sourceHeap                      = 2 << 20
	// missDrops is the ACL node's next index of a drop (src/vnet/classify/in_out_acl.h); hitPasses is ~0: go on.
	missDrops = 0
	hitPasses = ^uint32(0)
	// noTable is VPP's ~0.
	noTable = ^uint32(0)
)

// sourceMasks have ones where a packet's source is, of IPv4 and of IPv6.
var sourceMasks = [...][]byte{source(everyMAC, bytes.Repeat([]byte{0xff}, 4)), source(everyMAC, bytes.Repeat([]byte{0xff}, 16))}

var everyMAC = MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

func sourceMask(ip6 bool) []byte { return sourceMasks[place(ip6)] }

// place is a family's in what is kept of both.
func place(ip6 bool) int { return int(family(ip6) / 6) }

// source is the part of a packet that the table of its family looks at.
func source(mac MAC, ip []byte) []byte {
	at := sourceIP4
	if len(ip) != 4 {
		at = sourceIP6
	}
	b := make([]byte, (at+len(ip)+sourceVector-1)/sourceVector*sourceVector)
	copy(b[sourceMAC:], mac[:])
	copy(b[at:], ip)
	return b
}

// sourceTables are a session's classifier tables of pods' sources.
type sourceTables struct {
	// table is a family's, noTable where none is known.
	table [2]uint32
	// shown: the dump that goes on has shown it.
	shown [2]bool
	// candidates are tables that may be ours.
	candidates []uint32
}

func (t *sourceTables) of(ip6 bool) uint32 { return t.table[place(ip6)] }

func (t *sourceTables) set(ip6 bool, number uint32) { t.table[place(ip6)] = number }

func (t *sourceTables) reset() { t.table = [2]uint32{noTable, noTable} }

// none reports whether it is known that there is no table of a family.
func (t *sourceTables) none(ip6 bool) bool { return t.of(ip6) == noTable && len(t.candidates) == 0 }

func sourceTableKey(ip6 bool) Key { return Key{Kind: KindSourceTable, Num: family(ip6)} }

// Key implements Object.
func (o SourceTable) Key() Key { return sourceTableKey(o.IP6) }

// AppendNeeds implements Object.
func (SourceTable) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "source-table", "source-table ip6".
func (o SourceTable) AppendText(b []byte) []byte {
	b = append(b, "source-table"...)
	if o.IP6 {
		b = append(b, " ip6"...)
	}
	return b
}

func (SourceTable) parse(p *words) Object { return SourceTable{IP6: p.has("ip6")} }
func (SourceTable) owner() (Key, bool)    { return Key{}, false }
func (SourceTable) ours() bool            { return true }
func (SourceTable) replaces(Object) bool  { return false }
func (SourceTable) shown() dumpStep       { return dumpStep{dump: classifierDump} }

// lapses: with the last table that could have been it.
func (o SourceTable) lapses(s *Session, st dumpStep) bool {
	return st.dump == classifierInfoDump && !s.sources.shown[place(o.IP6)] && len(s.sources.candidates) == 0
}

type sourceTableMessages struct {
	table      classify.ClassifyAddDelTable
	tableReply classify.ClassifyAddDelTableReply
	ids        classify.ClassifyTableIds
	idsReply   classify.ClassifyTableIdsReply
	info       classify.ClassifyTableInfo
	infoReply  classify.ClassifyTableInfoReply
	// asked is no refusal: a table that has gone meanwhile is none of ours.
	asked int32
}

func (SourceTable) messages() []api.Message {
	m := new(sourceTableMessages)
	return []api.Message{&m.table, &m.tableReply, &m.ids, &m.idsReply, &m.info, &m.infoReply}
}

func (o SourceTable) create(s *Session, r *request, _ Object) {
	m, mask := buffers[sourceTableMessages](s, KindSourceTable), sourceMask(o.IP6)
	m.table = classify.ClassifyAddDelTable{IsAdd: true, TableIndex: noTable, Nbuckets: sourceBuckets, MemorySize: sourceHeap,
		MatchNVectors: uint32(len(mask) / sourceVector), NextTableIndex: noTable, MissNextIndex: missDrops, MaskLen: uint32(len(mask)), Mask: mask}
	r.invoke(&m.table, &m.tableReply, &m.tableReply.Retval)
	r.number = &m.tableReply.NewTableIndex
}

func (o SourceTable) delete(s *Session, r *request) bool {
	m, mask := buffers[sourceTableMessages](s, KindSourceTable), sourceMask(o.IP6)
	m.table = classify.ClassifyAddDelTable{TableIndex: s.sources.of(o.IP6), MatchNVectors: uint32(len(mask) / sourceVector), NextTableIndex: noTable,
		MaskLen: uint32(len(mask)), Mask: mask}
	r.invoke(&m.table, &m.tableReply, &m.tableReply.Retval)
	return true
}

// classifierDump asks which classifier tables there are. What each of them is, and so whether one is ours, only
// classifierInfoDump tells.
var classifierDump = &dump{whole: true, reader: classifierReader{}}

type classifierReader struct{}

func (classifierReader) ask(s *Session, _ dumpStep, r *request) {
	m := buffers[sourceTableMessages](s, KindSourceTable)
	m.idsReply = classify.ClassifyTableIdsReply{}
	r.invoke(&m.ids, &m.idsReply, &m.idsReply.Retval)
}

func (classifierReader) take(s *Session, _ dumpStep, res Result) {
	t := &s.sources
	t.candidates, t.shown = t.candidates[:0], [2]bool{}
	for _, m := range res.shown.details {
		if d, ok := m.(*classify.ClassifyTableIdsReply); ok {
			t.candidates = append(t.candidates, d.Ids...)
		}
	}
	s.nextCandidate()
}

// nextCandidate asks about the next table that may be ours. Until the last has been looked at, what is believed stays
// so.
func (s *Session) nextCandidate() {
	if len(s.sources.candidates) == 0 {
		return
	}
	s.dump.push(dumpStep{dump: classifierInfoDump, num: s.sources.candidates[0]})
	for _, ip6 := range [...]bool{false, true} {
		k := sourceTableKey(ip6)
		if n := s.find(s.ident(&k)); n != 0 {
			s.at(n).mark = s.dump.mark
		}
	}
}

// classifierInfoDump tells what one classifier table looks for. It goes first because it queues the dumps of what is in
// the table.
var classifierInfoDump = &dump{first: true, reader: classifierInfoReader{}}

type classifierInfoReader struct{}

func (classifierInfoReader) ask(s *Session, st dumpStep, r *request) {
	m := buffers[sourceTableMessages](s, KindSourceTable)
	m.info, m.infoReply = classify.ClassifyTableInfo{TableID: st.num}, classify.ClassifyTableInfoReply{}
	r.invoke(&m.info, &m.infoReply, &m.asked)
}

func (classifierInfoReader) take(s *Session, st dumpStep, res Result) {
	t := &s.sources
	t.candidates = t.candidates[min(1, len(t.candidates)):]
	for _, m := range res.shown.details {
		d, ok := m.(*classify.ClassifyTableInfoReply)
		if !ok || d.Retval != 0 || d.MissNextIndex != missDrops {
			continue
		}
		for _, ip6 := range [...]bool{false, true} {
			if !t.shown[place(ip6)] && bytes.Equal(d.Mask, sourceMask(ip6)) {
				t.shown[place(ip6)] = true
				t.set(ip6, st.num)
				s.observe(SourceTable{IP6: ip6})
				s.dump.push(dumpStep{dump: sourcesDump, ip6: ip6})
				s.dump.push(dumpStep{dump: guardDump, name: AFPacketName(TrunkVPPDevice), ip6: ip6})
			}
		}
	}
	if t.shown == [2]bool{true, true} {
		t.candidates = t.candidates[:0]
	}
	s.nextCandidate()
}
