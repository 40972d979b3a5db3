package calico

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Annotations of pods, and those of pools of namespaces too, by which Calico's plugin is asked for more than any address.
const (
	AddressAnnotation = "cni.projectcalico.org/ipAddrs"
	PoolsAnnotation   = "cni.projectcalico.org/ipv4pools"
	PoolsAnnotation6  = "cni.projectcalico.org/ipv6pools"
)

// wantedMost is how many pools of a family one pod may name.
const wantedMost = 64

// Want is what a pod asks for beside a free address, by family, IPv4 first. The zero Want is one of the pools that select
// its node, and are of all namespaces.
type Want struct {
	// Addrs are the only addresses that it takes of a family, of any pool, whichever nodes and namespaces that selects.
	Addrs [2]netip.Addr
	// Pools are those that it takes an address of, by name or CIDR, whichever nodes and namespaces they select.
	Pools [2][]string
	// Labels are those of its namespace, for pools' namespaceSelector.
	Labels map[string]string
	// Refused says why it gets no address, as what it asks for cannot be read.
	Refused string
}

// WantOf reads the annotations of a pod and of its namespace, whose labels it keeps, and the addresses that its runtime
// wants for it. A pod's pools count more than its namespace's, its annotation more than the runtime's addresses.
func WantOf(pod, namespace, labels map[string]string, runtime []netip.Addr) Want {
	w := Want{Labels: labels}
	refuse := func(annotation string, err error) {
		if err != nil && w.Refused == "" {
			w.Refused = fmt.Sprintf("what cannot be read: annotation %s: %v", annotation, err)
		}
	}
	if text, asked := pod[AddressAnnotation]; asked {
		list, err := listed(text)
		if err == nil {
			w.Addrs, err = addressesOf(list)
		}
		refuse(AddressAnnotation, err)
	}
	for f, annotation := range [...]string{PoolsAnnotation, PoolsAnnotation6} {
		text, asked := pod[annotation]
		if !asked {
			text, asked = namespace[annotation]
		}
		if asked && !w.Addrs[f].IsValid() { // an address says it all
			var err error
			w.Pools[f], err = listed(text)
			refuse(annotation, err)
		}
	}
	for _, a := range runtime {
		if f := placeOf(ipam.PoolOf(a)); !w.Addrs[f].IsValid() {
			w.Addrs[f] = a
		}
	}
	return w
}

// listed reads a list of texts, as JSON has it.
func listed(text string) (list []string, err error) {
	switch err = json.Unmarshal([]byte(text), &list); {
	case err != nil:
		return nil, errors.New(`want a list of texts as JSON has it, ["…"]`)
	case len(list) == 0:
		return nil, errors.New("the list is empty")
	case len(list) > wantedMost:
		return nil, fmt.Errorf("%d of them, at most %d", len(list), wantedMost)
	}
	return list, nil
}

// addressesOf are the addresses of a list, at most one of each family.
func addressesOf(list []string) (addrs [2]netip.Addr, err error) {
	for _, text := range list {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return addrs, fmt.Errorf("%q is no address", text)
		}
		a = a.Unmap()
		f := placeOf(ipam.PoolOf(a))
		if addrs[f].IsValid() {
			return addrs, fmt.Errorf("%d addresses, where a pod gets one of each family", len(list))
		}
		addrs[f] = a
	}
	return addrs, nil
}

// plain reports whether any address of the node's pools of a family will do that are of all namespaces.
func (w Want) plain(family string) bool {
	f := placeOf(family)
	return !w.Addrs[f].IsValid() && len(w.Pools[f]) == 0 && w.Refused == ""
}

// within is what is left of a wish where pods get addresses of these families: none is given of another.
func (w Want) within(families []string) Want {
	for _, a := range w.Addrs {
		if a.IsValid() && !slices.Contains(families, ipam.PoolOf(a)) && w.Refused == "" {
			w.Refused = fmt.Sprintf("%s, where pods get no addresses of its family", a)
		}
	}
	return w
}

// ForPod are the pools of a family that a pod on a node with these labels gets its address of, as it asks for it.
func (p Pools) ForPod(labels map[string]string, w Want, family string) (Pools, error) {
	f := placeOf(family)
	p = p.Of(family)
	switch {
	case w.Refused != "":
		return p, errors.New(w.Refused)
	case w.Addrs[f].IsValid():
		return p, nil
	case len(w.Pools[f]) == 0:
		p = p.For(labels)
		p.Ranges = slices.DeleteFunc(p.Ranges, func(r netip.Prefix) bool { return !p.Namespaces[r].Matches(w.Labels) })
		return p, nil
	}
	var ranges []netip.Prefix
	for _, word := range w.Pools[f] {
		r, named := p.Names[word]
		if !named {
			r, _ = space.ParsePrefix(word)
		}
		if !slices.Contains(p.Ranges, r) {
			return p, fmt.Errorf("pool %q: there is none in use", word)
		}
		ranges = append(ranges, r)
	}
	p.Ranges = ranges
	return p, nil
}

// AssignTo says what a host changes to get one address and no other, as Assign does. It claims the block of it where
// there is none yet. The error says why not, as who has it.
func (p Pools) AssignTo(blocks []Block, host string, a netip.Addr, u Use) (Block, error) {
	no := func(format string, args ...any) (Block, error) {
		return Block{}, fmt.Errorf("%s: %s", a, fmt.Sprintf(format, args...))
	}
	i := slices.IndexFunc(p.Ranges, func(r netip.Prefix) bool { return r.Contains(a) })
	if i < 0 {
		return no("no pool in use has it")
	}
	for _, b := range blocks {
		if !b.CIDR.Contains(a) {
			continue
		}
		n, _ := space.Index(b.CIDR, a)
		switch {
		case b.Foreign || !p.gives(b.CIDR):
			return no("block %s gives no addresses", b.CIDR)
		case b.Hosts[n] != "":
			return no("%s has it", NodeOf(b.Hosts[n]))
		case p.Strict && !owns(b.Affinity, host):
			return no("block %s is of %s, and addresses are not borrowed", b.CIDR, NodeOf(b.Affinity))
		}
		return b.assignOne(int(n), host, u), nil
	}
	if p.Fixed {
		return no("there is no block of it, and hosts claim none")
	}
	b := NewBlock(netip.PrefixFrom(a, p.bits(p.Ranges[i])), host)
	n, _ := space.Index(b.CIDR, a)
	return b.assignOne(int(n), host, u), nil
}
