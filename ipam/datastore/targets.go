package datastore

import "strconv"

// Targets say how much a node keeps ready for pods to come. If WarmIP or MinimumIP is set, addresses are counted and
// the other two do not matter. The zero Targets keep nothing ready: one address as long as none is free. See
// DefaultTargets.
type Targets struct {
	// WarmIP addresses shall be available; 0 is unset.
	WarmIP int
	// MinimumIP addresses shall be there in all, assigned ones included; 0 is unset.
	MinimumIP int
	// WarmENI is how many ENIs' worth of addresses shall be available.
	WarmENI int
	// WarmPrefix is how many delegated prefixes shall be available, with prefix delegation in place of WarmENI.
	WarmPrefix int
}

// DefaultTargets are what upstream uses when its environment says nothing.
func DefaultTargets() Targets { return Targets{WarmENI: 1, WarmPrefix: 1} }

// Addressed reports whether addresses are counted.
func (t Targets) Addressed() bool { return t.WarmIP > 0 || t.MinimumIP > 0 }

// ParseTargets reads WARM_IP_TARGET, MINIMUM_IP_TARGET, WARM_ENI_TARGET and WARM_PREFIX_TARGET; getenv returns "" for
// what is not set. What is no number or negative counts as not set.
func ParseTargets(getenv func(name string) string) Targets {
	t := DefaultTargets()
	for name, into := range map[string]*int{ // in any order: each sets its own field
		"WARM_IP_TARGET": &t.WarmIP, "MINIMUM_IP_TARGET": &t.MinimumIP,
		"WARM_ENI_TARGET": &t.WarmENI, "WARM_PREFIX_TARGET": &t.WarmPrefix,
	} {
		if n, err := strconv.Atoi(getenv(name)); err == nil && n >= 0 {
			*into = n
		}
	}
	return t
}
