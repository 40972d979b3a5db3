package vppwire

import (
	"testing"

	"pgregory.net/rapid"
)

// A store finds what a map would, whatever is added and removed. Few different keys and equal hashes make long runs of
// slots.
func TestStoreAsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var st store
		known := map[ident]uint32{}
		ids := rapid.Custom(func(t *rapid.T) ident {
			return ident{
				lo: rapid.Uint64Range(0, 40).Draw(t, "lo") << 8, name: rapid.Uint32Range(0, 2).Draw(t, "name"),
				kind: KindRoute, bits: rapid.Uint8Range(0, 1).Draw(t, "bits"),
			}
		})
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			id := ids.Draw(t, "id")
			switch n := known[id]; {
			case n == 0:
				known[id] = st.add(id)
			case rapid.Bool().Draw(t, "remove"):
				st.remove(n)
				delete(known, id)
			}
			for id, n := range known {
				if got := st.find(id); got != n || st.at(n).id() != id {
					t.Fatalf("find(%v) = %d, want %d", id, got, n)
				}
			}
			if id := ids.Draw(t, "other"); st.find(id) != known[id] {
				t.Fatalf("find(%v) = %d, want %d", id, st.find(id), known[id])
			}
		}
	})
}

// An entry says what was set last, whatever stood there before.
func TestEntrySays(t *testing.T) {
	some := []Object{nil, Bridge{ID: 1}, Bridge{ID: 2}}
	for _, was := range some {
		for _, want := range some {
			for _, have := range some {
				var st store
				e := st.at(st.add(ident{kind: KindBridge}))
				e.set(was, want)
				e.set(want, have)
				if e.want() != want || e.have() != have || e.same() != (want == have) || e.flags&flagLive == 0 {
					t.Errorf("set(%v, %v) says %v and %v, same: %v", want, have, e.want(), e.have(), e.same())
				}
			}
		}
	}
}
