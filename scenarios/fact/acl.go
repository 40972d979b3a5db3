package fact

import "net/netip"

// ACLRule is one rule that an interface's packets are held against. TCP flags are not asked for.
type ACLRule struct {
	// Permit: a packet that it matches passes. Reflect: so do the answers to it, whatever the other direction's rules say.
	Permit, Reflect bool
	Src, Dst        netip.Prefix
	// Proto of 0 is every protocol; ports do not matter then.
	Proto uint8
	// SrcPorts and DstPorts are first and last; ICMP's type and code stand there too.
	SrcPorts, DstPorts [2]uint16
}

// Matches reports whether the rule is about a packet.
func (r *ACLRule) Matches(src, dst netip.Addr, proto uint8, sport, dport uint16) bool {
	return r.Src.Contains(src) && r.Dst.Contains(dst) && (r.Proto == 0 || r.Proto == proto && within(r.SrcPorts, sport) && within(r.DstPorts, dport))
}

func within(ports [2]uint16, port uint16) bool { return ports[0] <= port && port <= ports[1] }
