package journal

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Found says what Open found besides records.
type Found struct {
	// Frames is how many frames counted, Bytes their length.
	Frames int
	Bytes  int64
	// Cut is how many bytes behind them did not count and have been cut off.
	Cut int64
	// Damage is why, where more than a write that was broken off by a crash has happened; nil otherwise. Also set when a
	// record could not be read: it was left out and the rest counts.
	Damage error
	// Quarantine is the file's copy as it was found, where there is Damage.
	Quarantine string
}

// content is what the bytes of a file say.
type content struct {
	records []agent.Record
	frames  int
	whole   int // bytes of frames that count
	torn    bool
	damage  error
}

// framed is one frame that counts: where it stands, and which of all records are its own.
type framed struct {
	payload     []byte
	at          int
	first, last int
	damage      error
}

// read takes frames from the start as long as they count.
func read(data []byte) content {
	var c content
	var frames []framed
	records := 0
	for c.whole < len(data) {
		payload, n, size, err := nextFrame(data[c.whole:])
		if err != nil {
			c.judge(data[c.whole:], err)
			break
		}
		frames = append(frames, framed{payload: payload, at: c.whole, first: records, last: records + n})
		records += n
		c.whole += size
	}
	c.frames = len(frames)
	c.parse(frames, records)
	return c
}

// parse reads the records of all frames, several frames at once: a large node's journal is long, and whoever waits for it
// answers no request.
func (c *content) parse(frames []framed, records int) {
	if records == 0 {
		return
	}
	c.records = make([]agent.Record, records)
	var workers sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(frames)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(frames)); i = next.Add(1) - 1 {
				frames[i].parse(c.records)
			}
		})
	}
	workers.Wait()
	var damage []error
	for i := range frames {
		if err := frames[i].damage; err != nil {
			damage = append(damage, err)
		}
	}
	if damage != nil {
		c.damage = errors.Join(append(damage, c.damage)...)
		c.records = slices.DeleteFunc(c.records, func(r agent.Record) bool { return r.Kind == 0 })
	}
}

// parse fills the frame's part of all records; what cannot be read stays without a kind.
func (f *framed) parse(all []agent.Record) {
	i := f.first
	lines(f.payload, func(line string) {
		r, err := agent.ParseRecord(line)
		if err != nil {
			f.damage = errors.Join(f.damage, fmt.Errorf("at byte %d: left out: %w", f.at, err))
		}
		all[i] = r
		i++
	})
}

// judge tells a write that a crash broke off from damage: the former leaves the start of a frame, perhaps filled up with
// zeros by the file system, and nothing whole behind it.
func (c *content) judge(tail []byte, why error) {
	c.torn = errors.Is(why, errShort) || tail[len(tail)-1] == 0
	if wholeFrameIn(tail) {
		c.torn = false
		why = fmt.Errorf("%w, and whole frames follow it", why)
	}
	if !c.torn {
		c.damage = errors.Join(c.damage, fmt.Errorf("at byte %d: %w", c.whole, why))
	}
}

// wholeFrameIn reports whether a frame that counts begins at any later line of data.
func wholeFrameIn(data []byte) bool {
	mark := []byte("\n" + frameWord)
	for at := 0; ; {
		i := bytes.Index(data[at:], mark)
		if i < 0 {
			return false
		}
		at += i + 1
		if _, _, _, err := nextFrame(data[at:]); err == nil {
			return true
		}
	}
}
