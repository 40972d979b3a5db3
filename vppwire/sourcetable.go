package vppwire

import (
	"bytes"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/classify"
)

// SourceTable is the classifier table of who may send as whom on the interface that pods share: a packet's Ethernet source and
// its IPv4 source, together, must be one of its sessions (Source). What is not is dropped. It is one for a node, and alone it does
// nothing; Guard puts it before an interface.
type SourceTable struct{}

// The table's shape. A frame's source MAC is at byte 6 and the source of the IPv4 packet in it at byte 26, so two vectors of 16
// bytes hold both. VPP's buckets are chains: a few sessions in each of 256 serve any node. 2 MB of heap is VPP's own default;
// a session takes 96 bytes with its share of a page.
const (
	sourceMAC, sourceIP4 = 6, 26
	sourceVectors        = 2
	sourceBytes          = sourceVectors * 16
	sourceBuckets        = 256
	sourceHeap           = 2 << 20
	// missDrops is the ACL node's next index of a drop (src/vnet/classify/in_out_acl.h); hitPasses is ~0: go on.
	missDrops = 0
	hitPasses = ^uint32(0)
	// noTable is VPP's ~0.
	noTable = ^uint32(0)
)

// sourceMask has ones where a packet's source is.
var sourceMask = source(MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, [4]byte{0xff, 0xff, 0xff, 0xff})

// source is the part of a packet that the table looks at.
func source(mac MAC, ip [4]byte) []byte {
	b := make([]byte, sourceBytes)
	copy(b[sourceMAC:], mac[:])
	copy(b[sourceIP4:], ip[:])
	return b
}

func sourceTableKey() Key { return Key{Kind: KindSourceTable} }

// Key implements Object.
func (SourceTable) Key() Key { return sourceTableKey() }

// AppendNeeds implements Object.
func (SourceTable) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "source-table".
func (SourceTable) AppendText(b []byte) []byte { return append(b, "source-table"...) }

func (SourceTable) parse(*words) Object  { return SourceTable{} }
func (SourceTable) owner() (Key, bool)   { return Key{}, false }
func (SourceTable) ours() bool           { return true }
func (SourceTable) replaces(Object) bool { return false }
func (SourceTable) shown() dumpStep      { return dumpStep{dump: classifierDump} }

// lapses: with the last table that could have been it.
func (SourceTable) lapses(_ *Session, st dumpStep) bool { return st.dump == classifierInfoDump }

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

func (SourceTable) create(s *Session, r *request, _ Object) {
	m := buffers[sourceTableMessages](s, KindSourceTable)
	m.table = classify.ClassifyAddDelTable{IsAdd: true, TableIndex: noTable, Nbuckets: sourceBuckets, MemorySize: sourceHeap,
		MatchNVectors: sourceVectors, NextTableIndex: noTable, MissNextIndex: missDrops, MaskLen: sourceBytes, Mask: sourceMask}
	r.invoke(&m.table, &m.tableReply, &m.tableReply.Retval)
	r.number = &m.tableReply.NewTableIndex
}

func (SourceTable) delete(s *Session, r *request) bool {
	m := buffers[sourceTableMessages](s, KindSourceTable)
	m.table = classify.ClassifyAddDelTable{TableIndex: s.sources, MatchNVectors: sourceVectors, NextTableIndex: noTable,
		MaskLen: sourceBytes, Mask: sourceMask}
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
	s.candidates = s.candidates[:0]
	for _, m := range res.shown.details {
		if d, ok := m.(*classify.ClassifyTableIdsReply); ok {
			s.candidates = append(s.candidates, d.Ids...)
		}
	}
	s.nextCandidate()
}

// nextCandidate asks about the next table that may be ours. Until the last has been looked at, what is believed stays so.
func (s *Session) nextCandidate() {
	if len(s.candidates) == 0 {
		return
	}
	s.dump.push(dumpStep{dump: classifierInfoDump, num: s.candidates[0]})
	k := sourceTableKey()
	if n := s.find(s.ident(&k)); n != 0 {
		s.at(n).mark = s.dump.mark
	}
}

// noSources reports whether it is known that there is no table of ours.
func (s *Session) noSources() bool { return s.sources == noTable && len(s.candidates) == 0 }

// classifierInfoDump tells what one classifier table looks for.
var classifierInfoDump = &dump{reader: classifierInfoReader{}}

type classifierInfoReader struct{}

func (classifierInfoReader) ask(s *Session, st dumpStep, r *request) {
	m := buffers[sourceTableMessages](s, KindSourceTable)
	m.info, m.infoReply = classify.ClassifyTableInfo{TableID: st.num}, classify.ClassifyTableInfoReply{}
	r.invoke(&m.info, &m.infoReply, &m.asked)
}

func (classifierInfoReader) take(s *Session, st dumpStep, res Result) {
	s.candidates = s.candidates[min(1, len(s.candidates)):]
	d := &classify.ClassifyTableInfoReply{}
	for _, m := range res.shown.details {
		d, _ = m.(*classify.ClassifyTableInfoReply)
	}
	if d == nil || d.Retval != 0 || d.MissNextIndex != missDrops || !bytes.Equal(d.Mask, sourceMask) {
		s.nextCandidate()
		return
	}
	s.candidates, s.sources = s.candidates[:0], st.num
	s.observe(SourceTable{})
	s.dump.push(dumpStep{dump: sourcesDump})
	s.dump.push(dumpStep{dump: guardDump, name: AFPacketName(TrunkVPPDevice)})
}
