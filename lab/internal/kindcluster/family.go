package kindcluster

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/netip"
	"strings"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"

	"github.com/vppdrill/vppdrill/fixtures/kubernetes"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Families are a cluster's IP families in order, the primary one first, as Kubernetes' ipFamilies are. None means IPv4
// alone.
type Families []v1.IPFamily

// FamilyWords are kind's words, of which ParseFamilies reads one.
var FamilyWords = []string{string(v1alpha4.IPv4Family), string(v1alpha4.IPv6Family), string(v1alpha4.DualStackFamily)}

// ParseFamilies reads one of FamilyWords; nil for any other word. The primary family of dual is IPv4.
func ParseFamilies(word string) Families {
	for _, f := range []Families{{v1.IPv4Protocol}, {v1.IPv6Protocol}, {v1.IPv4Protocol, v1.IPv6Protocol}} {
		if f.String() == word {
			return f
		}
	}
	return nil
}

// kind is what kind calls these families.
func (f Families) kind() v1alpha4.ClusterIPFamily {
	switch {
	case len(f) > 1:
		return v1alpha4.DualStackFamily
	case len(f) == 1 && f[0] == v1.IPv6Protocol:
		return v1alpha4.IPv6Family
	}
	return v1alpha4.IPv4Family
}

// String is kind's word.
func (f Families) String() string { return string(f.kind()) }

// manifest is the file of fixtures/kubernetes that says which ranges such a cluster has; component is the one that the
// file is of, empty for base.
func (f Families) manifest() (path, component string) {
	switch f.kind() {
	case v1alpha4.IPv6Family:
		return "ipv6/pools.yaml", "../../ipv6"
	case v1alpha4.DualStackFamily:
		return "dual-stack/pools.yaml", "../../dual-stack"
	}
	return "base/config.yaml", ""
}

// pools are address ranges as the ConfigMap of ranges has them: vppwire/agent.PublishedPools.
type pools struct {
	Generation int64          `json:"generation"`
	IPAMConfig map[string]any `json:"ipamConfig"`
}

// of are a range's parts, one of each family.
func (p pools) of(key string) []string {
	text, _ := p.IPAMConfig[key].(string)
	return strings.Split(text, ",")
}

// pools are the ranges of a cluster whose nodes are joined by a wire of this range. The wire is nobody else's, so its
// range of IPv6 is the same in each cluster.
func (f Families) pools(wire netip.Prefix) (pools, error) {
	path, _ := f.manifest()
	text, err := fs.ReadFile(kubernetes.Files, path)
	if err != nil {
		return pools{}, err
	}
	var p pools
	for doc := range strings.SplitSeq(string(text), "\n---\n") {
		var object v1.ConfigMap
		if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
			return p, fmt.Errorf("%s: %w", path, err)
		}
		if object.Name == PoolsConfig {
			err = json.Unmarshal([]byte(object.Data["pools"]), &p)
		}
	}
	switch {
	case err != nil:
		return p, fmt.Errorf("%s of %s: %w", PoolsConfig, path, err)
	case p.Generation == 0:
		return p, fmt.Errorf("%s has no %s", path, PoolsConfig)
	}
	nodes := p.of("nodeInterconnectCIDR")
	if f.kind() != v1alpha4.IPv6Family { // manifests have IPv4 first
		nodes[0] = wire.String()
	}
	p.IPAMConfig["nodeInterconnectCIDR"] = strings.Join(nodes, ",")
	if len(f) > 1 && f[0] == v1.IPv6Protocol {
		for key := range p.IPAMConfig { // in any order: each by itself
			if pair := p.of(key); len(pair) == 2 {
				p.IPAMConfig[key] = pair[1] + "," + pair[0]
			}
		}
	}
	return p, nil
}

// rules are those of every family, each behind the program that sets it.
func (p pools) rules() (list [][]string) {
	services := p.of("serviceCIDR")
	for i, pods := range p.of("podSubnetCIDR") {
		program, clusterIPs := "iptables", everyService
		if strings.Contains(pods, ":") {
			program, clusterIPs = "ip6tables", services[i]
		}
		for _, rule := range familyRules(pods, services[i], clusterIPs) {
			list = append(list, append([]string{program}, rule...))
		}
	}
	return list
}

// everyService has every service's address of IPv4 in it, those of Agents.ServiceSubnet as well.
const everyService = "10.96.0.0/12"

// familyRules are what nodes do with what pods send beside VPP: to the outside they masquerade it, as kind's own CNI
// does. So they do what a service sends back to pods (a node port that keeps its clients' addresses among them), as the
// answer would go from pod to pod past them. A service's address that kube-proxy does not serve, or not yet, is refused
// and never the outside's, where anybody may answer.
func familyRules(pods, services, clusterIPs string) [][]string {
	return [][]string{
		{"nat", "POSTROUTING", "-s", pods, "!", "-d", pods, "-o", "eth0", "-m", "comment", "--comment", "vppdrill: pods to the outside", "-j", "MASQUERADE"},
		{"nat", "POSTROUTING", "-s", pods, "-d", pods, "-o", vppwire.HostLinuxDevice, "-m", "comment", "--comment", "vppdrill: pods to services of the host", "-j", "MASQUERADE"},
		{"filter", "FORWARD", "-d", services, "-m", "comment", "--comment", "vppdrill: services that nobody serves", "-j", "REJECT"},
		{"filter", "OUTPUT", "-d", clusterIPs, "-o", "eth0", "-m", "comment", "--comment", "vppdrill: services that nobody serves yet", "-j", "REJECT"},
	}
}

// nodeIP is what a kubelet of these families is told of its machine's addresses.
func (f Families) nodeIP(four, six netip.Addr) (string, error) {
	own := map[v1.IPFamily]netip.Addr{v1.IPv4Protocol: four, v1.IPv6Protocol: six}
	var list []string
	for _, family := range f.orIPv4() {
		if !own[family].IsValid() {
			return "", fmt.Errorf("the machine has no %s address in network %s", family, kindNetwork)
		}
		list = append(list, own[family].String())
	}
	return strings.Join(list, ","), nil
}

func (f Families) orIPv4() Families {
	if len(f) == 0 {
		return Families{v1.IPv4Protocol}
	}
	return f
}
