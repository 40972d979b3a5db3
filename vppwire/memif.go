package vppwire

import (
	"strconv"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memif"
)

// Memif is an interface whose frames go through memory that VPP shares with one program, which it meets at a socket.
type Memif struct {
	// Socket is the number of the MemifSocket, never 0; ID tells one interface of a socket from another.
	Socket, ID uint32
	MAC        MAC
	// Slave: the program listens and VPP connects; else it is the other way round. All interfaces of a socket are alike.
	Slave bool
	// Ring is how many descriptors a ring has, a power of two up to 16384, Buffer how many bytes each stands for; 0 is
	// VPP's 1024 and 2048. They count where VPP is the slave. A dump does not tell.
	Ring   uint32
	Buffer uint16
}

const (
	memifPrefix = "memif"
	memifPlugin = "memif"
)

// MemifName is the VPP name of the memif of that ID on that socket.
func MemifName(socket, id uint32) string {
	return memifPrefix + strconv.FormatUint(uint64(socket), 10) + "/" + strconv.FormatUint(uint64(id), 10)
}

// Key implements Object.
func (o Memif) Key() Key { return Key{Kind: KindMemif, Name: MemifName(o.Socket, o.ID)} }

// AppendNeeds implements Object: its socket.
func (o Memif) AppendNeeds(keys []Key) []Key {
	return append(keys, MemifSocket{Number: o.Socket}.Key())
}

// AppendText implements Object: "memif memif7/0 mac 02:fe:00:00:00:01", "… slave ring 512 buffer 4096".
func (o Memif) AppendText(b []byte) []byte {
	b = append(appendWord(b, "memif", MemifName(o.Socket, o.ID)), " mac "...)
	b = o.MAC.AppendText(b)
	if o.Slave {
		b = append(b, " slave"...)
	}
	if o.Ring != 0 {
		b = appendNumber(b, "ring", uint64(o.Ring))
	}
	if o.Buffer != 0 {
		b = appendNumber(b, "buffer", uint64(o.Buffer))
	}
	return b
}

func (Memif) parse(p *words) Object {
	m := Memif{}
	w := p.word()
	socket, id, _ := strings.Cut(strings.TrimPrefix(w, memifPrefix), "/")
	x, _ := strconv.ParseUint(socket, 10, 32) // the comparison sees what is no number
	y, _ := strconv.ParseUint(id, 10, 32)
	if m.Socket, m.ID = uint32(x), uint32(y); m.Socket == 0 || w != MemifName(m.Socket, m.ID) {
		p.fail("%q is not %s, a number but 0, a slash and a number", w, memifPrefix)
	}
	p.expect("mac")
	m.MAC, m.Slave = p.mac(), p.has("slave")
	if p.has("ring") {
		m.Ring = uint32(p.counted(32))
	}
	if p.has("buffer") {
		m.Buffer = uint16(p.counted(16))
	}
	return m
}

// like: rings are what both ends have agreed on, once they have, and only where VPP is the slave.
func (o Memif) like(found Object) bool {
	f, ok := found.(Memif)
	return ok && o.Socket == f.Socket && o.ID == f.ID && o.MAC == f.MAC && o.Slave == f.Slave
}

func (o Memif) owner() (Key, bool)   { return Key{}, false }
func (o Memif) ours() bool           { return true }
func (o Memif) replaces(Object) bool { return false }
func (o Memif) shown() dumpStep      { return dumpStep{dump: memifDump} }

// oursByName: who uses VPP's own socket has made it without us.
func (Memif) oursByName(name string) bool { return !strings.HasPrefix(name, memifPrefix+"0/") }

type memifMessages struct {
	create      memif.MemifCreateV2
	createReply memif.MemifCreateV2Reply
	remove      memif.MemifDelete
	removeReply memif.MemifDeleteReply
}

func (Memif) messages() []api.Message {
	m := new(memifMessages)
	return []api.Message{&m.create, &m.createReply, &m.remove, &m.removeReply}
}

// create never lets VPP's own buffers be shared, as a slave's are by default: a pod could read and write everybody's
// packets.
func (o Memif) create(s *Session, r *request, _ Object) {
	m := buffers[memifMessages](s, KindMemif)
	c := &m.create
	c.Role, c.Mode, c.NoZeroCopy = memif.MEMIF_ROLE_API_MASTER, memif.MEMIF_MODE_API_ETHERNET, true
	if o.Slave {
		c.Role = memif.MEMIF_ROLE_API_SLAVE
	}
	c.SocketID, c.ID, c.HwAddr, c.RingSize, c.BufferSize = o.Socket, o.ID, toMAC(o.MAC), o.Ring, o.Buffer
	r.invoke(c, &m.createReply, &m.createReply.Retval)
	r.number = (*uint32)(&m.createReply.SwIfIndex)
}

func (o Memif) delete(s *Session, r *request) bool {
	m := buffers[memifMessages](s, KindMemif)
	m.remove.SwIfIndex = s.swIfIndex(MemifName(o.Socket, o.ID))
	r.invoke(&m.remove, &m.removeReply, &m.removeReply.Retval)
	return true
}

var memifDump = &dump{whole: true, rare: true, plugin: memifPlugin, reader: memifReader{}}

type memifReader struct{}

func (memifReader) messages() []api.Message {
	return []api.Message{&memif.MemifDump{}, &memif.MemifDetails{}}
}

func (memifReader) ask(_ *Session, _ dumpStep, r *request) { r.dump(&memif.MemifDump{}) }

func (memifReader) take(s *Session, _ dumpStep, res Result) {
	clear(s.dump.sockets)
	s.dump.push(dumpStep{dump: memifSocketDump})
	for _, m := range res.shown.details {
		d, ok := m.(*memif.MemifDetails)
		if !ok {
			continue
		}
		s.dump.sockets[d.SocketID] = true
		if d.SocketID != 0 {
			s.observe(Memif{Socket: d.SocketID, ID: d.ID, MAC: MAC(d.HwAddr), Slave: d.Role != memif.MEMIF_ROLE_API_MASTER})
		}
	}
}
