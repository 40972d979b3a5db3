package vppwire

import (
	"path"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memif"
)

// MemifSocket is a file at which VPP and a program agree on the memory of a memif. VPP makes the file when the first
// master comes, in a folder that is there, and leaves it behind.
type MemifSocket struct {
	// Number is ours; 0 is VPP's own socket.
	Number uint32
	// File is an absolute path of at most 106 bytes, or VPP cannot bind it (src/vppinfra/socket.c).
	File string
}

// Key implements Object.
func (o MemifSocket) Key() Key { return Key{Kind: KindMemifSocket, Num: o.Number} }

// AppendNeeds implements Object: the folder that the file is in.
func (o MemifSocket) AppendNeeds(keys []Key) []Key {
	return append(keys, MemifFolder{Path: path.Dir(o.File)}.Key())
}

// AppendText implements Object: "memif-socket 7 /run/vppdrill/memif/7/memif.sock".
func (o MemifSocket) AppendText(b []byte) []byte {
	return appendWord(append(appendUint(append(b, "memif-socket "...), o.Number), ' '), o.File)
}

func (MemifSocket) parse(p *words) Object {
	return MemifSocket{Number: uint32(p.counted(32)), File: p.word()}
}

func (o MemifSocket) owner() (Key, bool)   { return Key{}, false }
func (o MemifSocket) ours() bool           { return o.Number != 0 }
func (o MemifSocket) replaces(Object) bool { return false }
func (o MemifSocket) shown() dumpStep      { return dumpStep{dump: memifSocketDump} }

type memifSocketMessages struct {
	socket      memif.MemifSocketFilenameAddDelV2
	socketReply memif.MemifSocketFilenameAddDelV2Reply
}

func (MemifSocket) messages() []api.Message {
	m := new(memifSocketMessages)
	return []api.Message{&m.socket, &m.socketReply}
}

func (o MemifSocket) fill(s *Session, r *request, add bool) {
	m := buffers[memifSocketMessages](s, KindMemifSocket)
	m.socket = memif.MemifSocketFilenameAddDelV2{IsAdd: add, SocketID: o.Number, SocketFilename: o.File}
	r.invoke(&m.socket, &m.socketReply, &m.socketReply.Retval)
}

func (o MemifSocket) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }

func (o MemifSocket) delete(s *Session, r *request) bool {
	o.fill(s, r, false)
	return true
}

// memifSocketDump goes behind memifDump, which tells what sockets are used.
var memifSocketDump = &dump{plugin: memifPlugin, reader: memifSocketReader{}}

type memifSocketReader struct{}

func (memifSocketReader) messages() []api.Message {
	return []api.Message{&memif.MemifSocketFilenameDump{}, &memif.MemifSocketFilenameDetails{}}
}

func (memifSocketReader) ask(_ *Session, _ dumpStep, r *request) {
	r.dump(&memif.MemifSocketFilenameDump{})
}

// take has a socket made again that no memif uses and one is to: VPP may have failed to listen there, and then makes the
// next one without a listener (src/plugins/memif/memif.c, memif_delete_if counts a user less than there was).
func (memifSocketReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		d, ok := m.(*memif.MemifSocketFilenameDetails)
		if !ok || d.SocketID == 0 {
			continue
		}
		o := MemifSocket{Number: d.SocketID, File: d.SocketFilename}
		s.observe(o)
		if k := o.Key(); !s.dump.sockets[d.SocketID] && s.awaited(d.SocketID) {
			n := s.find(s.ident(&k))
			s.at(n).flags |= flagForce | flagDeaf
			s.touch(n)
		}
	}
}

// awaited reports whether a memif is to be made on a socket.
func (s *Session) awaited(socket uint32) bool {
	for n := uint32(1); n <= s.used; n++ {
		e := s.at(n)
		if m, is := e.want().(Memif); is && e.flags&flagLive != 0 && e.have() == nil && m.Socket == socket {
			return true
		}
	}
	return false
}
