package ipam

import (
	"math"
	"net/netip"
	"strings"
	"time"
)

// RecordReader reads many records, as ParseRecord would, for whoever waits for a long history. What neighbours share is
// kept once: network and interface name, and the block. The zero RecordReader is ready.
type RecordReader struct {
	network, ifName string // of the last owner, both with nothing wrong in them
	block           string // the text of prefix
	prefix          netip.Prefix
	texts           texts
}

// Read reads one line into r. The record keeps nothing of the line, whose memory may be used again. On an error, which
// is ParseRecord's, r is the zero Record.
func (p *RecordReader) Read(r *Record, line string) error {
	if p.read(r, line) {
		return nil
	}
	var err error
	*r, err = ParseRecord(strings.Clone(line))
	return err
}

// read reads what nearly all lines of a history look like; false where ParseRecord has to look at it.
func (p *RecordReader) read(r *Record, line string) bool {
	op, rest, _ := cut(line)
	owner, rest, _ := cut(rest)
	addr, rest, ok := cut(rest)
	var at string
	if n := len(p.block); ok && n > 0 && len(rest) > n && rest[n] == ' ' && rest[:n] == p.block {
		at = rest[n+1:]
	} else if at, ok = p.blockOf(rest); !ok {
		return false
	}
	ns, ok := nanoseconds(at)
	if r.Op = recordOp(op); r.Op == 0 || !ok || !p.owner(&r.Owner, owner) || !p.addr(&r.Addr, addr) {
		return false
	}
	r.Prefix, r.At = p.prefix, time.Unix(0, ns).UTC()
	return true
}

// cut cuts at the first blank.
func cut(text string) (before, after string, ok bool) {
	if i := strings.IndexByte(text, ' '); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}

// blockOf reads a block that is not the one before, and returns what is behind it.
func (p *RecordReader) blockOf(text string) (rest string, ok bool) {
	block, rest, ok := cut(text)
	prefix, err := netip.ParsePrefix(block)
	if !ok || err != nil || prefix != prefix.Masked() {
		return "", false
	}
	p.block, p.prefix = strings.Clone(block), prefix
	return rest, true
}

// owner reads network/containerID/ifName.
func (p *RecordReader) owner(o *Owner, text string) bool {
	if text == "-" {
		*o = Owner{}
		return true
	}
	// As a rule it is the network and the interface of the last one.
	first, second := len(p.network), len(text)-len(p.ifName)-1
	if first == 0 || first >= second || text[first] != '/' || text[second] != '/' || text[:first] != p.network || text[second+1:] != p.ifName {
		first, second = strings.IndexByte(text, '/'), strings.LastIndexByte(text, '/')
		if first == second || !plain(text[:first]) || !plain(text[second+1:]) {
			return false
		}
		p.network, p.ifName = strings.Clone(text[:first]), strings.Clone(text[second+1:])
	}
	container := text[first+1 : second]
	if !plain(container) {
		return false
	}
	*o = Owner{Network: p.network, ContainerID: p.texts.keep(container), IfName: p.ifName}
	return true
}

func (p *RecordReader) addr(a *netip.Addr, text string) bool {
	if text == "-" {
		*a = netip.Addr{}
		return true
	}
	var ok bool
	if *a, ok = dotted(text); ok {
		return true
	}
	var err error
	*a, err = netip.ParseAddr(text)
	return err == nil
}

// dotted reads an IPv4 address; false for everything else.
func dotted(text string) (netip.Addr, bool) {
	var b [4]byte
	octet, digits, n := 0, 0, 0
	for i := range len(text) {
		c := text[i] - '0'
		switch {
		case c <= 9:
			if octet = octet*10 + int(c); octet > 255 || digits > 0 && octet < 10 {
				return netip.Addr{}, false
			}
			digits++
		case text[i] == '.' && digits > 0 && n < 3:
			b[n] = byte(octet)
			n++
			octet, digits = 0, 0
		default:
			return netip.Addr{}, false
		}
	}
	if n < 3 || digits == 0 {
		return netip.Addr{}, false
	}
	b[3] = byte(octet)
	return netip.AddrFrom4(b), true
}

// nanoseconds reads a number >= 0 without a sign.
func nanoseconds(text string) (int64, bool) {
	if len(text) == 0 || len(text) > 19 { // 19 digits fit into a uint64
		return 0, false
	}
	var n uint64
	for len(text) >= 8 {
		eight, ok := eightDigits(bytes8(text))
		if !ok {
			return 0, false
		}
		n, text = n*100_000_000+eight, text[8:]
	}
	for i := range len(text) {
		c := text[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	return int64(n), n <= math.MaxInt64
}

// texts keeps many short texts in few pieces of memory. A piece lives as long as any text in it.
type texts struct{ piece strings.Builder }

// textsSize is the size of a piece: Go's largest size class, and 512 container IDs.
const textsSize = 32 << 10

// keep returns a copy of text.
func (t *texts) keep(text string) string {
	if t.piece.Cap()-t.piece.Len() < len(text) {
		if len(text) > textsSize/16 {
			return strings.Clone(text)
		}
		t.piece.Reset()
		t.piece.Grow(textsSize)
	}
	start := t.piece.Len()
	t.piece.WriteString(text)
	return t.piece.String()[start:]
}
