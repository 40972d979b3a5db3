package cilium

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// AddressBook says which node has which address of a site's ranges: what the operator of mode crd gives out, where no
// cloud has addresses. A released address is given last. It is not safe for concurrent use. Its zero value has no range.
type AddressBook struct {
	ranges []netip.Prefix
	free   []netip.Addr // the one that has been free for the longest first
	held   map[string][]netip.Addr
}

// ErrNoAddress: an AddressBook has no address left.
var ErrNoAddress = errors.New("no address is left")

// AddRange opens a range that overlaps no other. Its first and its last address are never given.
func (b *AddressBook) AddRange(r netip.Prefix) error {
	r = space.Normal(r)
	if slices.Contains(b.ranges, r) {
		return fmt.Errorf("there is a range %s", r)
	}
	b.ranges = append(b.ranges, r)
	taken := make(map[netip.Addr]bool)
	for _, list := range b.held { //vppdrill:unordered it becomes a set
		for _, a := range list { // of a range that was removed and comes back
			taken[a] = true
		}
	}
	last := space.Last(r)
	for a := r.Addr().Next(); a.Less(last); a = a.Next() {
		if !taken[a] {
			b.free = append(b.free, a)
		}
	}
	return nil
}

// RemoveRange closes a range: what nodes have of it they keep until they give it back.
func (b *AddressBook) RemoveRange(r netip.Prefix) error {
	i := slices.Index(b.ranges, r)
	if i < 0 {
		return fmt.Errorf("there is no range %s", r)
	}
	b.ranges = slices.Delete(b.ranges, i, i+1)
	b.free = slices.DeleteFunc(b.free, r.Contains)
	return nil
}

// SetRanges opens and closes ranges until these are the open ones; it reports whether any was opened or closed.
func (b *AddressBook) SetRanges(want []netip.Prefix) (changed bool, err error) {
	for _, r := range slices.Clone(b.ranges) {
		if !slices.ContainsFunc(want, func(w netip.Prefix) bool { return space.Normal(w) == r }) {
			changed = true
			err = errors.Join(err, b.RemoveRange(r))
		}
	}
	for _, r := range want {
		if !slices.Contains(b.ranges, space.Normal(r)) {
			changed = true
			err = errors.Join(err, b.AddRange(r))
		}
	}
	return changed, err
}

// Give gives a node n addresses, or as many as there are; ErrNoAddress where there is none.
func (b *AddressBook) Give(node string, n int) ([]netip.Addr, error) {
	if len(b.free) == 0 {
		return nil, ErrNoAddress
	}
	some := slices.Clone(b.free[:min(n, len(b.free))])
	b.free = slices.Clone(b.free[len(some):])
	if b.held == nil {
		b.held = make(map[string][]netip.Addr)
	}
	b.held[node] = append(b.held[node], some...)
	return some, nil
}

// TakeBack takes those of a node's addresses back that it has, in the order in which it got them. It returns how many those were.
func (b *AddressBook) TakeBack(node string, addrs []netip.Addr) (n int) {
	left := slices.DeleteFunc(b.held[node], func(a netip.Addr) bool {
		gone := slices.Contains(addrs, a)
		if gone {
			n++
			b.back(a)
		}
		return gone
	})
	switch {
	case len(left) == 0:
		delete(b.held, node)
	case n > 0:
		b.held[node] = left
	}
	return n
}

// back takes an address back, if it is still of an open range.
func (b *AddressBook) back(a netip.Addr) {
	if slices.ContainsFunc(b.ranges, func(r netip.Prefix) bool { return r.Contains(a) }) {
		b.free = append(b.free, a)
	}
}

// Of is what a node has, in the order in which it got it.
func (b *AddressBook) Of(node string) []netip.Addr { return slices.Clone(b.held[node]) }

// Nodes are those that have something, ascending.
func (b *AddressBook) Nodes() []string { return sortedKeys(b.held) }

// Free is how many addresses nobody has.
func (b *AddressBook) Free() int { return len(b.free) }

// book is an AddressBook as JSON has it. Free is runs of addresses, as 10.0.0.1-10.0.0.9.
type book struct {
	Ranges []netip.Prefix          `json:"ranges,omitempty"`
	Free   []string                `json:"free,omitempty"`
	Held   map[string][]netip.Addr `json:"held,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (b *AddressBook) MarshalJSON() ([]byte, error) {
	out := book{Ranges: b.ranges, Held: b.held}
	for i := 0; i < len(b.free); {
		first, last := b.free[i], b.free[i]
		for i++; i < len(b.free) && b.free[i] == last.Next(); i++ {
			last = b.free[i]
		}
		text := first.String()
		if last != first {
			text += "-" + last.String()
		}
		out.Free = append(out.Free, text)
	}
	return json.Marshal(out)
}

// bookMost bounds what one run of a book's free addresses may be, so that a damaged one is refused.
const bookMost = 1 << 20

// UnmarshalJSON implements json.Unmarshaler. An address that is there twice is refused.
func (b *AddressBook) UnmarshalJSON(text []byte) error {
	var in book
	if err := json.Unmarshal(text, &in); err != nil {
		return fmt.Errorf("address book: %w", err)
	}
	fresh := AddressBook{ranges: in.Ranges, held: in.Held}
	seen := make(map[netip.Addr]bool)
	once := func(a netip.Addr) error {
		if !a.IsValid() || seen[a] {
			return fmt.Errorf("address book: %s is there twice, or is no address", a)
		}
		seen[a] = true
		return nil
	}
	for _, run := range in.Free {
		from, to, several := strings.Cut(run, "-")
		if !several {
			to = from
		}
		first, err := netip.ParseAddr(from)
		if err != nil {
			return fmt.Errorf("address book: free %q: %w", run, err)
		}
		last, err := netip.ParseAddr(to)
		if err != nil || last.Less(first) {
			return fmt.Errorf("address book: free %q is no run of addresses", run)
		}
		for a := first; ; a = a.Next() {
			if err := once(a); err != nil {
				return err
			}
			if fresh.free = append(fresh.free, a); len(fresh.free) > bookMost {
				return fmt.Errorf("address book: free %q: more than %d addresses", run, bookMost)
			}
			if a == last {
				break
			}
		}
	}
	for _, node := range sortedKeys(in.Held) {
		for _, a := range in.Held[node] {
			if err := once(a); err != nil {
				return err
			}
		}
	}
	*b = fresh
	return nil
}
