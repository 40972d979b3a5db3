package hostmodel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/hostmodel"
)

func content(d *hostmodel.Disk) string {
	payloads, _ := d.Read()
	words := make([]string, len(payloads))
	for i, p := range payloads {
		words[i] = string(p)
	}
	return strings.Join(words, " ")
}

// Goal: a crash leaves what was synced, a beginning of what was not, and nothing else; after a replacement the old
// content or the new. Method: every decision of a crash, for each history.
func TestDiskCrash(t *testing.T) {
	for _, tt := range []struct {
		name    string
		history func(d *hostmodel.Disk)
		want    []string
	}{
		{"nothing written", func(*hostmodel.Disk) {}, []string{""}},
		{"not synced", func(d *hostmodel.Disk) { d.Append([]byte("a")); d.Append([]byte("b")) }, []string{"", "a", "a b"}},
		{"synced", func(d *hostmodel.Disk) { d.Append([]byte("a")); d.Append([]byte("b")); d.Sync() }, []string{"a b"}},
		{"partly synced", func(d *hostmodel.Disk) {
			d.Append([]byte("a"))
			d.Sync()
			d.Append([]byte("b"))
			d.Append([]byte("c"))
		}, []string{"a", "a b", "a b c"}},
		{"replaced", func(d *hostmodel.Disk) {
			d.Append([]byte("a"))
			d.Sync()
			d.Append([]byte("b"))
			d.Replace([]byte("c"))
			d.Append([]byte("d"))
		}, []string{"a", "a b", "c", "c d"}},
		{"replaced and synced", func(d *hostmodel.Disk) { d.Append([]byte("a")); d.Replace([]byte("c")); d.Sync() }, []string{"c"}},
		{"replaced twice", func(d *hostmodel.Disk) {
			d.Append([]byte("a"))
			d.Sync()
			d.Replace([]byte("b"))
			d.Replace([]byte("c"))
		}, []string{"a", "b", "c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := map[string]bool{}
			torn := false
			for o := engine.NewOdometer(); o.Next(); {
				var d hostmodel.Disk
				tt.history(&d)
				d.Crash(o)
				if d.Unsynced() != 0 {
					t.Errorf("%d bytes not synced after a crash", d.Unsynced())
				}
				_, cut := d.Read()
				torn = torn || cut > 0
				if _, again := d.Read(); again != 0 {
					t.Errorf("%d bytes cut twice", again)
				}
				before := content(&d)
				seen[before] = true

				// Whoever writes on after the crash is read whole.
				d.Append([]byte("z"))
				if got, want := content(&d), strings.TrimSpace(before+" z"); got != want {
					t.Errorf("wrote on after a crash: %q, want %q", got, want)
				}
			}
			var got []string
			for s := range seen {
				got = append(got, s)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("contents after a crash (-want +got):\n%s", diff)
			}
			if torn != (len(tt.want) > 1 && tt.name != "replaced twice") {
				t.Errorf("torn frames seen: %v", torn)
			}
		})
	}
}

// first picks the first of everything.
type first struct{}

func (first) Pick(string, int) int { return 0 }

// Goal: a crash in which nothing is chosen loses nothing; what Sync confirmed is never lost. Method: random histories
// with several crashes, against a list of payloads.
func TestDiskKeepsWhatIsSynced(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var d hostmodel.Disk
		var written []string
		synced := 0
		chooser := engine.Seeded(rapid.Uint64().Draw(rt, "seed"))
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(*rapid.T) {
				written = append(written, fmt.Sprint("p", len(written)))
				d.Append([]byte(written[len(written)-1]))
			},
			"sync": func(*rapid.T) { d.Sync(); synced = len(written) },
			"compact": func(*rapid.T) {
				written = []string{strings.Join(written, "+")}
				d.Replace([]byte(written[0]))
				d.Sync()
				synced = 1
			},
			"lucky crash": func(*rapid.T) { d.Crash(first{}); synced = len(written) },
			"crash": func(rt *rapid.T) {
				r := engine.Recording(chooser)
				d.Crash(r)
				lost := 0
				for _, p := range r.Picks() {
					if p.Label == "disk: frames lost" {
						lost = p.Value
					}
				}
				payloads, _ := d.Read()
				if len(payloads) < synced || len(payloads) != len(written)-lost {
					rt.Fatalf("%d frames left of %d, %d of them synced, %d lost", len(payloads), len(written), synced, lost)
				}
				written = written[:len(payloads)]
				synced = len(written)
			},
			"": func(rt *rapid.T) {
				if got, want := content(&d), strings.Join(written, " "); got != want {
					rt.Fatalf("holds %q, want %q", got, want)
				}
			},
		})
	})
}
