package datastore

import (
	"fmt"
	"strings"
)

// Explanation is what a node ends up with.
type Explanation struct {
	Sizing Sizing
	Pods   int
	// PerENI is the addresses of each ENI, in the order in which they were attached.
	PerENI []int
	// Assigned is how many pods have an address; Pods - Assigned wait because nothing fits any more.
	Assigned int
	// Steps are the requests to EC2 in their order, each with its reason.
	Steps []string
}

// TotalIPs is how many addresses there are in all.
func (e Explanation) TotalIPs() int {
	n := 0
	for _, k := range e.PerENI {
		n += k
	}
	return n
}

// Available is how many addresses are left for pods to come.
func (e Explanation) Available() int { return e.TotalIPs() - e.Assigned }

// String tells the result in one line and each step in another.
func (e Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pods: %d ENIs, %d addresses %v, %d available, %d pods wait\n",
		e.Pods, len(e.PerENI), e.TotalIPs(), e.PerENI, e.Available(), e.Pods-e.Assigned)
	for i, s := range e.Steps {
		fmt.Fprintf(&b, "%3d. %s\n", i+1, s)
	}
	return b.String()
}

// Explain works out where a node with an empty primary ENI and that many pods comes to rest, with the decisions that
// Manager takes and an EC2 that always gives. It answers what targets mean before anybody pays for them.
func Explain(z Sizing, pods int) Explanation {
	e := Explanation{Sizing: z, Pods: pods}
	rooms := []Room{{ENI: eniName(0), Primary: true}}
	for {
		s := planned(z, rooms, pods)
		g, ok := z.Grow(s, rooms, 0)
		if !ok {
			e.Assigned = s.AssignedIPs
			break
		}
		e.Steps = append(e.Steps, reason(z, s, g))
		if g.ENI == "" {
			rooms = append(rooms, Room{ENI: eniName(len(rooms)), Units: g.Units})
			continue
		}
		for i := range rooms {
			if rooms[i].ENI == g.ENI {
				rooms[i].Units += g.Units
			}
		}
	}
	for _, r := range rooms {
		e.PerENI = append(e.PerENI, r.Units*z.ipsPerUnit())
	}
	return e
}

func eniName(n int) string { return fmt.Sprintf("eni-%d", n) }

func (z Sizing) ipsPerUnit() int {
	if z.PrefixDelegation {
		return DelegatedIPs
	}
	return 1
}

// planned is the account when pods take the lowest addresses first.
func planned(z Sizing, rooms []Room, pods int) Stats {
	var s Stats
	for _, r := range rooms {
		s.TotalIPs += r.Units * z.ipsPerUnit()
		if z.PrefixDelegation {
			s.TotalPrefixes += r.Units
		}
	}
	s.AssignedIPs = min(pods, s.TotalIPs)
	if z.PrefixDelegation {
		s.FreePrefixes = s.TotalPrefixes - ceil(s.AssignedIPs)
	}
	return s
}

// reason says why g is asked for.
func reason(z Sizing, s Stats, g Growth) string {
	unit, where := "addresses", "on "+g.ENI
	if z.PrefixDelegation {
		unit = "prefixes"
	}
	if g.ENI == "" {
		where = "on a new ENI"
	}
	var why string
	switch available := s.AvailableAddresses(); {
	case z.Addressed():
		why = fmt.Sprintf("%d of %d addresses are available, WARM_IP_TARGET is %d and MINIMUM_IP_TARGET %d", available, s.TotalIPs, z.WarmIP, z.MinimumIP)
	case z.PrefixDelegation:
		why = fmt.Sprintf("%d prefixes and %d addresses are available, WARM_PREFIX_TARGET is %d", s.FreePrefixes, available, z.WarmPrefix)
	default:
		why = fmt.Sprintf("%d addresses are available, WARM_ENI_TARGET is %d ENIs of %d", available, z.WarmENI, z.UnitsPerENI)
	}
	return fmt.Sprintf("%d %s %s: %s", g.Units, unit, where, why)
}
