package vppwire

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ACLAction is what a rule does with a packet that it matches.
type ACLAction uint8

// Actions, with VPP's numbers. A packet that Reflect lets through begins a session: the answers to it pass the same
// interface whatever the rules of the other direction say.
const (
	ACLDeny ACLAction = iota
	ACLPermit
	ACLReflect
)

var aclActions = [...]string{ACLDeny: "deny", ACLPermit: "permit", ACLReflect: "reflect"}

// ACLRule is one rule of an ACL. Proto 0 is every protocol; First to Last are the destination's ports, which only rules
// of TCP and UDP ask for.
type ACLRule struct {
	Action      ACLAction
	Src, Dst    netip.Prefix
	Proto       Proto
	First, Last uint16
}

// Matches reports whether the rule is about a packet. Prefixes of the other family match none of its addresses.
func (r ACLRule) Matches(src, dst netip.Addr, proto Proto, port uint16) bool {
	return r.Src.Contains(src) && r.Dst.Contains(dst) && (r.Proto == 0 || r.Proto == proto && r.First <= port && port <= r.Last)
}

// Permits reports whether the first rule that is about a packet lets it through. What no rule is about is denied, as it
// is by VPP.
func Permits(rules []ACLRule, src, dst netip.Addr, proto Proto, port uint16) bool {
	for _, r := range rules {
		if r.Matches(src, dst, proto, port) {
			return r.Action != ACLDeny
		}
	}
	return false
}

// CompareACLRules orders rules for texts that do not depend on how the rules came about.
func CompareACLRules(a, b ACLRule) int {
	return cmp.Or(int(a.Action)-int(b.Action), a.Src.Compare(b.Src), a.Dst.Compare(b.Dst), int(a.Proto)-int(b.Proto), int(a.First)-int(b.First), int(a.Last)-int(b.Last))
}

// FormatACLRules is the canonical text of rules in their order: "reflect/10.1.1.2/32>0.0.0.0/0+tcp+80-90,…". No rule is
// no text.
func FormatACLRules(list []ACLRule) string {
	b := make([]byte, 0, 48*len(list))
	for i, r := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, aclActions[r.Action]...), '/')
		b = append(r.Src.AppendTo(b), '>')
		b = r.Dst.AppendTo(b)
		if r.Proto != 0 {
			b = append(append(b, '+'), r.Proto.String()...)
			b = strconv.AppendUint(append(b, '+'), uint64(r.First), 10)
			b = strconv.AppendUint(append(b, '-'), uint64(r.Last), 10)
		}
	}
	return string(b)
}

// ParseACLRules reads what FormatACLRules wrote, false for any other text.
func ParseACLRules(text string) (list []ACLRule, ok bool) {
	if text == "" {
		return nil, true
	}
	for one := range strings.SplitSeq(text, ",") {
		action, rest, _ := strings.Cut(one, "/")
		ends, l4, hasPorts := strings.Cut(rest, "+")
		src, dst, _ := strings.Cut(ends, ">")
		r := ACLRule{Action: ACLAction(max(0, slices.Index(aclActions[:], action)))}
		var err [4]error
		r.Src, err[0] = netip.ParsePrefix(src)
		r.Dst, err[1] = netip.ParsePrefix(dst)
		if hasPorts {
			word, ports, _ := strings.Cut(l4, "+")
			r.Proto = protoOf(word)
			first, last, _ := strings.Cut(ports, "-")
			var n [2]uint64
			n[0], err[2] = strconv.ParseUint(first, 10, 16)
			n[1], err[3] = strconv.ParseUint(last, 10, 16)
			r.First, r.Last = uint16(n[0]), uint16(n[1])
		}
		if err != [4]error{} {
			return nil, false
		}
		list = append(list, r)
	}
	return list, FormatACLRules(list) == text
}
