package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

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
	// Unknown are records of kinds that this version does not know: a newer one has written them. They were left out, as
	// those kinds allow, and are gone with the next rewriting.
	Unknown error
	// Quarantine is the file's copy as it was found, where there is Damage.
	Quarantine string
}

// content is what the bytes of a file say besides their records.
type content struct {
	frames int
	whole  int64 // bytes of frames that count
	torn   bool
	damage error
	// unknown are lines of kinds that only a newer version knows.
	unknown error
}

// read takes frames from the start of a file as long as they count, and gives their records to take, oldest first and
// some at a time; take must not keep the History. The file is read in pieces of so many bytes. An error is the disk's.
func read(f io.ReaderAt, size int64, piece int, take func(*agent.History)) (content, error) {
	p := pipeline{file: f, size: size, room: piece, take: take}
	if err := p.run(); err != nil {
		return content{}, err
	}
	c := content{frames: p.frames, whole: p.whole, damage: errors.Join(p.unreadable...), unknown: errors.Join(p.unknown...)}
	if c.whole == size {
		return c, nil
	}
	tail := make([]byte, size-c.whole)
	if err := readFull(f, tail, c.whole); err != nil {
		return content{}, err
	}
	_, _, _, why := nextFrame(tail)
	if why == nil {
		return content{}, fmt.Errorf("at byte %d: the file changes while it is read", c.whole)
	}
	c.judge(tail, why)
	return c, nil
}

// readFull reads so many bytes, or says why there are fewer.
func readFull(f io.ReaderAt, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// judge tells a write that a crash broke off from damage: the former leaves the start of a frame, perhaps filled up
// with zeros by the file system, and nothing whole behind it.
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

// piece is some frames of a file at work. It is used again and again, so that a long journal needs little memory.
type piece struct {
	at     int64 // where in the file its data stands
	data   []byte
	ends   []int // of its frames, which follow each other from the start of data
	frames int   // how many of them count
	// history is what the frames that count hold.
	history    agent.History
	unreadable []error
	unknown    []error
	newer      error // the journal is not for this version
	err        error // the disk's
	done       chan struct{}
}

// fill reads what stands at an offset, up to the end of the last frame that is there as a whole, and returns that end.
// It looks at headers only. more is false where the file ends, or a frame that cannot count begins.
func (p *piece) fill(f io.ReaderAt, at, size int64, room int) (end int64, more bool) {
	p.at, p.ends, p.err = at, p.ends[:0], nil
	p.load(f, room, size)
	for begin := 0; p.err == nil; {
		if at+int64(begin) == size {
			return size, false
		}
		need, ok := frameSize(p.data[begin:], size-at-int64(begin))
		switch {
		case !ok:
			return at + int64(begin), false
		case begin+need <= len(p.data):
			begin += need
			p.ends = append(p.ends, begin)
			continue
		case begin > 0:
			return at + int64(begin), true // the next piece begins with it
		}
		p.load(f, need, size) // larger than a piece
	}
	return at, false
}

// load reads so many bytes of the file, or all that are left of it.
func (p *piece) load(f io.ReaderAt, room int, size int64) {
	n := int(min(int64(room), size-p.at))
	p.data = slices.Grow(p.data[:0], n)[:n]
	p.err = readFull(f, p.data, p.at)
}

// frameSize is how many bytes the frame that data begins with has, or at least has where data ends within its header;
// false where it has no header, or more than the file has left.
func frameSize(data []byte, left int64) (size int, ok bool) {
	end := bytes.IndexByte(data[:min(len(data), headerMax)], '\n')
	if end < 0 {
		return len(data) + 1, len(data) < headerMax && int64(len(data)) < left
	}
	_, length, _, ok := parseHeader(data[:end])
	size = end + 1 + length
	return size, ok && int64(length) <= left-int64(end)-1
}

// parse checks the frames and reads their records, up to the first frame that does not count.
func (p *piece) parse() {
	p.history.Reset()
	p.unreadable, p.unknown, p.newer, p.frames = nil, nil, nil, 0
	begin := 0
	for _, end := range p.ends {
		payload, _, _, err := nextFrame(p.data[begin:end])
		if err != nil {
			return
		}
		lines(payload, func(line string) {
			p.note(begin, p.history.Read(line))
		})
		p.frames++
		begin = end
	}
}

// note files what is wrong with a line of the frame that begins there.
func (p *piece) note(begin int, err error) {
	if err == nil {
		return
	}
	err = fmt.Errorf("at byte %d: left out: %w", p.at+int64(begin), err)
	switch {
	case errors.Is(err, agent.ErrNewer):
		p.newer = err
	case errors.Is(err, agent.ErrUnknownRecord):
		p.unknown = append(p.unknown, err)
	default:
		p.unreadable = append(p.unreadable, err)
	}
}

// whole is where the last frame that counts ends.
func (p *piece) whole() int64 {
	if p.frames == 0 {
		return p.at
	}
	return p.at + int64(p.ends[p.frames-1])
}
