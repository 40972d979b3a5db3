package cilium

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Goal: no address of a book is with two nodes or given while somebody has it, none of a closed range is given, a released one is given
// last, and a book that is written and read goes on alike. Method: random requests beside a list of who has what, written anew each time.
func TestAddressBook(t *testing.T) {
	ranges := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/29"), netip.MustParsePrefix("10.0.0.8/30"), netip.MustParsePrefix("10.0.1.0/30")}
	rapid.Check(t, func(rt *rapid.T) {
		book, holders, free := new(AddressBook), map[netip.Addr]string{}, []netip.Addr{}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			text, err := json.Marshal(book)
			if err != nil {
				rt.Fatal(err)
			}
			if book = new(AddressBook); json.Unmarshal(text, book) != nil {
				rt.Fatalf("%s cannot be read", text)
			}
			if fmt.Sprint(book.free) != fmt.Sprint(free) {
				rt.Fatalf("%s has %v free, want %v", text, book.free, free)
			}
			node := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "node")
			switch rapid.SampledFrom([]string{"ranges", "give", "back"}).Draw(rt, "what") {
			case "ranges":
				var open []netip.Prefix
				for _, r := range ranges {
					if rapid.Bool().Draw(rt, r.String()) {
						open = append(open, r)
					}
				}
				if _, err := book.SetRanges(open); err != nil {
					rt.Fatal(err)
				}
				free = slices.DeleteFunc(free, func(a netip.Addr) bool { return !slices.Contains(book.free, a) })
				for _, a := range book.free[len(free):] {
					free = append(free, a)
					if holders[a] != "" || !slices.ContainsFunc(open, func(r netip.Prefix) bool { return r.Contains(a) }) {
						rt.Fatalf("%s is free", a)
					}
				}
			case "give":
				n := rapid.IntRange(1, 4).Draw(rt, "n")
				got, err := book.Give(node, n)
				if want := free[:min(n, len(free))]; !slices.Equal(got, want) || (err == nil) != (len(want) > 0) {
					rt.Fatalf("%v %v, want %v", got, err, want)
				}
				free = slices.Clone(free[len(got):])
				for _, a := range got {
					if holders[a] != "" {
						rt.Fatalf("%s is given twice", a)
					}
					holders[a] = node
				}
			case "back":
				has := book.Of(node)
				some := slices.DeleteFunc(slices.Clone(has), func(netip.Addr) bool { return rapid.Bool().Draw(rt, "keep") })
				if n := book.TakeBack(node, some); n != len(some) {
					rt.Fatalf("%d of %v came back", n, some)
				}
				for _, a := range some {
					delete(holders, a)
					if slices.ContainsFunc(book.ranges, func(r netip.Prefix) bool { return r.Contains(a) }) {
						free = append(free, a)
					}
				}
			}
			for a, node := range holders { // in any order
				if !slices.Contains(book.Of(node), a) {
					rt.Fatalf("%s has lost %s", node, a)
				}
			}
		}
	})
}

// Goal: a damaged book is refused, as an empty one would give everything again. Method: a table.
func TestAddressBookDamaged(t *testing.T) {
	for _, text := range []string{`{"free": ["10.0.0.1-10.0.0.2", "10.0.0.2"]}`, `{"free": ["10.0.0.1"], "held": {"a": ["10.0.0.1"]}}`,
		`{"held": {"a": ["10.0.0.1"], "b": ["10.0.0.1"]}}`, `{"free": ["10.0.0.2-10.0.0.1"]}`, `{"free": ["0.0.0.0-255.255.255.255"]}`, `{"free": ["x"]}`, `[`} {
		if err := json.Unmarshal([]byte(text), new(AddressBook)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
