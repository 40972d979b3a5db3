package engine

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/zeebo/xxh3"
)

// Digest identifies a trail of events. Its text is 32 lower-case hex digits; the zero Digest is that of the empty
// trail.
type Digest [16]byte

func (d Digest) String() string { return string(d.AppendText(nil)) }

// AppendText appends what String returns.
func (d Digest) AppendText(b []byte) []byte { return hex.AppendEncode(b, d[:]) }

// MarshalText returns what String returns.
func (d Digest) MarshalText() ([]byte, error) { return d.AppendText(nil), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(text []byte) error {
	x, err := ParseDigest(string(text))
	if err == nil {
		*d = x
	}
	return err
}

// ParseDigest reads what String wrote and nothing else.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	if len(s) != 2*len(d) {
		return Digest{}, fmt.Errorf("digest %q has %d characters, not %d", s, len(s), 2*len(d))
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return Digest{}, fmt.Errorf("digest %q: %w", s, err)
	}
	if d.String() != s {
		return Digest{}, fmt.Errorf("digest %q has upper-case digits", s)
	}
	return d, nil
}

// chain is the running hash: each link hashes the digest before it, the event's time and its line. The three lie one
// after the other in buf, which is reused.
type chain struct {
	buf []byte
}

const (
	chainTime = len(Digest{})
	chainLine = chainTime + 8
)

// link adds an event and returns its line, valid until the next call.
func (c *chain) link(at time.Duration, ev Event) []byte {
	if c.buf == nil {
		c.buf = make([]byte, chainLine, 256)
	}
	b := ev.AppendText(c.buf[:chainLine])
	binary.BigEndian.PutUint64(b[chainTime:], uint64(at))
	h := xxh3.Hash128(b)
	binary.BigEndian.PutUint64(b[0:], h.Hi)
	binary.BigEndian.PutUint64(b[8:], h.Lo)
	c.buf = b[:chainLine]
	return b[chainLine:]
}

func (c *chain) digest() (d Digest) {
	copy(d[:], c.buf)
	return d
}
