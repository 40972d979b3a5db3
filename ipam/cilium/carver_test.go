package cilium

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// slowCarver keeps every block of its ranges in a list and looks through it.
type slowCarver struct {
	bits   int
	delay  time.Duration
	ranges []netip.Prefix
	holder map[netip.Prefix]string
	back   map[netip.Prefix]time.Time
	cursor map[netip.Prefix]int
	cut    map[netip.Prefix][]netip.Prefix
	// foreign are blocks of somebody else's.
	foreign []netip.Prefix
}

// elsewhere finds a foreign block that overlaps p.
func (s *slowCarver) elsewhere(p netip.Prefix) (netip.Prefix, bool) {
	at := slices.IndexFunc(s.foreign, p.Overlaps)
	if at < 0 {
		return netip.Prefix{}, false
	}
	return s.foreign[at], true
}

func (s *slowCarver) blocks(r netip.Prefix) (list []netip.Prefix) {
	if list, ok := s.cut[r]; ok {
		return list
	}
	defer func() { s.cut[r] = list }()
	for a := r.Addr(); r.Contains(a); {
		p := netip.PrefixFrom(a, s.bits)
		list = append(list, p)
		for p.Contains(a) {
			a = a.Next()
		}
	}
	return list
}

func (s *slowCarver) busy(now time.Time, p netip.Prefix) bool {
	for q := range s.holder {
		if q.Overlaps(p) {
			return true
		}
	}
	for q, at := range s.back {
		if q.Overlaps(p) && now.Sub(at) < s.delay {
			return true
		}
	}
	return false
}

func (s *slowCarver) claim(now time.Time, node string) (netip.Prefix, bool) {
	for _, r := range s.ranges {
		list, start := s.blocks(r), s.cursor[r]
		var met []netip.Prefix
		for i := range list {
			at := (start + i) % len(list)
			p := list[at]
			if s.busy(now, p) || slices.ContainsFunc(met, p.Overlaps) {
				continue
			}
			s.cursor[r] = at + 1
			q, theirs := s.elsewhere(p)
			if !theirs {
				s.holder[p] = node
				return p, true
			}
			met = append(met, q)
		}
	}
	return netip.Prefix{}, false
}

func (s *slowCarver) restore(node string, p netip.Prefix) bool {
	for q := range s.holder {
		if q.Overlaps(p) {
			return q == p && s.holder[p] == node
		}
	}
	delete(s.back, p)
	s.holder[p] = node
	return true
}

// Goal: blocks are claimed in order, at most by one holder, after the delay, whatever ranges come later, whatever odd
// blocks nodes show, and whatever others hold of the same ranges. Method: rapid drives a carver beside its slow twin.
func TestCarverAgreesWithItsTwin(t *testing.T) {
	for range 10 { // the odd corners are rare
		rapid.Check(t, carverAndTwin)
	}
}

func carverAndTwin(t *rapid.T) {
	delay := time.Duration(rapid.SampledFrom([]int{0, 3}).Draw(t, "delay")) * time.Second
	fast := newCarver(28, delay)
	slow := &slowCarver{bits: 28, delay: delay, holder: make(map[netip.Prefix]string), back: make(map[netip.Prefix]time.Time),
		cursor: make(map[netip.Prefix]int), cut: make(map[netip.Prefix][]netip.Prefix)}
	now := epoch
	later := []string{"10.0.0.0/26", "10.0.1.0/27", "10.0.0.64/26", "10.0.2.0/28"}
	drawBlock := func(t *rapid.T) netip.Prefix {
		bits := rapid.SampledFrom([]int{28, 28, 28, 27, 29, 30}).Draw(t, "bits")
		a := netip.AddrFrom4([4]byte{10, 0, byte(rapid.IntRange(0, 2).Draw(t, "third")), byte(rapid.IntRange(0, 127).Draw(t, "last"))})
		return netip.PrefixFrom(a, bits).Masked()
	}
	drawNode := func(t *rapid.T) string { return fmt.Sprint("n", rapid.IntRange(0, 3).Draw(t, "node")) }
	t.Repeat(map[string]func(*rapid.T){
		"extend": func(t *rapid.T) {
			if len(later) == 0 {
				t.Skip("all are there")
			}
			p := netip.MustParsePrefix(later[0])
			if err := fast.extend(p); err != nil {
				t.Fatal(err)
			}
			slow.ranges, later = append(slow.ranges, p), later[1:]
			if err := fast.extend(p); err == nil {
				t.Fatalf("%s was added twice", p)
			}
		},
		"claim": func(t *rapid.T) {
			node := drawNode(t)
			have, err := fast.claim(now, node, slow.elsewhere)
			want, ok := slow.claim(now, node)
			if have != want || (err == nil) != ok || err != nil && !errors.Is(err, ErrNoCIDR) {
				t.Fatalf("claimed %s %v, want %s %v", have, err, want, ok)
			}
		},
		"restore": func(t *rapid.T) {
			node, p := drawNode(t), drawBlock(t)
			if _, theirs := slow.elsewhere(p); theirs {
				t.Skip("the ledger refuses it")
			}
			if err := fast.restore(node, p); (err == nil) != slow.restore(node, p) {
				t.Fatalf("restore %s of %s: %v", p, node, err)
			}
		},
		"somebody else": func(t *rapid.T) {
			a := drawBlock(t).Addr()
			p := netip.PrefixFrom(a, rapid.IntRange(25, 30).Draw(t, "length")).Masked()
			if _, own := fast.engaged(p); own {
				t.Skip("the ledger refuses it")
			}
			slow.foreign = append(slow.foreign, p)
			if len(slow.foreign) > 3 {
				slow.foreign = slow.foreign[1:]
			}
		},
		"give back": func(t *rapid.T) {
			node, p := drawNode(t), drawBlock(t)
			if held := slices.SortedFunc(maps.Keys(slow.holder), netip.Prefix.Compare); len(held) > 0 && rapid.Bool().Draw(t, "held") {
				p = rapid.SampledFrom(held).Draw(t, "which")
				node = slow.holder[p]
			}
			has := slow.holder[p] == node
			if fast.giveBack(now, node, p) != has {
				t.Fatalf("give back %s of %s is not %v", p, node, has)
			}
			if has {
				delete(slow.holder, p)
				slow.back[p] = now
			}
		},
		"time": func(*rapid.T) { now = now.Add(time.Second) },
		"": func(t *rapid.T) {
			if !maps.Equal(fast.holder, slow.holder) {
				t.Fatalf("held %v, want %v", fast.holder, slow.holder)
			}
			free := false
			for _, r := range slow.ranges {
				free = free || slices.ContainsFunc(slow.blocks(r), func(p netip.Prefix) bool { return !slow.busy(now, p) })
			}
			if fast.hasFree(now) != free {
				t.Fatalf("free is not %v", free)
			}
		},
	})
}
