package reports

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// addressMap shows which pod held which address of one node when.
type addressMap struct {
	Node   string
	Rows   []addressRow
	Ticks  []tick
	Height int
	// Failure is where the run's failure stands, -1 without one.
	Failure float64
	// RowsCut and SpansCut say what is not drawn.
	RowsCut, SpansCut int
	// Spans counts what is drawn.
	Spans int
}

// HasFailure reports whether the failure's line is drawn.
func (m addressMap) HasFailure() bool { return m.Failure >= 0 }

// addressRow is one address with its holders in time order.
type addressRow struct {
	Addr string
	Top  int
	// Named says that the failure's sentence names this address.
	Named bool
	Spans []holding
	// Clashes are the stretches with two holders at once.
	Clashes []holding
}

// Bar is where the spans' upper edge is, Middle the baseline of the address.
func (r addressRow) Bar() int    { return r.Top + 2 }
func (r addressRow) Middle() int { return r.Top + 12 }

// holding is one pod holding the address.
type holding struct {
	From, Width float64
	// Odd alternates between holders, so that a change of hands shows without colour.
	Odd  bool
	Open bool
	Text string
}

// addressMapsOf draws the nodes that matter most: the failure's own first, then those with the most to show.
func addressMapsOf(s result.Result, span stretch) (maps []addressMap, cut int) {
	by := map[string][]result.Held{}
	var nodes []string
	for _, h := range s.Addresses {
		if by[h.Node] == nil {
			nodes = append(nodes, h.Node)
		}
		by[h.Node] = append(by[h.Node], h)
	}
	failed := ""
	if s.Failure != nil {
		failed = s.Failure.Node
	}
	slices.SortFunc(nodes, func(a, b string) int {
		if (a == failed) != (b == failed) {
			if a == failed {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(len(by[b]), len(by[a])), fact.CompareNames(a, b))
	})
	nodesMax, spans := mapNodesMax, mapSpansMax
	if s.Verdict == result.Pass {
		nodesMax, spans = 1, mapSpansPass
	}
	if len(nodes) > nodesMax {
		nodes, cut = nodes[:nodesMax], len(nodes)-nodesMax
	}
	for _, n := range nodes {
		maps = append(maps, addressMapOf(s, n, by[n], span, spans))
	}
	return maps, cut
}

func addressMapOf(s result.Result, node string, held []result.Held, span stretch, spansMax int) addressMap {
	m := addressMap{Node: node, Ticks: span.ticks(), Failure: -1}
	if s.Failure != nil {
		m.Failure = span.Share(s.Failure.AtSeconds)
	}
	by := map[string][]result.Held{}
	var addrs []string
	for _, h := range held {
		if by[h.Addr] == nil {
			addrs = append(addrs, h.Addr)
		}
		by[h.Addr] = append(by[h.Addr], h)
	}
	slices.SortFunc(addrs, compareAddrs)
	addrs, m.RowsCut = cutAddrs(s, addrs)
	for _, a := range addrs {
		row := addressRow{Addr: short(a, 18), Top: m.Height, Named: names(s, a)}
		slices.SortStableFunc(by[a], func(a, b result.Held) int { return cmp.Compare(a.FromSeconds, b.FromSeconds) })
		for i, h := range by[a] {
			if m.Spans >= spansMax {
				m.SpansCut++
				continue
			}
			m.Spans++
			row.Spans = append(row.Spans, heldSpan(h, span, i%2 == 1))
		}
		row.Clashes = clashes(by[a], span)
		m.Rows = append(m.Rows, row)
		m.Height += rowHeight
	}
	return m
}

func heldSpan(h result.Held, span stretch, odd bool) holding {
	until, end := h.UntilSeconds, clock(h.UntilSeconds)
	if until < 0 {
		until, end = span.Until, "the end"
	}
	from := span.Share(h.FromSeconds)
	return holding{From: from, Width: max(span.Share(until)-from, 0.002), Odd: odd, Open: h.UntilSeconds < 0,
		Text: h.Addr + " held by " + h.Pod + " from " + clock(h.FromSeconds) + " to " + end}
}

// clashes are the stretches in which a later holder of an address has it while an earlier one still does. held is in
// the order of its starts.
func clashes(held []result.Held, span stretch) []holding {
	var out []holding
	for i, h := range held {
		for _, earlier := range held[:i] {
			if until := min(endOf(earlier), endOf(h)); until > h.FromSeconds && earlier.Pod != h.Pod && len(out) < clashesMax {
				from := span.Share(h.FromSeconds)
				out = append(out, holding{From: from, Width: max(span.Share(until)-from, 0.004),
					Text: h.Addr + " held by both " + earlier.Pod + " and " + h.Pod + " from " + moment(h.FromSeconds)})
			}
		}
	}
	return out
}

// endOf is when a holding ended, infinity when it never did.
func endOf(h result.Held) float64 {
	if h.UntilSeconds < 0 {
		return math.Inf(1)
	}
	return h.UntilSeconds
}

// cutAddrs keeps the addresses that the failure names and the lowest of the others.
func cutAddrs(s result.Result, addrs []string) ([]string, int) {
	cut := len(addrs) - mapRowsMax
	if cut <= 0 {
		return addrs, 0
	}
	named := 0
	for _, a := range addrs {
		if names(s, a) {
			named++
		}
	}
	var kept []string
	room := mapRowsMax - min(named, mapRowsMax)
	for _, a := range addrs {
		switch {
		case len(kept) == mapRowsMax:
		case names(s, a):
			kept = append(kept, a)
		case room > 0:
			kept, room = append(kept, a), room-1
		}
	}
	return kept, len(addrs) - len(kept)
}

// names reports whether the failure's sentence has the address as a word of its own: 10.1.0.2 is not in 10.1.0.20.
func names(s result.Result, addr string) bool {
	if s.Failure == nil || addr == "" {
		return false
	}
	for rest := s.Failure.What; ; {
		before, after, ok := strings.Cut(rest, addr)
		if !ok {
			return false
		}
		if !endsInDigit(before) && !startsWithDigit(after) {
			return true
		}
		rest = after
	}
}

func endsInDigit(s string) bool {
	return s != "" && (isDigit(s[len(s)-1]) || s[len(s)-1] == '.' || s[len(s)-1] == ':')
}

func startsWithDigit(s string) bool {
	return s != "" && (isDigit(s[0]) || len(s) > 1 && (s[0] == '.' || s[0] == ':') && isDigit(s[1]))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// compareAddrs orders addresses by value and what is no address behind them by its text.
func compareAddrs(a, b string) int {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	switch {
	case errX == nil && errY == nil:
		return x.Compare(y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}
