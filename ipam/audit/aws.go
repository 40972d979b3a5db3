package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
)

// ipamdCIDR is a prefix, or a single address, of a network interface in ipamd's store.
type ipamdCIDR struct {
	IPAddresses, IPv4Addresses map[string]struct {
		Address string
		IPAMKey struct {
			ContainerID string `json:"containerID"`
		}
		IPAMMetadata struct {
			Namespace string `json:"k8sPodNamespace"`
			Name      string `json:"k8sPodName"`
		}
	}
}

type ipamdInterface struct {
	AvailableIPv4Cidrs, IPv6Cidrs map[string]ipamdCIDR
}

// interfaceOf is the name of what a node's ipamd shows: that of its first interface.
func interfaceOf(enis json.RawMessage) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(enis, &all) != nil || len(all) == 0 {
		return ""
	}
	return slices.Sorted(maps.Keys(all))[0]
}

// readIPAMD reads what ipamd answers on a node to curl http://localhost:61679/v1/enis. Nothing in it says which node
// that is.
func readIPAMD(o *Objects, one kubectl.Object) error {
	var all map[string]ipamdInterface
	if err := kubectl.Decode(one.ENIs, &all); err != nil {
		return fmt.Errorf("ENIs: %w", err)
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		by := "ipamd's store of " + id
		for _, cidrs := range []map[string]ipamdCIDR{all[id].AvailableIPv4Cidrs, all[id].IPv6Cidrs} {
			for _, text := range slices.Sorted(maps.Keys(cidrs)) {
				p, err := kubectl.Prefix(text)
				if err != nil {
					return fmt.Errorf("%s: %w", id, err)
				}
				o.now.covers = append(o.now.covers, cover{prefix: p, by: by, source: aws})
				o.ipamdUsed(by, cidrs[text])
			}
		}
	}
	return nil
}

func (o *Objects) ipamdUsed(by string, c ipamdCIDR) {
	used := c.IPAddresses
	if used == nil {
		used = c.IPv4Addresses // until release 1.10
	}
	for _, text := range slices.Sorted(maps.Keys(used)) {
		a, err := netip.ParseAddr(text)
		if u := used[text]; err == nil && u.IPAMKey.ContainerID != "" {
			w := owner{kind: ofPod, namespace: u.IPAMMetadata.Namespace, name: u.IPAMMetadata.Name}
			if w.name == "" {
				w = owner{what: "container " + u.IPAMKey.ContainerID}
			}
			o.use(record{addr: a, owner: w, by: by, source: aws})
		}
	}
}

// readENIConfig reads nothing but its name: nodes name the one that says in which subnet their interfaces are.
func readENIConfig(o *Objects, one kubectl.Object) error {
	o.now.interfaces = one.Metadata.Name
	return nil
}
