package scenarios_test

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: addresses and ranges that nobody can have are refused where they are written, each with its reason, and those that somebody can
// have are not. Method: a table of last items; "" is accepted.
func TestActionAddresses(t *testing.T) {
	const (
		plain    = ""
		external = "config: {ipam: {useExternalIPAM: true}}\n"
		carved   = "config: {ipam: {system: nodeipam, podSubnetCIDR: 10.1.0.0/16, ranges: [10.1.0.0/20]}}\n"
		whole    = "config: {ipam: {system: nodeipam}}\n"
		served   = "config: {wiring: {services: vpp, pod: tap}}\n"
		leased   = "config: {ipam: {nodeInterconnectDHCP: true}}\n"
	)
	for _, c := range []struct{ config, item, want string }{
		{plain, "do: change-management, node: node-2, addresses: [10.20.0.77, 10.20.0.77]", "addresses[1]: 10.20.0.77 is listed twice"},
		{plain, "do: change-management, node: node-2, addresses: [0.0.0.0]", "addresses[0]: 0.0.0.0 stands for no host (0.0.0.0/8): no machine can have it"},
		{plain, "do: change-management, node: node-2, addresses: [10.20.0.0]", "addresses[0]: 10.20.0.0 is the address of the network 10.20.0.0/16 itself: no machine can have it"},
		{plain, "do: change-management, node: node-2, addresses: [10.20.255.255]", "addresses[0]: 10.20.255.255 is the broadcast address of 10.20.0.0/16: no machine can have it"},
		{plain, "do: change-management, node: node-2, addresses: [10.20.0.1]", "addresses[0]: 10.20.0.1 is a management address of node-1: two machines cannot both have it"},
		{plain, "do: change-management, node: any, addresses: [10.20.0.1]", "addresses[0]: 10.20.0.1 is a management address of node-1: two machines cannot both have it"},
		{plain, "do: change-management, node: node-2, addresses: [10.1.1.2]", "addresses[0]: 10.1.1.2 lies in podSubnetCIDR 10.1.0.0/16, whose addresses are given to others"},
		{plain, `do: change-management, node: node-2, addresses: ["fd20::7"]`, "addresses: has no IPv4 address, and the cluster has no other family: one of the other family may stand beside it"},
		{plain, `do: change-management, node: node-2, addresses: [10.20.0.2, "fd20::7"]`, ""},
		{plain, `do: change-management, node: node-2, addresses: [10.20.0.2, "fe80::7"]`, "addresses[1]: fe80::7 is link-local (fe80::/10): no machine can have it"},
		{plain, "do: create-pods, addresses: [127.0.0.1]", "addresses[0]: 127.0.0.1 is loopback (127.0.0.0/8): no pod can have it"},
		{plain, "do: create-pods, addresses: [\"fd00::9\"]", "addresses[0]: fd00::9 is not IPv4, and the cluster has no other family"},
		{plain, "do: create-pods, addresses: [10.1.1.9, 10.1.1.8]", "addresses: wants one address of a family: a pod's interface has no more"},
		{"config: {ipam: {system: cilium}}\n", "do: create-pods, addresses: [10.1.1.9]", "addresses: Cilium's plugin asks its agent for any address of a pool: no pod can ask for one"},
		{"config: {ipam: {system: calico}}\n", "do: create-pods, addresses: [10.1.1.9]", ""},
		{plain, "do: change-node-address, node: node-2, address: 224.0.0.1/24", "address: 224.0.0.1 is multicast (224.0.0.0/4): no node can have it"},
		{plain, "do: change-node-address, node: node-2, address: 192.168.16.0/24", "address: 192.168.16.0 is the address of the network 192.168.16.0/24 itself: no node can have it"},
		{plain, "do: change-node-address, node: node-2, address: 192.168.16.255/24", "address: 192.168.16.255 is the broadcast address of 192.168.16.0/24: no node can have it"},
		{plain, "do: change-node-address, node: node-2, address: 192.168.17.5/24", "address: 192.168.17.5 lies outside nodeInterconnectCIDR 192.168.16.0/24: other nodes have no route to it"},
		{plain, "do: change-node-address, node: node-2, address: 192.168.16.99/32", "address: want the length of its subnet, 192.168.16.99/24"},
		{plain, "do: change-node-address, node: node-2, address: 192.168.16.1/24", "address: 192.168.16.1 is the address of node ID 1, which one of the 3 nodes has"},
		{plain, `do: change-node-address, node: node-2, address: "fd03::7/112"`, "address: fd03::7 is not IPv4 as nodeInterconnectCIDR 192.168.16.0/24 is"},
		{leased, "do: change-node-address, node: node-2, address: 192.168.16.77/24", ""},
		{external, "do: set-pod-cidr, node: node-2, podCIDR: 192.168.16.0/24", "podCIDR: 192.168.16.0/24 overlaps nodeInterconnectCIDR 192.168.16.0/24"},
		{external, "do: set-pod-cidr, node: node-2, podCIDR: 10.96.0.0/24", "podCIDR: 10.96.0.0/24 overlaps serviceCIDR 10.96.0.0/12"},
		{external, "do: set-pod-cidr, node: node-2, podCIDR: 10.20.0.0/24", "podCIDR: 10.20.0.0/24 overlaps the hosts' network 10.20.0.0/16, where node-1 is"},
		{external, "do: set-pod-cidr, node: node-2, podCIDR: 10.1.2.0/25", "podCIDR: 10.1.2.0/25 overlaps 10.1.2.0/24, which node-2 has until then and gives back only once its pods are gone"},
		{external, "do: set-pod-cidr, node: node-2, podCIDR: 10.1.77.0/32", "podCIDR: 10.1.77.0/32 has no room for a pod: network, gateway, NAT loopback and broadcast address take four"},
		{external, `do: set-pod-cidr, node: node-2, podCIDR: "fd00::/64"`, "podCIDR: fd00::/64 is not IPv4, and the cluster has no other family"},
		{external, "do: set-pod-cidr, node: node-2, podCIDR: 10.1.1.0/24", ""}, // node-1's: a mistake that a law tells
		{carved, "do: remove-range, cidr: 10.1.32.0/20", `cidr: the controller has no range 10.1.32.0/20; did you mean "10.1.0.0/20"?`},
		{whole, "do: remove-range, cidr: 10.1.7.0/24", `cidr: the controller has no range 10.1.7.0/24; did you mean "10.1.0.0/16"?`},
		{whole, "do: remove-range, cidr: 10.1.0.0/16", ""},
		{plain, "do: change-cidr, podSubnetCIDR: 224.0.0.0/16", "podSubnetCIDR: 224.0.0.0/16 is multicast (224.0.0.0/4)"},
		{plain, "do: change-cidr, podSubnetCIDR: 10.20.0.0/16", "podSubnetCIDR: 10.20.0.0/16 overlaps the hosts' network 10.20.0.0/16, where node-1 is"},
		{served, "do: change-service, name: x, app: per-node, clusterIP: 10.1.1.2", "clusterIP: 10.1.1.2 lies outside serviceCIDR 10.96.0.0/12"},
		{served, "do: change-service, name: x, app: per-node, clusterIP: 10.96.0.9, externalIP: 224.0.0.1", "externalIP: 224.0.0.1 is multicast (224.0.0.0/4): no service can have it"},
		{served, "do: change-service, name: x, app: per-node, clusterIP: 10.96.0.9, externalIP: 10.1.1.2", "externalIP: 10.1.1.2 lies in podSubnetCIDR 10.1.0.0/16, whose addresses are given to others"},
	} {
		file := "name: x\ntopology: {nodes: 3, podsPerNode: 1}\n" + c.config + "timeline:\n  - {when: settled, " + c.item + "}\n"
		_, err := scenarios.Parse("x.yaml", []byte(file))
		got := ""
		if err != nil {
			at := "x.yaml:5:"
			if c.config == "" {
				at = "x.yaml:4:"
			}
			if got = err.Error(); !strings.HasPrefix(got, at) {
				t.Errorf("%s: %s does not start with %s", c.item, got, at)
			}
			_, got, _ = strings.Cut(got, "timeline[0].")
		}
		if got != c.want {
			t.Errorf("%s:\n have %s\n want %s", c.item, got, c.want)
		}
	}
}

