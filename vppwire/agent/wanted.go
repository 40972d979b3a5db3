package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
)

// WantedRefused begins what an ADD is answered that cannot have the address it asks for: it is held, cooling, reserved,
// or not of this node.
const WantedRefused = "the pod asks for "

// wants are the addresses that t must get of each pool; zero where any will do. What an external IPAM plugin chose is
// one of them, and must be what the pod asks for.
func (t *attachment) wants(pools []string) (want [2]netip.Addr, err error) {
	want = t.external
	for _, a := range t.wanted {
		k := slices.Index(pools, ipam.PoolOf(a))
		if len(pools) == 1 {
			k = 0 // of the other family, it is in none of the blocks
		}
		if k >= 0 && want[k].IsValid() && want[k] != a {
			return want, t.unmet(a, fmt.Errorf("%s is to be given: %w", want[k], ipam.ErrNotInPool))
		}
		if k >= 0 {
			want[k] = a
		}
	}
	return want, nil
}

// unmet says of a refusal which wish it is for, where it is for one.
func (t *attachment) unmet(want netip.Addr, err error) error {
	switch {
	case errors.Is(err, ipam.ErrUnmet):
		return fmt.Errorf(WantedRefused+"%w", err)
	case slices.Contains(t.wanted, want):
		return fmt.Errorf(WantedRefused+"%s: %w", want, err)
	}
	return err
}

// grants reports whether an ADD that is repeated with these wishes can be answered by what t has, or is being given.
func (t *attachment) grants(wanted []netip.Addr) bool {
	for _, a := range wanted {
		if a != t.lease.Addr && a != t.second.Addr && !slices.Contains(t.wanted, a) {
			return false
		}
	}
	return true
}

// joined prints addresses in their order.
func joined(list []netip.Addr) string {
	var out []string
	for _, a := range list {
		out = append(out, a.String())
	}
	return strings.Join(out, ", ")
}
