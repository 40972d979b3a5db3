package result

import "slices"

// collisionLaws are the laws that forbid two owners of one address, block or node ID.
var collisionLaws = []string{"one-owner", "grants-disjoint", "node-ids-disjoint"}

// Collisions counts how often an address, a block or a node ID had two owners. A run ends with the first one, unless
// its scenario allows more.
func (r *Result) Collisions() (n int64) {
	for _, l := range r.Laws {
		if slices.Contains(collisionLaws, l.Name) {
			n += l.Violations
		}
	}
	return n
}

// Violations counts how often laws were broken.
func (r *Result) Violations() (n int64) {
	for _, l := range r.Laws {
		n += l.Violations
	}
	return n
}
