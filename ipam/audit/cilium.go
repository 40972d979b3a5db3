package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// keptCilium are the addresses of a pod CIDR that no pod gets from Cilium: the first, the last, the router's and the
// health endpoint's.
const keptCilium = 4

// ciliumOwned is an address of a CiliumNode's.
type ciliumOwned struct{ Owner, Resource string }

type ciliumSpec struct {
	IPAM struct {
		PodCIDRs []string
		Pool     map[string]ciliumOwned
		Pools    struct {
			Allocated []struct {
				Pool  string
				CIDRs []string
			}
		}
	}
}

type ciliumStatus struct {
	IPAM struct{ Used map[string]ciliumOwned }
	ENI  struct {
		ENIs map[string]struct{ Prefixes []string }
	}
}

// readCiliumNode reads cilium.io/v2, and PoolNodes, which are the same as far as they go: podCIDRs of cluster-pool,
// pools of multi-pool, single addresses of clouds, and what is used.
func readCiliumNode(o *Objects, one kubectl.Object) error {
	var spec ciliumSpec
	var status ciliumStatus
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	if err := kubectl.Decode(one.Status, &status); err != nil {
		return err
	}
	from := cilium
	if one.Kind == "PoolNode" {
		from = vppdrill
	}
	name := o.word(one.Metadata.Name)
	var allocated []string
	for _, pool := range spec.IPAM.Pools.Allocated {
		allocated = append(allocated, pool.CIDRs...)
	}
	ranges, err := kubectl.Prefixes(spec.IPAM.PodCIDRs)
	if err != nil {
		return fmt.Errorf("spec.ipam.podCIDRs: %w", err)
	}
	for _, p := range ranges { // of a cluster-pool, a node has one for ever
		o.hold(heldRange{node: name, prefix: p, by: one.Kind, source: from, whole: len(allocated) == 0, kept: keptCilium})
	}
	blocks, err := kubectl.Prefixes(allocated)
	if err != nil {
		return fmt.Errorf("spec.ipam.pools.allocated: %w", err)
	}
	for _, p := range blocks {
		o.hold(heldRange{node: name, prefix: p, by: one.Kind, source: from})
	}
	single := o.ciliumPool(name, from, spec)
	used := o.ciliumUsed(name, from, status.IPAM.Used)
	if used > 0 { // modes that write what is used write all of it
		by := o.word(one.Kind + " " + name)
		for _, p := range slices.Concat(ranges, blocks, single) {
			o.now.covers = append(o.now.covers, cover{prefix: p, by: by, source: from})
		}
	}
	o.ciliumStranded(name, blocks, single, status)
	return nil
}

// ciliumPool takes single addresses, as clouds give them to a node.
func (o *Objects) ciliumPool(name string, from source, spec ciliumSpec) (single []netip.Prefix) {
	for _, a := range kubectl.Addrs(slices.Sorted(maps.Keys(spec.IPAM.Pool))...) {
		single = append(single, netip.PrefixFrom(a, a.BitLen()))
		o.hold(heldRange{node: name, prefix: single[len(single)-1], by: "CiliumNode's pool", source: from})
	}
	return single
}

// ciliumUsed takes what an agent says is used, and says how much that is.
func (o *Objects) ciliumUsed(name string, from source, used map[string]ciliumOwned) (n int) {
	by := o.word("CiliumNode " + name)
	for _, text := range slices.Sorted(maps.Keys(used)) {
		// After its own restart an agent writes what it found as "namespace/pod [restored]" (Cilium's restoration of
		// endpoints).
		a, err := netip.ParseAddr(text)
		if err != nil {
			continue
		}
		word, _, _ := strings.Cut(used[text].Owner, " ")
		namespace, pod, isPod := strings.Cut(word, "/")
		w := owner{kind: ofPod, namespace: o.word(namespace), name: pod, node: name}
		if !isPod {
			w = owner{kind: ofNode, what: "Cilium " + word, node: name}
			if word == "" {
				w = owner{what: "an owner without a name"}
			}
		}
		o.use(record{addr: a, owner: w, by: by, source: from})
		n++
	}
	return n
}

// ciliumStranded finds addresses that a node has and that its agent gives to no pod.
func (o *Objects) ciliumStranded(name string, blocks, single []netip.Prefix, status ciliumStatus) {
	in := func(list []netip.Prefix, p netip.Prefix) bool {
		return slices.ContainsFunc(list, func(r netip.Prefix) bool { return r.Bits() <= p.Bits() && r.Contains(p.Addr()) })
	}
	told := func(format string, args ...any) {
		o.now.findings = append(o.now.findings, Finding{LawStranded, Warning, name, fmt.Sprintf(format, args...)})
	}
	o.now.judged = map[string]int{}
	if len(blocks) > 0 && len(single) > 0 {
		o.now.judged[LawStranded]++
		beside := slices.DeleteFunc(slices.Clone(single), func(p netip.Prefix) bool { return in(blocks, p) })
		if len(beside) > 0 {
			told("%d addresses of spec.ipam.pool, such as %s, lie in no allocated CIDR: its agent gives them to no pod while "+
				"pods wait", len(beside), beside[0].Addr())
		}
	}
	known := slices.Concat(blocks, single)
	for _, id := range slices.Sorted(maps.Keys(status.ENI.ENIs)) {
		prefixes, err := kubectl.Prefixes(status.ENI.ENIs[id].Prefixes)
		for _, p := range prefixes {
			if err != nil || len(known) == 0 {
				break
			}
			o.now.judged[LawStranded]++
			if !in(known, p) && !slices.ContainsFunc(single, func(a netip.Prefix) bool { return p.Contains(a.Addr()) }) {
				told("prefix %s is attached to %s, and spec.ipam has none of its addresses: no pod gets one", p, id)
			}
		}
	}
}

// readCiliumPool reads a pool of multi-pool.
func readCiliumPool(o *Objects, one kubectl.Object) error {
	type family struct{ CIDRs []json.RawMessage } // texts, or objects with a text
	var spec struct{ IPv4, IPv6 family }
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	for _, raw := range slices.Concat(spec.IPv4.CIDRs, spec.IPv6.CIDRs) {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			var object struct{ CIDR string }
			if err := json.Unmarshal(raw, &object); err != nil {
				return fmt.Errorf("spec: cidrs: %w", err)
			}
			text = object.CIDR
		}
		p, err := kubectl.Prefix(text)
		if err != nil {
			return fmt.Errorf("spec: cidrs: %w", err)
		}
		o.now.pools = append(o.now.pools, pool{by: "pool " + one.Metadata.Name, source: cilium, span: spanOf(p)})
	}
	return nil
}
