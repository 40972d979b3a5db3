package audit

import (
	"fmt"
	"maps"
	"math/big"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// anyNetwork begins the networks of whereabouts' pools, which do not say whose attachments have their addresses.
const anyNetwork = "whereabouts"

// readWhereaboutsPool reads allocations, whose keys count from the range's first address.
func readWhereaboutsPool(o *Objects, one kubectl.Object) error {
	var spec struct {
		Range       string
		Allocations map[string]struct {
			PodRef       string
			IPAMClaimRef string
		}
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	p, err := kubectl.Prefix(spec.Range)
	if err != nil {
		return fmt.Errorf("spec.range: %w", err)
	}
	by := "whereabouts pool " + one.Metadata.Name
	// Pools are called by their range, behind the name of their network where they have one.
	named, _, _ := strings.Cut(one.Metadata.Name, strings.ReplaceAll(p.Addr().String(), ":", "-"))
	network := anyNetwork + " " + named
	o.now.covers = append(o.now.covers, cover{prefix: p, network: network, by: by, source: whereabouts, unsure: true})
	for _, key := range slices.Sorted(maps.Keys(spec.Allocations)) {
		a, ok := nth(p, key)
		if !ok {
			return fmt.Errorf("spec.allocations: %s counts beyond %s", key, p)
		}
		namespace, name, isPod := strings.Cut(spec.Allocations[key].PodRef, "/")
		if isPod {
			o.use(record{addr: a, network: network, by: by, source: whereabouts,
				owner: owner{kind: ofPod, namespace: namespace, name: name, kept: spec.Allocations[key].IPAMClaimRef != ""}})
		}
	}
	return nil
}

// nth is the address so many places behind a range's first.
func nth(p netip.Prefix, text string) (netip.Addr, bool) {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || n.Sign() < 0 {
		return netip.Addr{}, false
	}
	n.Add(n, new(big.Int).SetBytes(p.Addr().AsSlice()))
	bytes := make([]byte, p.Addr().BitLen()/8)
	if n.BitLen() > p.Addr().BitLen() {
		return netip.Addr{}, false
	}
	a, _ := netip.AddrFromSlice(n.FillBytes(bytes)) // as long as the range's
	return a, p.Contains(a)
}

// readWhereaboutsReservation reads a name that is an address, in which "-" stands for ":", behind the name of a network
// where there is one.
func readWhereaboutsReservation(o *Objects, one kubectl.Object) error {
	var spec struct{ PodRef, IPAMClaimRef string }
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	namespace, name, isPod := strings.Cut(spec.PodRef, "/")
	for words := strings.Split(one.Metadata.Name, "-"); isPod && len(words) > 0; words = words[1:] {
		text := strings.Join(words, "-")
		a, err := netip.ParseAddr(text)
		if err != nil {
			a, err = netip.ParseAddr(strings.ReplaceAll(text, "-", ":"))
		}
		if err == nil {
			o.use(record{addr: a, network: anyNetwork + " " + strings.TrimSuffix(one.Metadata.Name, text),
				by:     "whereabouts reservation " + one.Metadata.Name,
				source: whereabouts, owner: owner{kind: ofPod, namespace: namespace, name: name, kept: spec.IPAMClaimRef != ""}})
			return nil
		}
	}
	return nil
}
