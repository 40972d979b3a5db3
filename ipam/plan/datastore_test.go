package plan

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/sim/ec2"
)

// fill starts instances in a subnet and lets each get what its sizing wants for its pods, with the decisions of the
// datastore package and EC2's own arithmetic, until one does not get all.
func fill(t *rapid.T, p netip.Prefix, usable []netip.Prefix, z datastore.Sizing, pods int) (nodes uint64) {
	subnet := ec2.NewSubnet(p)
	for a := p.Addr(); len(usable) > 0 && p.Contains(a); a = a.Next() {
		if !slices.ContainsFunc(usable, func(u netip.Prefix) bool { return u.Contains(a) }) {
			subnet.Occupy(a)
		}
	}
	for {
		i, err := ec2.New(epoch, ec2.Config{Limits: ec2.Limits{ENIs: z.ENIsMax, IPv4PerENI: z.UnitsPerENI + 1}, Subnet: subnet})
		if err != nil {
			return nodes
		}
		for {
			enis, err := i.Describe(epoch)
			if err != nil {
				t.Fatal(err)
			}
			var rooms []datastore.Room
			var s datastore.Stats
			for _, e := range enis {
				rooms = append(rooms, datastore.Room{ENI: e.ID, Units: len(e.Units), Primary: e.Primary})
				for _, u := range e.Units {
					s.TotalIPs += 1 << (32 - u.Bits())
					if z.PrefixDelegation {
						s.TotalPrefixes++
					}
				}
			}
			s.AssignedIPs = min(pods, s.TotalIPs)
			s.FreePrefixes = s.TotalPrefixes - (s.AssignedIPs+15)/16
			if !z.PrefixDelegation {
				s.FreePrefixes = 0
			}
			g, ok := z.Grow(s, rooms, 0)
			if !ok {
				break
			}
			if g.ENI == "" {
				_, _, err = i.Create(epoch, g.Units, z.PrefixDelegation)
			} else {
				_, err = i.Assign(epoch, g.ENI, g.Units, z.PrefixDelegation)
			}
			if err != nil {
				return nodes
			}
		}
		nodes++
	}
}

func drawSizing(t *rapid.T) datastore.Sizing {
	z := datastore.Sizing{ENIsMax: rapid.IntRange(1, 4).Draw(t, "ENIs"), UnitsPerENI: rapid.IntRange(1, 5).Draw(t, "units"),
		PrefixDelegation: rapid.Bool().Draw(t, "prefixes"), WholeENI: rapid.Bool().Draw(t, "whole")}
	z.Targets = datastore.Targets{WarmENI: rapid.IntRange(0, 2).Draw(t, "warm ENI"), WarmPrefix: rapid.IntRange(0, 2).Draw(t, "warm prefix")}
	if rapid.Bool().Draw(t, "addressed") {
		z.WarmIP, z.MinimumIP = rapid.IntRange(0, 9).Draw(t, "warm IP"), rapid.IntRange(0, 20).Draw(t, "minimum IP")
	}
	return z
}

