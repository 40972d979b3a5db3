package socket

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memclnt"

	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// handleBit marks handles of clients on sockets, as in VPP (src/vlibmemory/socket_api.c, SOCK_API_REG_HANDLE_BIT).
const handleBit = 1 << 31

// Config names the served VPP and its socket.
type Config struct {
	// Path is the socket's, at most 107 bytes.
	Path string
	// VPP is served; it has no other user until Close has returned.
	VPP *vppmodel.VPP
	// Log receives one line about every dropped message, with the reason; nil drops it. Calls do not overlap.
	Log func(line string)
	// Faults are injectors in the words of `vppdrill describe faults`, as "(Request ip_route_add_del (Refuse -3))": the first that does
	// not pass decides about a request. Seed draws what they leave to chance.
	Faults []string
	Seed   uint64
	// Requests receives one line about every request, with what came of it; nil drops it. Calls do not overlap.
	Requests func(line string)
}

// Server is one modelled VPP on a socket.
type Server struct {
	log      func(string)
	table    *table
	listener *net.UnixListener
	started  time.Time
	clients  sync.WaitGroup
	requests func(string)
	closing  chan struct{}

	mu     sync.Mutex // over all below, and over log
	vpp    *vppmodel.VPP
	closed bool
	peers  map[uint32]*peer // by handle
	next   uint32
	faults []fault.Injector
	// events wait here while a request is performed, so that they come after its answer.
	events []event
}

type event struct {
	handle  uint32
	message api.Message
}

// Listen takes the socket and begins to serve. A socket without a listener is replaced; one in use and any other file
// are errors, and stay unchanged; so are faults that a served VPP cannot have.
func Listen(cfg Config) (*Server, error) {
	started := time.Now()
	faults, err := readFaults(cfg, started)
	if err != nil {
		return nil, err
	}
	l, err := take(cfg.Path)
	if err != nil {
		return nil, err
	}
	s := newServer(cfg)
	s.started, s.faults = started, faults
	s.listener = l
	s.clients.Go(s.accept)
	return s, nil
}

func newServer(cfg Config) *Server {
	s := &Server{log: cfg.Log, table: newTable(), started: time.Now(), vpp: cfg.VPP, peers: map[uint32]*peer{},
		requests: cfg.Requests, closing: make(chan struct{})}
	if s.log == nil {
		s.log = func(string) {}
	}
	s.vpp.Announce(func(client uint32, m api.Message) { s.events = append(s.events, event{client, m}) })
	return s
}

// Messages is how many messages the table has.
func (s *Server) Messages() int { return len(s.table.entries) }

// Close ends every connection, waits until the last request is done and removes the socket.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.closed {
		close(s.closing)
	}
	s.closed = true
	err := s.listener.Close()
	for _, p := range s.peers {
		p.end()
	}
	s.mu.Unlock()
	s.clients.Wait()
	s.vpp.Announce(nil)
	return err
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.tell("accept: " + err.Error())
			time.Sleep(10 * time.Millisecond) // out of descriptors, most likely: one of them will come back
			continue
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			conn.Close()
			return
		}
		s.next++
		p := newPeer(s.next|handleBit, conn)
		s.peers[p.handle] = p
		s.mu.Unlock()
		s.clients.Go(p.write)
		s.clients.Go(func() { s.serve(p) })
	}
}

func (s *Server) tell(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log(line)
}

// serve reads a client's messages until it ends.
func (s *Server) serve(p *peer) {
	defer s.drop(p)
	r := bufio.NewReader(p.conn)
	var buf []byte
	for {
		var err error
		if buf, err = readFrame(r, buf); err != nil {
			var bad errFrame
			if errors.As(err, &bad) || errors.Is(err, io.ErrUnexpectedEOF) {
				s.tell(p.name() + ": connection ended by " + err.Error())
			}
			return
		}
		if !s.perform(p, buf) {
			return
		}
	}
}

// drop forgets a client.
func (s *Server) drop(p *peer) {
	s.mu.Lock()
	delete(s.peers, p.handle)
	s.vpp.Forget(p.handle)
	s.mu.Unlock()
	p.end()
}

// perform performs one message and sends the answers; false ends the connection.
func (s *Server) perform(p *peer, data []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.table.decode(data)
	if errors.Is(err, errNotModelled) {
		if reply, client, context, name := s.table.unmodelled(data); reply != nil && client == p.handle {
			s.log(p.name() + ": refused: " + name + " is not modelled")
			s.send(p, reply, context)
			return true
		}
	}
	if err != nil {
		s.log(p.name() + ": dropped: " + err.Error())
		return true
	}
	switch m := r.message.(type) {
	case *memclnt.SockclntCreate:
		p.client = m.Name
		s.send(p, &memclnt.SockclntCreateReply{Index: p.handle, Count: uint16(len(s.table.entries)), MessageTable: s.table.entries}, r.context)
		return true
	case *memclnt.SockclntDelete:
		return s.deleted(p, m, r.context)
	}
	if r.client != p.handle {
		s.log(fmt.Sprintf("%s: dropped: %s for client %#x", p.name(), r.message.GetMessageName(), r.client))
		return true
	}
	v := s.judge(r.message)
	if v.Action == fault.Delay && !s.wait(v.Delay) {
		return false
	}
	answers, err := s.answer(p, r.message, v)
	if err != nil {
		s.log(p.name() + ": dropped: " + err.Error())
		return true
	}
	s.record(p, r.message, v, answers)
	for _, a := range answers {
		s.send(p, a, r.context)
	}
	for _, e := range s.events {
		if q := s.peers[e.handle]; q != nil {
			s.send(q, e.message, e.handle)
		}
	}
	s.events = s.events[:0]
	return true
}

// deleted ends a client at its own wish: it gets its answer and then the end of the connection.
func (s *Server) deleted(p *peer, m *memclnt.SockclntDelete, context uint32) bool {
	if m.Index|handleBit != p.handle {
		s.send(p, &memclnt.SockclntDeleteReply{Response: -1}, context)
		return true
	}
	s.send(p, &memclnt.SockclntDeleteReply{Response: 1}, context) // VPP's own figure; 0 is no success here
	return false
}

// send queues one answer.
func (s *Server) send(p *peer, m api.Message, context uint32) {
	data, err := s.table.encode(m, context)
	if err != nil {
		s.log(p.name() + ": not sent: " + err.Error())
		return
	}
	if !p.queue(data) {
		s.log(p.name() + ": connection ended: it does not read its answers")
	}
}

// Exists says why a path cannot be a socket: something else is there.
type Exists struct{ Path, What string }

func (e *Exists) Error() string { return fmt.Sprintf("%s is %s", e.Path, e.What) }

// pathMax is what the kernel's sockaddr_un holds beside its terminating zero, in bytes.
const pathMax = 107

// take makes the socket at path.
func take(path string) (*net.UnixListener, error) {
	if path == "" || len(path) > pathMax {
		return nil, fmt.Errorf("a socket's path has 1 to %d bytes, this one %d", pathMax, len(path))
	}
	address := &net.UnixAddr{Name: path, Net: "unix"}
	if at, err := os.Lstat(path); err == nil {
		if at.Mode()&os.ModeSocket == 0 {
			return nil, &Exists{path, "a file and no socket"}
		}
		if conn, err := net.DialUnix("unix", nil, address); err == nil {
			conn.Close()
			return nil, &Exists{path, "a socket in use"}
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("replace an old socket: %w", err)
		}
	}
	l, err := net.ListenUnix("unix", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", errors.Unwrap(err))
	}
	return l, nil
}