// Goal: a pool of single addresses is taken, as Cilium does, and one of IPv4 alone.
func TestSingleAddressPool(t *testing.T) {
	_, err := scenarios.Parse("x.yaml", []byte(`name: x
config:
  ipam:
    system: cilium
    ranges: [10.1.0.0/20]
    cilium: {pools: [{name: tight, ipv4: [10.1.64.0/27], maskSizeIPv4: 32}]}
`))
	if err != nil {
		t.Error(err)
	}
}

// Goal: a cluster cannot start with ranges that it could not change to: over the hosts' network. Method: a table of configurations.
func TestRangesOverHosts(t *testing.T) {
	const over = " overlaps the hosts' network 10.20.0.0/16, where node-1 is"
	for _, c := range []struct{ file, want string }{
		{"config: {ipam: {podSubnetCIDR: 10.20.0.0/16}}", "config.ipam.podSubnetCIDR: 10.20.0.0/16" + over},
		{"config: {ipam: {podSubnetCIDR: 10.16.0.0/12}}", "config.ipam.podSubnetCIDR: 10.16.0.0/12" + over},
		{"config: {ipam: {vppHostSubnetCIDR: 10.20.0.0/16}}", "config.ipam.vppHostSubnetCIDR: 10.20.0.0/16" + over},
		{"config: {ipam: {nodeInterconnectCIDR: 10.20.0.0/24}}", "config.ipam.nodeInterconnectCIDR: 10.20.0.0/24" + over},
		{"config: {ipam: {vxlanCIDR: 10.20.5.0/24}}", "config.ipam.vxlanCIDR: 10.20.5.0/24" + over},
		{"config: {ipam: {serviceCIDR: 10.20.0.0/16}}", "config.ipam.serviceCIDR: 10.20.0.0/16" + over},
		{"config: {ipam: {contivCIDR: 10.20.0.0/14}}", "config.ipam: podSubnetCIDR 10.20.0.0/16" + over},
		{"config: {ipam: {system: calico, podSubnetCIDR: 10.20.0.0/16}}", "config.ipam.podSubnetCIDR: 10.20.0.0/16" + over},
		{"topology: {hostIPs: 2}\nconfig: {ipam: {podSubnetCIDR: 10.21.0.0/16}}", "config.ipam.podSubnetCIDR: 10.21.0.0/16 overlaps the hosts' network 10.21.0.0/16, where node-1 is"},
		{"config: {ipam: {podSubnetCIDR: 10.21.0.0/16}}", ""},
		{"topology: {hostIPs: 0}\nconfig: {ipam: {podSubnetCIDR: 10.20.0.0/16}}", ""},
		{"config: {ipam: {system: cilium, podSubnetCIDR: 10.20.128.0/24, cilium: {mode: crd, preAllocate: 4}}}", ""}, // as clouds do
	} {
		_, err := scenarios.Parse("x.yaml", []byte("name: x\n"+c.file+"\n"))
		have := ""
		if err != nil {
			_, have, _ = strings.Cut(err.Error(), "config.ipam")
			have = "config.ipam" + have
		}
		if have != c.want {
			t.Errorf("%s:\n have %s\n want %s", c.file, have, c.want)
		}
	}
}