// Goal: as many instances come to rest in a subnet as the plan says, to the last one, with addresses and with prefixes.
// Method: random sizings and subnets; instances are started one by one against the modelled EC2 until one gets an
// error.
func TestDatastoreFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawSizing(t)
		z.WholeENI = false // asks for more than it keeps, so that what fits depends on who is faster
		subnet := netip.PrefixFrom(netip.MustParseAddr("10.0.0.0"), rapid.IntRange(22, 28).Draw(t, "bits"))
		pods := rapid.IntRange(1, 30).Draw(t, "pods")
		var usable []netip.Prefix
		for range rapid.IntRange(0, 2).Draw(t, "usable parts") {
			a := netip.AddrFrom4([4]byte{10, 0, 0, byte(rapid.IntRange(0, 255).Draw(t, "part"))})
			if part := netip.PrefixFrom(a, rapid.IntRange(subnet.Bits(), 30).Draw(t, "part bits")).Masked(); subnet.Contains(part.Addr()) {
				usable = append(usable, part)
			}
		}
		p, err := Make(Datastore{Zones: []Zone{{Subnet: subnet, Usable: usable}}, Sizing: z}, Cluster{PodsPerNode: uint64(pods)})
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		for n := 1; ; n++ {
			if grow(z, n).assigned < n {
				break
			}
			most = n
		}
		if want := fill(t, subnet, usable, z, min(pods, most)); p.Nodes != want {
			t.Fatalf("want %d nodes: %v", want, p)
		}
		for _, l := range p.PodLimits {
			if !strings.HasPrefix(l.What, "subnet") && l.Fits < uint64(most) {
				t.Fatalf("want %d pods on a node: %v", most, p)
			}
			most = min(most, int(l.Fits))
		}
		if p.PodsPerNode != uint64(most) {
			t.Fatalf("want %d pods on a node: %v", most, p)
		}
	})
}

// Goal: the walk says of one number of pods what its twin says, ends at rest from wherever it came, and never holds
// less than the targets want where the instance allows it. Method: random sizings and pods; a followed node ends with
// at least what its pods need and no more requests follow.
func TestWarmWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawSizing(t)
		w := Warm{Sizing: z}
		pods := rapid.SliceOfN(rapid.IntRange(0, 60), 1, 6).Draw(t, "pods")
		for i, row := range w.Explain(pods...) {
			e := grow(z, pods[i])
			if strings.Contains(fmt.Sprint(row.Steps), "given back") {
				if !z.WholeENI {
					t.Fatalf("gives back what it has just got: %+v", row)
				}
				continue // the twin ends before that
			}
			if fmt.Sprint(row.PerENI) != fmt.Sprint(e.perENI) || row.Assigned != e.assigned || row.Available != e.total-e.assigned || row.Waiting != pods[i]-e.assigned {
				t.Fatalf("%+v, want %+v", row, e)
			}
			if len(row.Steps) < e.requests {
				t.Fatalf("%d steps, want at least %d", len(row.Steps), e.requests)
			}
		}
		twice := make([]int, 0, 2*len(pods))
		for _, n := range pods {
			twice = append(twice, n, n)
		}
		rows := w.Follow(twice...)
		for i := 1; i < len(rows); i += 2 {
			if len(rows[i].Steps) > 0 {
				t.Fatalf("the node was not at rest: %+v after %+v", rows[i], rows[i-1])
			}
			account := datastore.Stats{TotalIPs: rows[i].Held, AssignedIPs: rows[i].Assigned, TotalPrefixes: rows[i].Prefixes}
			if z.PrefixDelegation {
				account.FreePrefixes = rows[i].Prefixes - (rows[i].Assigned+15)/16
			}
			if z.Excess(account) > 0 {
				t.Fatalf("%+v has too many", rows[i])
			}
			if i > 1 && rows[i].Assigned < min(rows[i].Pods, rows[i-2].Assigned) {
				t.Fatalf("%+v took addresses from pods of %+v", rows[i], rows[i-2])
			}
			if z.Addressed() && z.WarmIP == 0 {
				continue // asks for no more than the minimum
			}
			if most := (Datastore{Sizing: z}).perNode(); rows[i].Assigned != min(rows[i].Pods, int(most)) {
				t.Fatalf("%+v, and %d pods fit", rows[i], most)
			}
		}
	})
}

// Goal: upstream's documented tables come out, but for the rows in which the document contradicts itself.
func TestDocumentedTable(t *testing.T) {
	for _, d := range DocumentedTable() {
		if d.Agrees() != (d.Note == "") {
			t.Errorf("%+v", d)
		}
		if d.Note != "" && d.Worked.Units != d.Documented.Units && d.Note != noteMinimum {
			t.Errorf("more than the interfaces differ: %+v", d)
		}
	}
}
