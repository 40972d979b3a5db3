package calico

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Annotations of pods, and the second of namespaces too, by which Calico's plugin is asked for more than any address.
const (
	AddressAnnotation = "cni.projectcalico.org/ipAddrs"
	PoolsAnnotation   = "cni.projectcalico.org/ipv4pools"
)

// wantedMost is how many pools one pod may name.
const wantedMost = 64

// Want is what a pod asks for beside a free address. The zero Want is one of the pools that select its node, and are of
// all namespaces.
type Want struct {
	// Addr is the only address that it takes, of any pool, whichever nodes and namespaces that selects.
	Addr netip.Addr
	// Pools are those that it takes an address of, by name or CIDR, whichever nodes and namespaces they select.
	Pools []string
	// Labels are those of its namespace, for pools' namespaceSelector.
	Labels map[string]string
	// Refused says why what it asks for cannot be read: it gets no address.
	Refused string
}

// WantOf reads the annotations of a pod and of its namespace, whose labels it keeps, and the addresses that its runtime
// wants for it. A pod's pools count more than its namespace's, its annotation more than the runtime's addresses.
func WantOf(pod, namespace, labels map[string]string, runtime []netip.Addr) Want {
	w := Want{Labels: labels}
	refuse := func(annotation string, err error) {
		if err != nil && w.Refused == "" {
			w.Refused = fmt.Sprintf("annotation %s: %v", annotation, err)
		}
	}
	if text, asked := pod[AddressAnnotation]; asked {
		list, err := listed(text)
		if err == nil {
			w.Addr, err = onlyAddress(list)
		}
		refuse(AddressAnnotation, err)
	}
	text, asked := pod[PoolsAnnotation]
	if !asked {
		text, asked = namespace[PoolsAnnotation]
	}
	if asked && !w.Addr.IsValid() { // an address says it all
		var err error
		w.Pools, err = listed(text)
		refuse(PoolsAnnotation, err)
	}
	for _, a := range runtime {
		if a.Is4() && !w.Addr.IsValid() {
			w.Addr = a
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

func onlyAddress(list []string) (netip.Addr, error) {
	if len(list) > 1 {
		return netip.Addr{}, fmt.Errorf("%d addresses, where a pod gets one of IPv4", len(list))
	}
	a, err := netip.ParseAddr(list[0])
	if err != nil || !a.Is4() {
		return netip.Addr{}, fmt.Errorf("%q is no address of IPv4", list[0])
	}
	return a, nil
}

// plain reports whether any address of the node's pools will do that are of all namespaces.
func (w Want) plain() bool { return !w.Addr.IsValid() && len(w.Pools) == 0 && w.Refused == "" }

// ForPod are the pools that a pod on a node with these labels gets its address of, as it asks for it.
func (p Pools) ForPod(labels map[string]string, w Want) (Pools, error) {
	switch {
	case w.Refused != "":
		return p, fmt.Errorf("what cannot be read: %s", w.Refused)
	case w.Addr.IsValid():
		return p, nil
	case len(w.Pools) == 0:
		p = p.For(labels)
		p.Ranges = slices.DeleteFunc(p.Ranges, func(r netip.Prefix) bool { return !p.Namespaces[r].Matches(w.Labels) })
		return p, nil
	}
	var ranges []netip.Prefix
	for _, word := range w.Pools {
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
