package ipam

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// Goal: the lease table is a map. Method: a Go map is its twin, with as many owners at as many places as make it grow,
// fill gaps, close gaps and number places anew.
func TestLeaseTableIsAMap(t *testing.T) {
	anyOwner := func(t *rapid.T) Owner {
		o := Owner{ContainerID: fmt.Sprintf("c%02d", rapid.IntRange(0, 49).Draw(t, "owner"))}
		o.Network = rapid.SampledFrom([]string{"k8s", "blue"}).Draw(t, "network")
		o.IfName = rapid.SampledFrom([]string{"eth0", "net1", "net2"}).Draw(t, "interface")
		return o
	}
	rapid.Check(t, func(t *rapid.T) {
		table, twin := newLeaseTable(), make(map[Owner]uint64)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				o, index := anyOwner(t), rapid.Uint64().Draw(t, "index")
				if _, ok := twin[o]; ok {
					t.Skip("held")
				}
				twin[o] = index
				k, _ := table.find(o)
				table.add(k, leaseEntry{index: index})
			},
			"remove": func(t *rapid.T) {
				o := anyOwner(t)
				want, ok := twin[o]
				k, h := table.find(o)
				if (h != nil) != ok || h != nil && h.index != want {
					t.Fatalf("found %v, want %d %v", h, want, ok)
				}
				if h != nil {
					table.remove(k)
				}
				delete(twin, o)
			},
			"empty a network": func(t *rapid.T) {
				network := rapid.SampledFrom([]string{"k8s", "blue"}).Draw(t, "network")
				for o := range twin {
					if o.Network == network {
						k, _ := table.find(o)
						table.remove(k)
						delete(twin, o)
					}
				}
			},
			"": func(t *rapid.T) {
				have, places := make(map[Owner]uint64), make(map[place]int)
				table.each(func(h *leaseEntry) { have[table.owner(h)] = h.index })
				if !reflect.DeepEqual(have, twin) || table.count != len(twin) {
					t.Fatalf("holds %v, want %v", have, twin)
				}
				for o, index := range twin {
					if _, h := table.find(o); h == nil || h.index != index {
						t.Fatalf("%s has %v, want %d", o, h, index)
					}
					places[place{o.Network, o.IfName}]++
				}
				for _, o := range []Owner{{}, {Network: "k8s", IfName: "eth0"}, {Network: "k8s", ContainerID: "c01", IfName: "eth9"}} {
					if _, h := table.find(o); h != nil {
						t.Fatalf("%s holds %v", o, h)
					}
				}
				if len(table.places.byName) != len(places) || len(table.places.list)-len(table.places.free) != len(places) {
					t.Fatalf("places are %+v, want %v", table.places, places)
				}
			},
		})
	})
}
