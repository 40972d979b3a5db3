package packettrace

import (
	"net/netip"
	"regexp"
	"strings"
)

// Packet is one packet's way through one VPP, as its tracer tells it.
type Packet struct{ Steps []Step }

// Step is one node of VPP's graph.
type Step struct {
	// Node is the graph's node, Text what it says of the packet, one line after the other without the leading blanks.
	Node string
	Text []string
}

// Flow is what tells a packet from others: addresses, protocol, and ports or an ICMP identifier in both places. The zero
// Flow is none.
type Flow struct {
	Proto    string // as VPP writes it: "UDP", "TCP", "ICMP"
	Src, Dst netip.AddrPort
}

// Back is the flow of the answers.
func (f Flow) Back() Flow { return Flow{f.Proto, f.Dst, f.Src} }

var (
	stepLine = regexp.MustCompile(`^\d+:\d+:\d+:\d+: (\S+)$`)
	hostLine = regexp.MustCompile(`^(ICMP6?|UDP|TCP): (\S+) -> (\S+)$`)
	portLine = regexp.MustCompile(`^(?:UDP|TCP): (\d+) -> (\d+)$`)
	icmpLine = regexp.MustCompile(`^ICMP echo_re\w+ .*\bid (\d+)`)
)

// parse reads VPP's text about one packet.
func parse(text string) (p Packet) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n\x00 ")
		if m := stepLine.FindStringSubmatch(line); m != nil {
			p.Steps = append(p.Steps, Step{Node: m[1]})
		} else if n := len(p.Steps); n > 0 && strings.TrimSpace(line) != "" {
			p.Steps[n-1].Text = append(p.Steps[n-1].Text, strings.TrimSpace(line))
		}
	}
	return p
}

// packets reads VPP's texts about packets.
func packets(texts []string) (out []Packet) {
	for _, t := range texts {
		if p := parse(t); len(p.Steps) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// flow is what a step says of the packet's addresses; false where it says nothing.
func (s Step) flow() (f Flow, ok bool) {
	for _, line := range s.Text {
		if m := hostLine.FindStringSubmatch(line); m != nil && !ok {
			src, err := netip.ParseAddr(m[2])
			dst, err2 := netip.ParseAddr(m[3])
			if err == nil && err2 == nil {
				f, ok = Flow{strings.TrimSuffix(m[1], "6"), netip.AddrPortFrom(src, 0), netip.AddrPortFrom(dst, 0)}, true
				continue
			}
		}
		if m := portLine.FindStringSubmatch(line); m != nil && ok {
			f.Src, f.Dst = netip.AddrPortFrom(f.Src.Addr(), uint16(number(m[1]))), netip.AddrPortFrom(f.Dst.Addr(), uint16(number(m[2])))
			break
		}
		if m := icmpLine.FindStringSubmatch(line); m != nil && ok {
			id := uint16(number(m[1]))
			f.Src, f.Dst = netip.AddrPortFrom(f.Src.Addr(), id), netip.AddrPortFrom(f.Dst.Addr(), id)
			break
		}
	}
	return f, ok
}

// flows are the first and the last that a packet's steps tell: as it came in, and as it left.
func (p Packet) flows() (first, last Flow) {
	for _, s := range p.Steps {
		if f, ok := s.flow(); ok {
			if first == (Flow{}) {
				first = f
			}
			last = f
		}
	}
	return first, last
}

// has reports whether the packet was of a flow at some step.
func (p Packet) has(f Flow) bool {
	for _, s := range p.Steps {
		if g, ok := s.flow(); ok && g == f {
			return true
		}
	}
	return false
}

// graph is the packet's way through VPP's graph in one line.
func (p Packet) graph() string {
	names := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		names[i] = s.Node
	}
	return strings.Join(names, " ")
}
