package vppmodel

// pageLength values of pages lie side by side.
const pageLength = 16

// pages keeps values by number. Growth moves none, so a pointer to one stays right; and a walk over all of them goes
// through memory in order, where values of their own would lie between those of all other VPPs of a mesh.
type pages[T any] struct{ list []*[pageLength]T }

// at is the place of number n, made when it is first asked for.
func (p *pages[T]) at(n uint32) *T {
	for n/pageLength >= uint32(len(p.list)) {
		p.list = append(p.list, new([pageLength]T))
	}
	return &p.list[n/pageLength][n%pageLength]
}
