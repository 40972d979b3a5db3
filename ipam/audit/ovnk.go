package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// nodeSubnets is the annotation in which OVN-Kubernetes says which subnets a node has, by network.
const nodeSubnets = "k8s.ovn.org/node-subnets"

// keptOVN are the addresses of a subnet that no pod gets from OVN-Kubernetes: the first and the last, the router's and
// the node's own.
const keptOVN = 4

// texts is a text, or a list of them.
type texts []string

func (t *texts) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		if *t = nil; one != "" { // null, and none yet
			*t = texts{one}
		}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(t))
}

// subnets takes what the annotation says.
func (n *node) subnets(value string) error {
	var byNetwork map[string]texts
	if err := json.Unmarshal([]byte(value), &byNetwork); err != nil {
		return fmt.Errorf("annotation %s: %w", nodeSubnets, err)
	}
	for _, network := range slices.Sorted(maps.Keys(byNetwork)) {
		list, err := kubectl.Prefixes(byNetwork[network])
		if err != nil {
			return fmt.Errorf("annotation %s: %w", nodeSubnets, err)
		}
		if network == "default" {
			network = ""
		}
		for _, p := range list {
			n.ranges = append(n.ranges, heldRange{node: n.name, prefix: p, network: network, by: "node subnet", source: ovnk,
				whole: true, kept: keptOVN})
		}
	}
	return nil
}

// podNetworks are the addresses of a pod in networks beside the default one.
func podNetworks(value string) (list []face, told bool) {
	var byNetwork map[string]struct {
		IPs []string `json:"ip_addresses"`
	}
	if value == "" || json.Unmarshal([]byte(value), &byNetwork) != nil {
		return nil, false
	}
	for _, network := range slices.Sorted(maps.Keys(byNetwork)) {
		for _, text := range byNetwork[network].IPs {
			if p, err := netip.ParsePrefix(text); err == nil && network != "default" {
				list = append(list, face{addr: p.Addr().Unmap(), network: network, second: true})
			}
		}
	}
	return list, true
}
