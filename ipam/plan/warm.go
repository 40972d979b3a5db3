package plan

import (
	"fmt"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// Warm explains how many addresses ipamd keeps on an instance: it takes the decisions of datastore.Manager one by one,
// with an EC2 that always gives, until nothing is left to decide.
type Warm struct {
	Sizing datastore.Sizing
	// Kept is how many addresses of each delegated prefix no pod gets; upstream keeps none.
	Kept int
}

// Row is where a node comes to rest.
type Row struct {
	Pods int `json:"pods"`
	// Assigned pods have an address, Waiting ones do not, because nothing fits any more.
	Assigned int `json:"assigned"`
	Waiting  int `json:"waiting"`
	// Held is how many addresses for pods the node has, Available how many of them are ready for pods to come.
	Held      int `json:"held"`
	Available int `json:"available"`
	// PerENI is Held by interface, in the order of attachment; Prefixes the delegated prefixes in it. Both only of ipamd.
	PerENI   []int `json:"perENI,omitempty"`
	Prefixes int   `json:"prefixes,omitempty"`
	// Steps are the requests to the cloud, each with its reason.
	Steps []string `json:"steps"`
}

// stepsMax ends a walk that would never rest; nothing that has rested was longer than a few hundred.
const stepsMax = 100000

// Explain returns a row for each number of pods, each on a node of its own that starts with an empty primary ENI.
func (w Warm) Explain(pods ...int) []Row {
	rows := make([]Row, len(pods))
	for i, n := range pods {
		rows[i] = w.Follow(n)[0]
	}
	return rows
}

// Follow returns a row for each number of pods on one node: from each to the next, pods come or leave at once.
func (w Warm) Follow(pods ...int) []Row {
	node := warmNode{w: w, rooms: []datastore.Room{{ENI: "eni-0", Primary: true}}, made: 1}
	rows := make([]Row, len(pods))
	for i, n := range pods {
		rows[i] = node.rest(n)
	}
	return rows
}

// warmNode is an instance on its way. Pods have the lowest addresses.
type warmNode struct {
	w     Warm
	rooms []datastore.Room
	made  int
}

// perUnit is how many pods a unit is enough for.
func (w Warm) perUnit() int {
	if w.Sizing.PrefixDelegation {
		return max(datastore.DelegatedIPs-w.Kept, 0)
	}
	return 1
}

func (n *warmNode) stats(rooms []datastore.Room, pods int) datastore.Stats {
	units := 0
	for _, r := range rooms {
		units += r.Units
	}
	each := n.w.perUnit()
	s := datastore.Stats{TotalIPs: units * each}
	s.AssignedIPs = min(pods, s.TotalIPs)
	if n.w.Sizing.PrefixDelegation && each > 0 {
		s.TotalPrefixes = units
		s.FreePrefixes = units - (s.AssignedIPs+each-1)/each
	}
	return s
}

// rest decides until nothing is left to decide.
func (n *warmNode) rest(pods int) Row {
	row := Row{Pods: pods, Steps: []string{}}
	for range stepsMax {
		step := n.step(pods)
		if step == "" {
			break
		}
		row.Steps = append(row.Steps, step)
	}
	s := n.stats(n.rooms, pods)
	row.Assigned, row.Held, row.Available, row.Prefixes = s.AssignedIPs, s.TotalIPs, s.AvailableAddresses(), s.TotalPrefixes
	row.Waiting = pods - row.Assigned
	for _, r := range n.rooms {
		row.PerENI = append(row.PerENI, r.Units*n.w.perUnit())
	}
	return row
}

// step takes the next decision, in the order of datastore.Manager, and says what it was; "" when there is none.
func (n *warmNode) step(pods int) string {
	z, s := n.w.Sizing, n.stats(n.rooms, pods)
	if g, ok := z.Grow(s, n.rooms, 0); ok {
		why := n.why(s, pods)
		if g.ENI == "" {
			n.rooms = append(n.rooms, datastore.Room{ENI: fmt.Sprintf("eni-%d", n.made), Units: g.Units})
			n.made++
			return fmt.Sprintf("new %s with %s: %s", n.rooms[len(n.rooms)-1].ENI, n.units(g.Units), why)
		}
		i := slices.IndexFunc(n.rooms, func(r datastore.Room) bool { return r.ENI == g.ENI })
		n.rooms[i].Units += g.Units
		return fmt.Sprintf("%s more on %s: %s", n.units(g.Units), g.ENI, why)
	}
	if excess := z.Excess(s); excess > 0 {
		for i := len(n.rooms) - 1; i >= 0; i-- {
			if back := min(excess, n.rooms[i].Units); back > 0 {
				n.rooms[i].Units -= back
				return fmt.Sprintf("%s of %s given back: %s", n.units(back), n.rooms[i].ENI, n.why(s, pods))
			}
		}
	}
	if !z.ShouldRemoveExtraENIs(s) {
		return ""
	}
	for i := len(n.rooms) - 1; i > 0; i-- {
		without := slices.Delete(slices.Clone(n.rooms), i, i+1)
		rest := n.stats(without, pods)
		if n.idle(i, pods) && z.Spare(rest) {
			name := n.rooms[i].ENI
			n.rooms = without
			return fmt.Sprintf("%s given back: the targets hold without it", name)
		}
	}
	return ""
}

// idle reports whether no pod has an address of that ENI.
func (n *warmNode) idle(index, pods int) bool {
	return n.stats(n.rooms[:index], pods).TotalIPs >= pods || n.rooms[index].Units == 0
}

// units is "3 addresses" or "1 prefix".
func (n *warmNode) units(count int) string {
	if n.w.Sizing.PrefixDelegation {
		return plural(uint64(count), "prefix")
	}
	return plural(uint64(count), "address")
}

// why says what the account and the targets are.
func (n *warmNode) why(s datastore.Stats, pods int) string {
	z := n.w.Sizing
	have := fmt.Sprintf("%d of %s available for pods to come", s.AvailableAddresses(), plural(uint64(s.TotalIPs), "address"))
	if waiting := pods - s.AssignedIPs; waiting > 0 {
		have = fmt.Sprintf("none of %s left for %s", plural(uint64(s.TotalIPs), "address"), plural(uint64(waiting), "waiting pod"))
	}
	switch {
	case z.Addressed():
		want := ""
		if z.WarmIP > 0 {
			want = fmt.Sprintf(", WARM_IP_TARGET wants %d", z.WarmIP)
		}
		if z.MinimumIP > 0 {
			want += fmt.Sprintf(", MINIMUM_IP_TARGET wants %d in all", z.MinimumIP)
		}
		return have + want
	case z.PrefixDelegation:
		return fmt.Sprintf("%s, %s unused, WARM_PREFIX_TARGET wants %d", have, plural(uint64(s.FreePrefixes), "prefix"), z.WarmPrefix)
	case z.WarmENI == 0:
		return have + ", WARM_ENI_TARGET 0 wants one"
	}
	return fmt.Sprintf("%s, WARM_ENI_TARGET %d wants %d x %d", have, z.WarmENI, z.WarmENI, z.UnitsPerENI)
}
