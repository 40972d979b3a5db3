package datastore

// Stats is how many addresses a store has and what they are doing. Total = assigned + cooling + quarantined + available.
type Stats struct {
	TotalIPs, AssignedIPs int
	// CooldownIPs were given back less than the cooling period ago.
	CooldownIPs int
	// QuarantinedIPs are named by damaged checkpoint entries.
	QuarantinedIPs int
	// TotalPrefixes is how many delegated /28 prefixes there are, FreePrefixes how many of them have all addresses available.
	TotalPrefixes, FreePrefixes int
	// ForceRemovedENIs and ForceRemovedIPs count, since the store was made, what went away under pods.
	ForceRemovedENIs, ForceRemovedIPs int
}

// AvailableAddresses is how many addresses could be assigned at this moment.
func (s Stats) AvailableAddresses() int {
	return s.TotalIPs - s.AssignedIPs - s.CooldownIPs - s.QuarantinedIPs
}

func (s *Stats) set(c *counts) {
	s.TotalIPs, s.AssignedIPs, s.CooldownIPs, s.QuarantinedIPs = c.total(), c[assigned], c[cooling], c[aside]
}

// GetStats returns total and assigned addresses.
func (ds *DataStore) GetStats() (total, assignedIPs int) {
	return ds.counts.total(), ds.counts[assigned]
}

// GetIPStats returns the whole account.
func (ds *DataStore) GetIPStats() Stats {
	ds.thaw()
	s := Stats{
		TotalPrefixes: ds.prefixes, FreePrefixes: ds.freePrefixes,
		ForceRemovedENIs: ds.forcedENIs, ForceRemovedIPs: ds.forcedIPs,
	}
	s.set(&ds.counts)
	return s
}

// statsWithout is the account if e were gone.
func (ds *DataStore) statsWithout(e *eni) Stats {
	s := ds.GetIPStats()
	rest := ds.counts.minus(&e.counts)
	s.set(&rest)
	for _, u := range e.units {
		if len(u.entries) > 1 {
			s.TotalPrefixes--
			if u.whole() {
				s.FreePrefixes--
			}
		}
	}
	return s
}
