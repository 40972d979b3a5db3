package datastore

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/yardstick"
)

// The budget is 1 µs for one address with its owner, at any fill.

func sandbox(n int) IPAMKey {
	return IPAMKey{NetworkName: "aws-cni", ContainerID: fmt.Sprintf("%064x", n), IfName: "eth0"}
}

// filled is a store with that many ENIs of that many addresses, of which spare are idle.
func filled(b *testing.B, file Checkpointer, now Clock, enis, each, spare int) *DataStore {
	b.Helper()
	ds := NewDataStore(nil, file, now)
	ds.CheckpointMigrationPhase = 3
	n := 0
	for e := range enis {
		id := fmt.Sprintf("eni-%d", e)
		if err := ds.AddENI(id, e, e == 0, false); err != nil {
			b.Fatal(err)
		}
		for range each {
			a := netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
			if err := ds.AddIPv4AddressToStore(id, a); err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
	ds.GetIPStats() // puts the addresses in order
	for i := range n - spare {
		if _, _, err := ds.AssignPodIPv4Address(sandbox(i)); err != nil {
			b.Fatal(err)
		}
	}
	return ds
}

var sizes = [...]struct {
	name       string
	enis, each int
}{{"15x30", 15, 30}, {"1x65536", 1, 1 << 16}, {"4096x16", 4096, 16}}

// BenchmarkAssignUnassign: the checkpoint costs nothing here, so it is the index that is measured.
func BenchmarkAssignUnassign(b *testing.B) {
	for _, size := range sizes {
		for _, spare := range [...]int{64, size.enis * size.each} {
			b.Run(fmt.Sprintf("%s/idle=%d", size.name, spare), func(b *testing.B) {
				yardstick.Beside(b)
				now := time.Unix(1700000000, 0)
				ds := filled(b, NullCheckpoint{}, func() time.Time { return now }, size.enis, size.each, spare)
				keys := make([]IPAMKey, 1024)
				for i := range keys {
					keys[i] = sandbox(1<<20 + i)
				}
				n := 0
				b.ReportAllocs()
				for b.Loop() {
					k := keys[n&1023]
					if _, _, err := ds.AssignPodIPv4Address(k); err != nil {
						b.Fatal(err)
					}
					if _, _, err := ds.UnassignPodIPv4Address(k); err != nil {
						b.Fatal(err)
					}
					now = now.Add(time.Second)
					n++
				}
			})
		}
	}
}

// BenchmarkAssignWithFile writes the whole file at every step, as the format asks for; the disk is the modelled one.
func BenchmarkAssignWithFile(b *testing.B) {
	yardstick.Beside(b)
	now := time.Unix(1700000000, 0)
	d := newDisk("/var/run/aws-node")
	ds := filled(b, NewJSONFile(d, home), func() time.Time { return now }, 15, 30, 64)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ds.AssignPodIPv4Address(sandbox(-1)); err != nil {
			b.Fatal(err)
		}
		if _, _, err := ds.UnassignPodIPv4Address(sandbox(-1)); err != nil {
			b.Fatal(err)
		}
		now = now.Add(time.Second)
	}
	text, _ := d.ReadFile(home)
	b.ReportMetric(float64(len(text)), "file-B")
}

func BenchmarkLookup(b *testing.B) {
	yardstick.Beside(b)
	now := time.Unix(1700000000, 0)
	ds := filled(b, NullCheckpoint{}, func() time.Time { return now }, 1, 1<<16, 1)
	keys := make([]IPAMKey, 1024)
	for i := range keys {
		keys[i] = sandbox(i * 63)
	}
	n := 0
	for b.Loop() {
		if _, ok := ds.Lookup(keys[n&1023]); !ok {
			b.Fatal("unknown")
		}
		n++
	}
}

func BenchmarkParseCheckpoint(b *testing.B) {
	yardstick.Beside(b)
	text := document(256).AppendJSON(nil)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ParseCheckpoint(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNodeAllocateRelease(b *testing.B) {
	for _, c := range [...]struct {
		name   string
		blocks int
		bits   int
		fill   int // tenths of a percent
	}{{"1x/16", 1, 16, 0}, {"1x/16", 1, 16, 990}, {"4096x/28", 4096, 28, 0}, {"4096x/28", 4096, 28, 990}} {
		b.Run(fmt.Sprintf("%s/fill=%d", c.name, c.fill), func(b *testing.B) {
			yardstick.Beside(b)
			n, err := NewNode(NodeConfig{Cooling: 10 * time.Microsecond, Gateway: addr("169.254.1.1")})
			if err != nil {
				b.Fatal(err)
			}
			list := make([]netip.Prefix, c.blocks)
			for i := range list {
				list[i] = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(i >> 4), byte(i << 4)}), c.bits)
			}
			now := epoch
			if _, err := n.SetBlocks(now, list); err != nil {
				b.Fatal(err)
			}
			for i := range (1 << 16) * c.fill / 1000 {
				if _, _, err := n.Allocate(now, benchOwner(i), ipam.Want{}); err != nil {
					b.Fatal(err)
				}
			}
			owners := make([]ipam.Owner, 1024)
			for i := range owners {
				owners[i] = benchOwner(1<<20 + i)
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				o := owners[i&1023]
				if _, _, err := n.Allocate(now, o, ipam.Want{}); err != nil {
					b.Fatal(err)
				}
				n.Release(now, o)
				now = now.Add(time.Microsecond)
				i++
			}
		})
	}
}

func benchOwner(n int) ipam.Owner {
	return ipam.Owner{Network: "k8s-pod-network", ContainerID: fmt.Sprintf("%064x", n), IfName: "eth0"}
}

func BenchmarkNodeReplay(b *testing.B) {
	yardstick.Beside(b)
	n, _ := NewNode(NodeConfig{Gateway: addr("169.254.1.1")})
	var list []netip.Prefix
	for i := range 4096 {
		list = append(list, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(i >> 4), byte(i << 4)}), 28))
	}
	if _, err := n.SetBlocks(epoch, list); err != nil {
		b.Fatal(err)
	}
	for i := range 10000 {
		if _, _, err := n.Allocate(epoch, benchOwner(i), ipam.Want{}); err != nil {
			b.Fatal(err)
		}
	}
	records := n.Records()
	for b.Loop() {
		fresh, _ := NewNode(NodeConfig{Gateway: addr("169.254.1.1")})
		for _, r := range records {
			if err := fresh.Apply(r); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(records)), "ns/record")
}
