package audit

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// Reader reads what an object of one kind says, into Objects by Hold and Use.
type Reader func(*Objects, kubectl.Object) error

// readers are those of the kinds that are known: a system's records have a row here.
var readers = map[string]Reader{
	"Node": readNode, "Pod": readPod, "Service": readService, "ServiceCIDR": readServiceCIDR,
	"IPAMBlock": readCalicoBlock, "CiliumNode": readCiliumNode, "PoolNode": readCiliumNode, "NodeIDRecord": readNodeID,
}

// podCIDR is what Node objects say. Where a CNI has ranges of its own it does not use them, and they may overlap with
// those.
const podCIDR = "pod CIDR"

func readNode(o *Objects, one kubectl.Object) error {
	read, err := one.Node()
	if err != nil {
		return err
	}
	name := one.Metadata.Name
	o.nodes[name] = node{name: name, addresses: read.Addresses, maxPods: read.MaxPods}
	for _, p := range read.PodCIDRs {
		o.ranges = append(o.ranges, heldRange{node: name, prefix: p, by: podCIDR, whole: true})
	}
	return nil
}

func readPod(o *Objects, one kubectl.Object) error {
	read, err := one.Pod()
	if err != nil {
		return err
	}
	o.pods = append(o.pods, pod{namespace: one.Metadata.Namespace, name: one.Metadata.Name, node: read.Node, addrs: read.Addrs,
		host: read.HostNetwork, over: read.Over})
	return nil
}

func readService(o *Objects, one kubectl.Object) error {
	var spec struct {
		ClusterIP  string
		ClusterIPs []string
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	if len(spec.ClusterIPs) == 0 {
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
	o.services = append(o.services, service{name: one.Metadata.Namespace + "/" + one.Metadata.Name, addrs: kubectl.Addrs(spec.ClusterIPs...)})
	return nil
}

func readServiceCIDR(o *Objects, one kubectl.Object) error {
	var spec struct{ CIDRs []string }
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	cidrs, err := kubectl.Prefixes(spec.CIDRs)
	o.services = append(o.services, service{name: "service range " + one.Metadata.Name, cidrs: cidrs})
	return err
}

// readCalicoBlock reads crd.projectcalico.org/v1: allocations are indices into attributes, null where the address is
// free.
func readCalicoBlock(o *Objects, one kubectl.Object) error {
	var spec struct {
		CIDR, Affinity string
		Deleted        bool
		Allocations    []*int
		Attributes     []struct {
			HandleID  string            `json:"handle_id"`
			Secondary map[string]string `json:"secondary"`
		}
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	if spec.Deleted {
		return nil
	}
	p, err := netip.ParsePrefix(spec.CIDR)
	if err != nil {
		return fmt.Errorf("spec.cidr: %w", err)
	}
	// A block of nobody's, and one whose affinity is virtual, as that of load balancers' addresses is since Calico 3.30,
	// is no node's range.
	if host, isNode := strings.CutPrefix(spec.Affinity, "host:"); isNode && host != "" {
		o.Hold(host, p.Masked(), "Calico block")
	}
	addr := p.Masked().Addr()
	for _, index := range spec.Allocations {
		if index != nil && *index >= 0 && *index < len(spec.Attributes) {
			a := spec.Attributes[*index].Secondary
			if a["pod"] != "" { // tunnels and reserved addresses have none
				o.Use(addr, a["namespace"], a["pod"], a["node"], "Calico block "+p.String())
			}
		}
		addr = addr.Next()
	}
	return nil
}

// readCiliumNode reads cilium.io/v2, and PoolNodes, which are the same as far as they go: podCIDRs of cluster-pool and
// pools of multi-pool, and what is used.
func readCiliumNode(o *Objects, one kubectl.Object) error {
	type owned struct{ Owner string }
	var spec struct {
		IPAM struct {
			PodCIDRs []string
			Pools    struct {
				Allocated []struct{ CIDRs []string }
			}
		}
	}
	var status struct {
		IPAM struct{ Used map[string]owned }
	}
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	if err := kubectl.Decode(one.Status, &status); err != nil {
		return err
	}
	texts := spec.IPAM.PodCIDRs
	for _, pool := range spec.IPAM.Pools.Allocated {
		texts = append(texts, pool.CIDRs...)
	}
	cidrs, err := kubectl.Prefixes(texts)
	for _, p := range cidrs {
		o.Hold(one.Metadata.Name, p, one.Kind)
	}
	for text, u := range status.IPAM.Used { //vppdrill:unordered sorted below, by address
		// After its own restart an agent writes what it found as "namespace/pod [restored]" (Cilium's restoration of
		// endpoints).
		namespace, name, isPod := strings.Cut(strings.TrimSuffix(u.Owner, " [restored]"), "/")
		if a, err := netip.ParseAddr(text); err == nil && isPod {
			o.Use(a, namespace, name, one.Metadata.Name, "CiliumNode "+one.Metadata.Name)
		}
	}
	slices.SortStableFunc(o.used, func(a, b usedAddress) int { return a.addr.Compare(b.addr) })
	return err
}

// readNodeID reads this project's own records.
func readNodeID(o *Objects, one kubectl.Object) error {
	var spec struct{ Key, Record string }
	if err := kubectl.Decode(one.Spec, &spec); err != nil {
		return err
	}
	var record struct {
		Name        string
		PodNetworks []string `json:"pod_networks"`
		ReleasedAt  string   `json:"released_at"`
	}
	if !strings.HasPrefix(spec.Record, "{") {
		return nil // marks of the store's own
	}
	if err := json.Unmarshal([]byte(spec.Record), &record); err != nil {
		return fmt.Errorf("spec.record: %w", err)
	}
	if record.ReleasedAt != "" {
		return nil // its ID rests
	}
	cidrs, err := kubectl.Prefixes(record.PodNetworks)
	for _, p := range cidrs {
		o.ranges = append(o.ranges, heldRange{node: record.Name, prefix: p, by: "node record " + spec.Key, whole: true})
	}
	return err
}
