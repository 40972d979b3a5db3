package datastore

// DelegatedIPs is how many addresses a delegated prefix has.
const DelegatedIPs = 1 << (32 - DelegatedBits)

// Sizing decides how many addresses a node should have. All its methods are functions of their arguments. Addresses
// that cool or are quarantined count as there, but not as available: a pod cannot have them.
//
// With a unit (an address, or with PrefixDelegation a delegated prefix): when TooLow, Grow says what to ask EC2 for; a
// node that gives back all that is Over, or an ENI without which TooLow is false, is not TooLow then.
type Sizing struct {
	Targets
	// ENIsMax is how many ENIs the node may have, the primary one and unmanaged ones included, at least 1.
	ENIsMax int
	// UnitsPerENI is how many units an ENI may hold beside its own address: the instance type's limit of addresses less 1.
	UnitsPerENI int
	// PrefixDelegation: units are /28 prefixes.
	PrefixDelegation bool
	// WholeENI asks EC2 for all that fits on an ENI, as upstream does up to 1.7; since 1.8 only for what is short.
	WholeENI bool
	// TrunkSlot keeps one ENI free for a trunk that is not there yet.
	TrunkSlot bool
	// SkipPrimary: the primary ENI is in another subnet than the pods (custom networking) and gets no units.
	SkipPrimary bool
}

// TargetState is how far a node is from its address targets, in units; never are both above 0.
type TargetState struct {
	Short, Over int
	// Enabled: there are address targets. Without them the other two are 0.
	Enabled bool
}

// IPsPerENI is how many addresses a full ENI has for pods.
func (z Sizing) IPsPerENI() int {
	if z.PrefixDelegation {
		return z.UnitsPerENI * DelegatedIPs
	}
	return z.UnitsPerENI
}

// IPTargetState compares s with the address targets.
func (z Sizing) IPTargetState(s Stats) TargetState {
	if !z.Addressed() {
		return TargetState{}
	}
	available := s.AvailableAddresses()
	short := max(z.WarmIP-available, z.MinimumIP-s.TotalIPs, 0)
	over := max(min(max(available-z.WarmIP, 0), s.TotalIPs-z.MinimumIP), 0)
	if z.PrefixDelegation {
		// A prefix goes back only whole, and only if the targets hold without it wherever its addresses were.
		taken := s.TotalIPs - available
		over = max(min(s.FreePrefixes, s.TotalPrefixes-ceil(taken+z.WarmIP), s.TotalPrefixes-ceil(z.MinimumIP)), 0)
		short = ceil(short)
	}
	return TargetState{Short: short, Over: over, Enabled: true}
}

// ceil is how many delegated prefixes hold that many addresses.
func ceil(addresses int) int { return (addresses + DelegatedIPs - 1) / DelegatedIPs }

// TooLow reports whether the node should get more.
func (z Sizing) TooLow(s Stats) bool {
	available := s.AvailableAddresses()
	switch {
	case z.Addressed():
		return z.IPTargetState(s).Short > 0
	case z.PrefixDelegation:
		return s.FreePrefixes < z.WarmPrefix || z.WarmPrefix == 0 && available == 0
	}
	return available < z.UnitsPerENI*z.WarmENI || z.WarmENI == 0 && available == 0
}

// TooHigh reports whether the node should give units back.
func (z Sizing) TooHigh(s Stats) bool { return z.Excess(s) > 0 }

// Excess is how many units the node should give back, ENIs aside.
func (z Sizing) Excess(s Stats) int {
	switch {
	case z.Addressed():
		return z.IPTargetState(s).Over
	case z.PrefixDelegation && !z.TooLow(s):
		excess := max(s.FreePrefixes-z.WarmPrefix, 0)
		if z.WarmPrefix == 0 && s.AvailableAddresses() == excess*DelegatedIPs {
			excess-- // the last available addresses stay: without them the node is too low
		}
		return max(excess, 0)
	}
	return 0
}

// ShouldRemoveExtraENIs reports whether it is worth looking for an ENI to give back; Spare then judges each.
func (z Sizing) ShouldRemoveExtraENIs(s Stats) bool {
	switch {
	case z.Addressed():
		return true
	case z.PrefixDelegation:
		return s.FreePrefixes >= z.WarmPrefix
	}
	return s.AvailableAddresses() >= (z.WarmENI+1)*z.UnitsPerENI
}

// Spare reports whether a node that would be left with rest can do so: then it must not want another ENI.
func (z Sizing) Spare(rest Stats) bool { return !z.TooLow(rest) }

// Room is an ENI as Grow sees it.
type Room struct {
	ENI            string
	Units          int
	Primary, Trunk bool
}

// Growth is what to ask EC2 for: Units more on an ENI, or a new ENI with as many when ENI is "".
type Growth struct {
	ENI   string
	Units int
}

// Grow says how to get closer to the targets in one step; false when they are met or nothing fits any more. rooms are
// the node's managed ENIs in store order; others is how many more it has.
func (z Sizing) Grow(s Stats, rooms []Room, others int) (Growth, bool) {
	if !z.TooLow(s) {
		return Growth{}, false
	}
	want := z.want(s)
	hasTrunk := false
	for _, r := range rooms {
		hasTrunk = hasTrunk || r.Trunk
		if room := z.UnitsPerENI - r.Units; z.takes(r) && room > 0 {
			if z.WholeENI {
				want = room
			}
			return Growth{ENI: r.ENI, Units: min(room, want)}, true
		}
	}
	limit := z.ENIsMax - others
	if z.TrunkSlot && !hasTrunk {
		limit--
	}
	if len(rooms) >= limit {
		return Growth{}, false
	}
	return Growth{Units: min(want, z.UnitsPerENI)}, true
}

func (z Sizing) takes(r Room) bool { return !r.Trunk && !(z.SkipPrimary && r.Primary) }

// want is how many units a node that is too low is short of; it is more than an ENI has room for without address
// targets.
func (z Sizing) want(s Stats) int {
	switch {
	case z.Addressed():
		return z.IPTargetState(s).Short
	case z.PrefixDelegation:
		return max(z.WarmPrefix-s.FreePrefixes, 1)
	}
	return z.UnitsPerENI
}
