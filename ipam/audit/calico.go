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

// calicoTunnels are the words of a block's attributes for what a node itself has.
var calicoTunnels = map[string]string{
	"ipipTunnelAddress": "IPIP tunnel", "vxlanTunnelAddress": "VXLAN tunnel", "vxlanV6TunnelAddress": "VXLAN tunnel",
	"wireguardTunnelAddress": "WireGuard interface", "wireguardV6TunnelAddress": "WireGuard interface",
}

// calicoBlock begins the names of records.
const calicoBlock = "Calico block "

// calicoAttribute is what a block says of an allocation.
type calicoAttribute struct {
	HandleID   string            `json:"handle_id"`
	Secondary  map[string]string `json:"secondary"`
	Alternate  map[string]string `json:"alternate"`
	ReleasedAt string            `json:"releasedAt"`
}

// readCalicoBlock reads what crd.projectcalico.org/v1 and projectcalico.org/v3 show alike: allocations are indices into
// attributes, null where the address is free.
func readCalicoBlock(o *Objects, one kubectl.Object) error {
	var spec struct {
		CIDR, Affinity string
		Deleted        bool
		Allocations    []*int
		Attributes     []calicoAttribute
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	if spec.Deleted {
		return nil
	}
	p, err := kubectl.Prefix(spec.CIDR)
	if err != nil {
		return fmt.Errorf("spec.cidr: %w", err)
	}
	by := calicoBlock + p.String()
	// A block of nobody's, and one whose affinity is virtual, as that of load balancers' addresses is since Calico 3.30,
	// is no node's range.
	if host, isNode := strings.CutPrefix(spec.Affinity, "host:"); isNode && host != "" {
		o.hold(heldRange{node: o.word(host), prefix: p, by: "Calico block", source: calico})
	}
	if len(spec.Allocations) > 0 {
		o.now.covers = append(o.now.covers, cover{prefix: p, by: by, source: calico})
	}
	for i, addr := 0, p.Addr(); i < len(spec.Allocations) && p.Contains(addr); i, addr = i+1, addr.Next() {
		if index := spec.Allocations[i]; index != nil {
			r := record{addr: addr, by: by, source: calico}
			if *index >= 0 && *index < len(spec.Attributes) {
				a := spec.Attributes[*index]
				r.owner, r.handle = o.calicoOwner(a), a.HandleID
			}
			o.use(r)
		}
	}
	return nil
}

// calicoOwner is whose an allocation is.
func (o *Objects) calicoOwner(a calicoAttribute) owner {
	s := a.Secondary
	w := owner{namespace: o.word(s["namespace"]), node: o.word(s["node"])}
	switch {
	case a.ReleasedAt != "":
		w.kind = ofCooling
	case s["pod"] != "":
		w.kind, w.name = ofPod, s["pod"]
		w.second, w.secondNode = podName{a.Alternate["namespace"], a.Alternate["pod"]}, o.word(a.Alternate["node"])
	case calicoTunnels[s["type"]] != "":
		w.kind, w.what = ofNode, calicoTunnels[s["type"]]
	case s["service"] != "" && s["namespace"] != "":
		w.kind, w.name = ofService, s["service"]
	case strings.EqualFold(a.HandleID, "windows-reserved-ipam-handle"):
		w.kind = ofReserved
	default:
		w.what = "handle " + a.HandleID
	}
	return w
}

// readCalicoAffinity reads which node claims a block.
func readCalicoAffinity(o *Objects, one kubectl.Object) error {
	var spec struct {
		State, Node, Type, CIDR string
		Deleted                 json.RawMessage // true, or "true" in older releases
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	p, err := kubectl.Prefix(spec.CIDR)
	if err != nil {
		return fmt.Errorf("spec.cidr: %w", err)
	}
	virtual := spec.Type != "" && spec.Type != "host"
	if virtual || spec.State != "confirmed" || strings.Trim(string(spec.Deleted), `"`) == "true" {
		return nil // those that are pending are no claims yet
	}
	o.hold(heldRange{node: o.word(spec.Node), prefix: p, by: "Calico block", source: calico})
	return nil
}

// handle is Calico's list of the addresses that one owner has, by block.
type handle struct {
	id     string
	blocks map[netip.Prefix]int
}

func readCalicoHandle(o *Objects, one kubectl.Object) error {
	var spec struct {
		HandleID string
		Block    map[string]int
		Deleted  bool
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	if spec.Deleted {
		return nil
	}
	h := handle{id: spec.HandleID, blocks: map[netip.Prefix]int{}}
	for _, text := range slices.Sorted(maps.Keys(spec.Block)) {
		p, err := kubectl.Prefix(text)
		if err != nil {
			return fmt.Errorf("spec.block: %w", err)
		}
		h.blocks[p] += spec.Block[text]
	}
	o.now.handle = h
	return nil
}

func readCalicoPool(o *Objects, one kubectl.Object) error {
	var spec struct {
		CIDR        string
		Disabled    bool
		AllowedUses []string
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	p, err := kubectl.Prefix(spec.CIDR)
	if err != nil {
		return fmt.Errorf("spec.cidr: %w", err)
	}
	if !spec.Disabled && (len(spec.AllowedUses) == 0 || slices.Contains(spec.AllowedUses, "Workload")) {
		o.now.pools = append(o.now.pools, pool{by: "pool " + one.Metadata.Name, source: calico, span: spanOf(p)})
	}
	return nil
}

func readCalicoReservation(o *Objects, one kubectl.Object) error {
	var spec struct{ ReservedCIDRs []string }
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	for _, text := range spec.ReservedCIDRs {
		if a, err := netip.ParseAddr(text); err == nil {
			text = netip.PrefixFrom(a, a.BitLen()).String()
		}
		p, err := kubectl.Prefix(text)
		if err != nil {
			return fmt.Errorf("spec.reservedCIDRs: %w", err)
		}
		o.now.reserved = append(o.now.reserved, p)
	}
	return nil
}
