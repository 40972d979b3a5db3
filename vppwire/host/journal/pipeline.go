package journal

import (
	"cmp"
	"io"
	"runtime"
	"sync"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// pieceSize is how much of a file is worked on at once: some hundred records, which fit into a processor's own cache
// with their text.
const pieceSize = 128 << 10

// pipeline reads a file's frames. Several goroutines take turns at reading a piece, then check and parse it, each its
// own, while whoever calls run gets the records in the file's order. A large node's journal is long, and whoever waits
// for it answers no request.
type pipeline struct {
	file io.ReaderAt
	size int64
	room int // of a piece
	take func(*agent.History)

	mu   sync.Mutex
	next int64 // where the next piece begins
	done bool  // there is none

	// What run finds.
	frames     int
	whole      int64
	unreadable []error
	unknown    []error
}

// run takes frames up to the first that does not count.
func (p *pipeline) run() error {
	if p.size <= int64(p.room) {
		return p.runAlone()
	}
	workers := runtime.GOMAXPROCS(0)
	pieces := 2*workers + 2
	free, order := make(chan *piece, pieces), make(chan *piece, pieces)
	for range pieces {
		free <- &piece{done: make(chan struct{}, 1)}
	}
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for c := range free {
				if !p.fill(c, order) {
					return
				}
				c.parse()
				c.done <- struct{}{}
			}
		})
	}
	defer all.Wait()
	defer close(free)
	for c := range order {
		<-c.done
		if more, err := p.taken(c); !more {
			p.stop()
			return err
		}
		free <- c
	}
	return nil
}

// fill reads the next piece and puts it last in order, which it closes behind the last one; false where there is none.
func (p *pipeline) fill(c *piece, order chan<- *piece) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return false
	}
	var more bool
	p.next, more = c.fill(p.file, p.next, p.size, p.room)
	order <- c // there is room for all pieces
	if p.done = !more; p.done {
		close(order)
	}
	return true
}

// stop lets nobody read any more.
func (p *pipeline) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
}

// runAlone is run without other goroutines.
func (p *pipeline) runAlone() error {
	var c piece
	for at, more := int64(0), true; more; {
		at, more = c.fill(p.file, at, p.size, p.room)
		c.parse()
		if ok, err := p.taken(&c); !ok {
			return err
		}
	}
	return nil
}

// taken gives a piece's records on. more is false where nothing behind it counts.
func (p *pipeline) taken(c *piece) (more bool, err error) {
	if err := cmp.Or(c.err, c.newer); err != nil {
		return false, err
	}
	p.frames += c.frames
	p.whole = c.whole()
	p.unreadable = append(p.unreadable, c.unreadable...)
	p.unknown = append(p.unknown, c.unknown...)
	if c.history.Len() > 0 {
		p.take(&c.history)
	}
	return c.frames == len(c.ends), nil
}
