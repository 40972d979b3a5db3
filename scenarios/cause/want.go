package cause

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// want is a subject of the chain, and the event that made it one.
type want struct {
	depth int
	leads int64
	// plain is its form in event lines.
	plain []string
}

// want adds subjects of the walk. Present ones stay unchanged, because they are nearer.
func (w *walk) want(tokens []string, depth int, leads int64) {
	if depth > depthMost {
		return
	}
	for _, t := range tokens {
		if w.wanted[t] != nil || depth > 0 && strings.HasPrefix(t, "b:") && len(w.order) > 24 {
			continue
		}
		x := &want{depth: depth, leads: leads}
		kind, name, _ := strings.Cut(t, ":")
		switch kind {
		case "a", "b", "p":
			x.plain = []string{name}
		case "i":
			x.plain = []string{"allocatedIDs/" + name}
		case "d":
			_, device, _ := strings.Cut(name, " ")
			x.plain = []string{device}
		}
		w.wanted[t] = x
		w.order = append(w.order, t)
	}
}

// holding is an address of the law that lies in one of the tokens' blocks.
func (w *walk) holding(tokens []string) (*want, string) {
	for _, t := range tokens {
		block, err := netip.ParsePrefix(strings.TrimPrefix(t, "b:"))
		if err != nil || t[0] != 'b' {
			continue
		}
		for _, o := range w.order {
			if addr, err := netip.ParseAddr(strings.TrimPrefix(o, "a:")); err == nil && o[0] == 'a' && w.wanted[o].depth == 0 && block.Contains(addr) {
				return w.wanted[o], t
			}
		}
	}
	return nil, ""
}

// ownerless reports whether a token's block holds an address of the law that no pod was ever given.
func (w *walk) ownerless(block string) bool {
	prefix, err := netip.ParsePrefix(strings.TrimPrefix(block, "b:"))
	if err != nil {
		return false
	}
	for _, o := range w.order {
		addr, err := netip.ParseAddr(strings.TrimPrefix(o, "a:"))
		if err == nil && o[0] == 'a' && w.wanted[o].depth == 0 && prefix.Contains(addr) && !slices.ContainsFunc(w.r.facts, func(x told) bool {
			l, ok := x.fact.What.(fact.Leased)
			return ok && l.Addr == addr
		}) {
			return true
		}
	}
	return false
}

// joins reports whether a call's line has two addresses of the law: it ties one to the other.
func (w *walk) joins(line string) bool {
	n := 0
	for _, t := range w.order {
		if x := w.wanted[t]; x.depth == 0 && t[0] == 'a' && mentions(line, t[2:]) {
			n++
		}
	}
	return n > 1
}

// nearest is the wanted subject, among tokens of some kinds, that is nearest to the law.
func (w *walk) nearest(tokens []string, kinds string) (best *want, token string) {
	for _, t := range tokens {
		if x := w.wanted[t]; x != nil && strings.Contains(kinds, t[:1]) && (best == nil || x.depth < best.depth) {
			best, token = x, t
		}
	}
	return best, token
}

// mentioned is the nearest wanted subject in a line of a node. Devices are those of the node.
func (w *walk) mentioned(node, line string) (best *want, token string) {
	for _, t := range w.order {
		x := w.wanted[t]
		if best != nil && x.depth >= best.depth || t[0] == 'd' && !strings.HasPrefix(t, "d:"+node+" ") {
			continue
		}
		for _, p := range x.plain {
			if mentions(line, p) {
				best, token = x, t
			}
		}
		if pod, ok := strings.CutPrefix(t, "p:"); ok && best != x {
			for _, id := range containerPattern.FindAllString(line, 2) {
				if w.r.pods[head(strings.ReplaceAll(id, "-", ""))] == pod {
					best, token = x, t
				}
			}
		}
	}
	return best, token
}

// mentions reports whether a line has a whole word.
func mentions(line, word string) bool {
	for from := 0; ; {
		i := strings.Index(line[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !inWord(line[i-1])) && (end == len(line) || !inWord(line[end])) {
			return true
		}
		from = i + 1
	}
}

func inWord(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '.' || c == '-' }
