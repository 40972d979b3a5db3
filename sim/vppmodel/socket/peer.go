package socket

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// unreadMax is how many bytes of answers wait for a client before it is taken for dead: some dumps of the largest
// tables.
const unreadMax = 256 << 20

// lastWrite is how long an ended connection may take to accept what is queued for it.
const lastWrite = time.Second

// peer is one connection. Answers are queued, so that a client that does not read delays no other one.
type peer struct {
	handle uint32
	conn   *net.UnixConn
	client string // the name that it gave

	mu     sync.Mutex
	wake   *sync.Cond
	out    []byte
	ending bool
}

func newPeer(handle uint32, conn *net.UnixConn) *peer {
	p := &peer{handle: handle, conn: conn}
	p.wake = sync.NewCond(&p.mu)
	return p
}

func (p *peer) name() string { return fmt.Sprintf("client %d %q", p.handle&^handleBit, p.client) }

// queue appends a message to what is sent; false when there is too much of it, and then the connection ends.
func (p *peer) queue(message []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending {
		return true
	}
	if len(p.out) > unreadMax {
		p.ending, p.out = true, nil
		p.conn.Close()
		p.wake.Signal()
		return false
	}
	p.out = appendFrame(p.out, message)
	p.wake.Signal()
	return true
}

// end lets the writer finish what is queued and close the connection; reading ends now.
func (p *peer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending = true
	_ = p.conn.CloseRead() // it may be closed already
	_ = p.conn.SetWriteDeadline(time.Now().Add(lastWrite))
	p.wake.Signal()
}

// write sends what is queued until the end.
func (p *peer) write() {
	defer p.conn.Close()
	var batch []byte
	for {
		p.mu.Lock()
		for len(p.out) == 0 && !p.ending {
			p.wake.Wait()
		}
		if len(p.out) == 0 {
			p.mu.Unlock()
			return
		}
		batch, p.out = p.out, batch[:0]
		p.mu.Unlock()
		if _, err := p.conn.Write(batch); err != nil {
			p.end()
			return
		}
	}
}
