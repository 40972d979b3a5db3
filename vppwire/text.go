package vppwire

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// ParseObject reads what an Object's AppendText wrote: ParseObject(text of o) == o.
func ParseObject(line string) (Object, error) {
	p := &words{line: line, left: strings.Split(line, " ")}
	o := p.object()
	if p.err == nil && len(p.left) > 0 {
		p.fail("%q is left over", p.left[0])
	}
	if p.err != nil {
		return nil, p.err
	}
	return o, nil
}

// words reads a line word by word; the first error stays.
type words struct {
	line string
	left []string
	err  error
}

func (p *words) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("object %q: %s", p.line, fmt.Sprintf(format, args...))
	}
}

func (p *words) word() string {
	if len(p.left) == 0 || p.left[0] == "" {
		p.fail("a word is missing")
		return ""
	}
	w := p.left[0]
	p.left = p.left[1:]
	return w
}

// has takes the next word if it is w.
func (p *words) has(w string) bool {
	if len(p.left) > 0 && p.left[0] == w {
		p.left = p.left[1:]
		return true
	}
	return false
}

// table takes "table 1" where it comes; table 0 goes without saying.
func (p *words) table() uint32 {
	if !p.has("table") {
		return 0
	}
	id := uint32(p.number(32))
	if id == 0 {
		p.fail("table 0 goes without saying")
	}
	return id
}

func (p *words) expect(w string) {
	if got := p.word(); got != w {
		p.fail("want %q, have %q", w, got)
	}
}

func (p *words) number(bits int) uint64 {
	w := p.word()
	n, err := strconv.ParseUint(w, 10, bits)
	if err != nil || strconv.FormatUint(n, 10) != w {
		p.fail("%q is not a number of %d bits", w, bits)
	}
	return n
}

func (p *words) named(w string, bits int) uint64 { p.expect(w); return p.number(bits) }

// counted is a number that is not 0.
func (p *words) counted(bits int) uint64 {
	n := p.number(bits)
	if n == 0 {
		p.fail("0 is not taken")
	}
	return n
}

func (p *words) mac() (m MAC) {
	w := p.word()
	hw, err := net.ParseMAC(w)
	if err != nil || len(hw) != 6 || hw.String() != w {
		p.fail("%q is not a MAC", w)
		return m
	}
	return MAC(hw)
}

func (p *words) addr() netip.Addr {
	w := p.word()
	a, err := netip.ParseAddr(w)
	if err != nil || a.String() != w || a.Is4In6() || a.Zone() != "" {
		p.fail("%q is not an address", w)
		return netip.Addr{}
	}
	return a
}

// addr4 is addr of IPv4.
func (p *words) addr4() netip.Addr {
	a := p.addr()
	if p.err == nil && !a.Is4() {
		p.fail("%s is not an IPv4 address", a)
		return netip.Addr{}
	}
	return a
}

func (p *words) prefix() netip.Prefix {
	w := p.word()
	x, err := netip.ParsePrefix(w)
	if err != nil || x.String() != w || x.Addr().Is4In6() {
		p.fail("%q is not a prefix", w)
		return netip.Prefix{}
	}
	return x
}

func (p *words) masked() netip.Prefix {
	x := p.prefix()
	if x != x.Masked() {
		p.fail("%s has host bits", x)
	}
	return x
}

// numbered reads an interface name of the given kind and returns its number.
func (p *words) numbered(prefix string) uint32 {
	w := p.word()
	n, err := strconv.ParseUint(strings.TrimPrefix(w, prefix), 10, 32)
	if err != nil || prefix+strconv.FormatUint(n, 10) != w {
		p.fail("%q is not %s and a number", w, prefix)
	}
	return uint32(n)
}

// netnsName reads "[netns PATH] NAME".
func (p *words) netnsName() (netns, name string) {
	if p.has("netns") {
		netns = p.word()
	}
	return netns, p.word()
}

// object reads a whole line: the kind's word, then what its kind makes of the rest.
func (p *words) object() Object {
	word := p.word()
	for _, k := range kinds {
		if k.word == word && word != "" {
			return k.object.parse(p)
		}
	}
	p.fail("unknown kind %q", word)
	return nil
}

// appendNetns appends what netnsName reads, behind the kind's word.
func appendNetns(b []byte, kind, netns, name string) []byte {
	b = append(b, kind...)
	if netns != "" {
		b = appendWord(b, " netns", netns)
	}
	return appendWord(append(b, ' '), name)
}

func appendWord(b []byte, words ...string) []byte {
	for i, w := range words {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, w...)
	}
	return b
}

func appendNumber(b []byte, word string, n uint64) []byte {
	b = append(b, ' ')
	b = append(b, word...)
	b = append(b, ' ')
	return strconv.AppendUint(b, n, 10)
}

func appendUint(b []byte, n uint32) []byte { return strconv.AppendUint(b, uint64(n), 10) }
