package audit

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Goal: one thing wrong in a healthy cluster is found, and nothing else is, whatever CNI and family it is of. Method: a
// text of a healthy export replaced by another, and all findings.
func TestBroken(t *testing.T) {
	for _, test := range []struct {
		file, old, with string
		want            string // all findings
	}{
		{"calico-vxlan", `"podIPs": [{"ip": "10.244.77.66"}, {"ip": "fd00:60::42"}]`, `"podIPs": [{"ip": "10.244.77.66"}, {"ip": "fd00:60::43"}]`,
			"error wrong-record: fd00:60::43: pod shop/cart-0 on w-a has it, and it lies in Calico block fd00:60::40/122, which calls it free: the next pod gets it\n" +
				"warning leaked-address: fd00:60::42: Calico block fd00:60::40/122 has it for pod shop/cart-0, which has 10.244.77.66, fd00:60::43"},
		{"calico-vxlan", `"projectcalico.org/IPv4VXLANTunnelAddr": "10.244.14.0"`, `"projectcalico.org/IPv4VXLANTunnelAddr": "10.244.14.9"`,
			"error wrong-record: 10.244.14.9: the VXLAN tunnel of node w-b has it, and it lies in Calico block 10.244.14.0/26, which calls it free: the next pod gets it"},
		{"calico-vxlan", `"projectcalico.org/IPv4VXLANTunnelAddr": "10.244.14.0"`, `"projectcalico.org/IPv4VXLANTunnelAddr": "10.244.77.64"`,
			"error duplicate-address: 10.244.77.64: the VXLAN tunnel of node w-a and the VXLAN tunnel of node w-b have it\n" +
				"error wrong-record: 10.244.77.64: the VXLAN tunnel of node w-b has it, and Calico block 10.244.77.64/26 gives it to the VXLAN tunnel of node w-a: both answer for it"},
		{"calico-vxlan", `"pod": "borrower", "timestamp"`, `"pod": "cart-0", "timestamp"`,
			"error wrong-record: 10.244.77.70: pod shop/borrower on w-b has it, and Calico block 10.244.77.64/26 gives it to pod shop/cart-0: it is given again when that pod goes, while this one runs"},
		{"calico-vxlan", `"podIPs": [{"ip": "10.244.99.4"}]`, `"podIPs": [{"ip": "10.244.99.2"}]`,
			"error wrong-record: 10.244.99.2: pod shop/iis on win-c has it, and Calico block 10.244.99.0/26 gives it to no one, as it is reserved: both answer for it\n" +
				"warning leaked-address: 10.244.99.4: Calico block 10.244.99.0/26 has it for pod shop/iis, which has 10.244.99.2"},
		{"calico-vxlan", `"service": "web", "type": "loadBalancer"`, `"service": "gone", "type": "loadBalancer"`,
			"warning leaked-address: 172.20.0.0: Calico block 172.20.0.0/28 has it for service shop/gone, which does not exist"},
		{"calico-vxlan", `"handleID": "k8s-pod-network.c1", "block": {"10.244.77.64/26": 1`, `"handleID": "k8s-pod-network.c1", "block": {"10.244.77.64/26": 2`,
			"warning leaked-address: 10.244.77.64/26: IPAMHandle k8s-pod-network.c1 counts 2 of its addresses, and the block gives it 1: it stays after its pod"},
		{"calico-vxlan", `"cidr": "10.244.14.0/26", "deleted": "false", "node": "w-b"`, `"cidr": "10.244.14.0/26", "deleted": "false", "node": "w-a"`,
			"error ranges-overlap: 10.244.14.0/26: node w-b has it (Calico block), and node w-a has 10.244.14.0/26 (Calico block)"},
		{"calico-vxlan", `"name": "lb"}, "spec": {"cidr": "172.20.0.0/24"`, `"name": "lb"}, "spec": {"cidr": "10.244.128.0/17"`, ""},
		{"calico-bgp", `"reservedCIDRs": ["10.50.0.0/20"]`, `"reservedCIDRs": ["10.50.1.0/24"]`,
			"error nodes-overlap: 10.50.2.1: node r-2 has it, and pool flat has it (10.50.0.0 to 10.50.255.255): a pod gets it"},
		{"calico-ipip", `"secondary": {"namespace": "shop", "node": "m-2"`, `"secondary": {"namespace": "shop", "node": "m-9"`,
			"error wrong-record: 192.168.14.1: pod shop/till on m-2 has it, and Calico block 192.168.14.0/26 has it on node m-9, which does not exist: it is collected while the pod runs"},
		{"cilium-eni", `"10.3.5.12": {"owner": "shop/cart [restored]"`, `"10.3.5.14": {"owner": "shop/cart"`,
			"error wrong-record: 10.3.5.12: pod shop/cart on ip-10-3-0-10.eu-west-1.compute.internal has it, and it lies in CiliumNode ip-10-3-0-10.eu-west-1.compute.internal, which calls it free: the next pod gets it\n" +
				"warning leaked-address: 10.3.5.14: CiliumNode ip-10-3-0-10.eu-west-1.compute.internal has it for pod shop/cart, which has 10.3.5.12"},
		{"cilium-eni", `"podIP": "10.3.8.20", "podIPs": [{"ip": "10.3.8.20"}]`, `"podIP": "10.3.8.17", "podIPs": [{"ip": "10.3.8.17"}]`,
			"error wrong-record: 10.3.8.17: pod shop/till on ip-10-3-0-11.eu-west-1.compute.internal has it, and CiliumNode ip-10-3-0-11.eu-west-1.compute.internal gives it to the Cilium router of node ip-10-3-0-11.eu-west-1.compute.internal: both answer for it\n" +
				"warning leaked-address: 10.3.8.20: CiliumNode ip-10-3-0-11.eu-west-1.compute.internal has it for pod shop/till, which has 10.3.8.17"},
		{"cilium-eni", `"prefixes": ["10.3.8.16/28"]`, `"prefixes": ["10.3.8.16/28", "10.3.8.64/28"]`,
			"warning stranded-range: ip-10-3-0-11.eu-west-1.compute.internal: prefix 10.3.8.64/28 is attached to eni-ip-10-3-0-11.eu-west-1.compute.internal1, and spec.ipam has none of its addresses: no pod gets one"},
		{"cilium-cluster-pool", `"podIPs": [{"ip": "10.0.0.31"}, {"ip": "fd00:61::31"}]`, `"podIPs": [{"ip": "10.0.0.200"}, {"ip": "fd00:61::31"}]`,
			"error duplicate-address: 10.0.0.200: the cilium_host interface of node c-1 and pod shop/cart on c-1 have it"},
		{"cilium-cluster-pool", `"podCIDRs": ["10.0.1.0/24"`, `"podCIDRs": ["10.0.0.0/23"`,
			"error ranges-overlap: 10.0.0.0/24: node c-1 has it (CiliumNode), and node c-2 has 10.0.0.0/23 (CiliumNode)"},
		{"cilium-multi-pool", `"cidrs": ["10.10.0.32/28"]`, `"cidrs": ["10.10.0.48/28"]`,
			"error outside-of-node: 10.10.0.37: pod shop/desk has it, and its node p-2 has 10.10.0.48/28"},
		{"eks-addresses", `"podIP": "10.42.11.14", "podIPs": [{"ip": "10.42.11.14"}]`, `"podIP": "10.42.10.5", "podIPs": [{"ip": "10.42.10.5"}]`,
			"error duplicate-address: 10.42.10.5: node ip-10-42-10-5.eu-west-1.compute.internal and pod shop/till on ip-10-42-11-7.eu-west-1.compute.internal have it"},
		{"eks-prefixes", `"k8sPodName": "cart"`, `"k8sPodName": "gone"`,
			"error wrong-record: 10.42.10.98: pod shop/cart on ip-10-42-10-5.eu-west-1.compute.internal has it, and ipamd's store of eni-01 gives it to pod shop/gone, which does not run: it is collected while this one runs"},
		{"eks-prefixes", `"10.42.10.98": {"Address": "10.42.10.98"`, `"10.42.10.100": {"Address": "10.42.10.100"`,
			"error wrong-record: 10.42.10.98: pod shop/cart on ip-10-42-10-5.eu-west-1.compute.internal has it, and it lies in ipamd's store of eni-01, which calls it free: the next pod gets it\n" +
				"warning leaked-address: 10.42.10.100: ipamd's store of eni-01 has it for pod shop/cart, which has 10.42.10.98"},
		{"eks-custom-networking", `"kind": "ENIConfig", "metadata": {"name": "eu-west-1b"}`, `"kind": "ENIConfig", "metadata": {"name": "eu-west-1c"}`,
			"warning runs-out: ip-10-42-11-7.eu-west-1.compute.internal: it wants ENIConfig eu-west-1b, which does not exist: it gets no interface for pods"},
		{"antrea", `"name": "a", "containerID": "c1"`, `"name": "gone", "containerID": "c1"`,
			"error wrong-record: 192.168.9.103: pod web/a on an-1 has it, and Antrea pool web gives it to pod web/gone, which does not run: it is collected while this one runs"},
		{"antrea", `{"ipAddress": "192.168.9.103", "phase"`, `{"ipAddress": "192.168.9.110", "phase"`,
			"error wrong-record: 192.168.9.103: pod web/a on an-1 has it, and it lies in Antrea pool web, which calls it free: the next pod gets it\n" +
				"warning leaked-address: 192.168.9.110: Antrea pool web has it for pod web/a, which has 192.168.9.103"},
		{"antrea", `"podIPs": [{"ip": "10.244.2.5"}, {"ip": "fd00:2::5"}]`, `"podIPs": [{"ip": "10.244.2.5"}]`,
			"warning missing-family: shop/till: it has no IPv6 address, and its node an-2 has fd00:2::/64: services and clients of that family do not reach it"},
		{"kube-ovn", `"name": "web.red", "finalizers": ["kubeovn.io/kube-ovn-controller"]}, "spec": {"podName": "web"`, `"name": "web.red"}, "spec": {"podName": "gone"`,
			"error wrong-record: 10.70.0.9: pod red/web on o-1 has it, and IP web.red gives it to pod red/gone, which does not run: it is collected while this one runs"},
		{"kube-ovn", `"v4IpAddress": "10.70.0.9", "v6IpAddress": "", "attachIps": [], "macAddress": "00:00:00:45:F4:29", "attachMacs": [], "containerID": "", "podType": ""}},
{"apiVersion": "kubeovn.io/v1", "kind": "IP", "metadata": {"name": "web.blue"`, `"v4IpAddress": "10.70.0.8", "v6IpAddress": "", "podType": ""}},
{"apiVersion": "kubeovn.io/v1", "kind": "IP", "metadata": {"name": "web.blue"`,
			"error wrong-record: 10.70.0.9: pod red/web on o-1 has it, and it lies in subnet red, which calls it free: the next pod gets it\n" +
				"warning leaked-address: 10.70.0.8: IP web.red has it for pod red/web, which has 10.70.0.9"},
		{"kube-ovn", `"cidrBlock": "10.70.0.0/16", "vpc": "blue"`, `"cidrBlock": "10.70.0.0/16", "vpc": "red"`,
			"error booked-twice: 10.70.0.9: IP web.blue gives it to pod blue/web, and IP web.red to pod red/web: one of them loses it when the other goes\n" +
				"error ranges-overlap: 10.70.0.0: subnet blue and subnet red of kube-ovn in VPC red both have 10.70.0.0 to 10.70.255.255: pods of both get these addresses"},
		{"kube-ovn", `"ovn.kubernetes.io/ip_address": "100.64.0.3"`, `"ovn.kubernetes.io/ip_address": "100.64.0.2"`,
			"error duplicate-address: 100.64.0.2: the join address of node o-1 and the join address of node o-2 have it\n" +
				"error wrong-record: 100.64.0.2: the join address of node o-2 has it, and IP node-o-1 gives it to the join address of node o-1: both answer for it"},
		{"ovn-kubernetes", `\"default\": [\"10.129.0.0/23\"`, `\"default\": [\"10.128.0.0/23\"`,
			"error outside-of-node: 10.129.0.9: pod shop/till has it, and its node v-2 has 10.128.0.0/23\n" +
				"error ranges-overlap: 10.128.0.0/23: node v-2 has it (node subnet), and node v-1 has 10.128.0.0/23 (node subnet)"},
		{"flannel", `"podIPs": [{"ip": "10.244.1.31"}]`, `"podIPs": [{"ip": "10.244.0.31"}]`,
			"error duplicate-address: 10.244.0.31: pods shop/cart on f-1 and shop/till on f-2 have it\n" +
				"error outside-of-node: 10.244.0.31: pod shop/till has it, and its node f-2 has 10.244.1.0/24"},
		{"flannel-after-calico", `"podIPs": [{"ip": "10.244.1.31"}]`, `"podIPs": [{"ip": "10.244.0.99"}]`,
			"error outside-of-node: 10.244.0.99: pod shop/till has it, and its node f-2 has 10.244.1.0/24"},
		{"flannel", `"clusterIP": "10.96.3.4", "clusterIPs": ["10.96.3.4"]`, `"clusterIP": "10.96.3.3", "clusterIPs": ["10.96.3.3"]`,
			"error duplicate-address: 10.96.3.3: service shop/other and service shop/web have it\n" +
				"error wrong-record: 10.96.3.3: service shop/other has it, and its IPAddress is of service shop/web: it is given again when that one goes\n" +
				"warning leaked-address: 10.96.3.4: an IPAddress has it for service shop/other, which does not have it"},
		{"kindnet", `"spec": {"cidrs": ["10.96.0.0/12"]}`, `"spec": {"cidrs": ["10.96.0.0/12", "10.244.0.0/16"]}`,
			"error services-overlap: 10.244.0.0/16: service range kubernetes overlaps 10.244.0.0/24 of node kind-control-plane\n" +
				"error services-overlap: 10.244.0.0/16: service range kubernetes overlaps 10.244.1.0/24 of node kind-worker"},
		{"kindnet", `{"type": "InternalIP", "address": "fc00:f853:ccd:e793::3"}`, `{"type": "InternalIP", "address": "fc00:f853:ccd:e793::2"}`,
			"error duplicate-address: fc00:f853:ccd:e793::2: node kind-control-plane and node kind-worker have it\n" +
				"warning outside-of-node: fc00:f853:ccd:e793::3: pod kube-system/kindnet-1x7q2 of the host's network has it, and its node kind-worker has 172.18.0.3, fc00:f853:ccd:e793::2: it has been restarted with another address, and the pod has not\n" +
				"warning outside-of-node: fc00:f853:ccd:e793::3: pod kube-system/kube-proxy-1x7q2 of the host's network has it, and its node kind-worker has 172.18.0.3, fc00:f853:ccd:e793::2: it has been restarted with another address, and the pod has not"},
		{"kindnet", `"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}`, `"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "300"}`,
			"warning runs-out: kind-control-plane: its kubelet takes 300 pods, and 10.244.0.0/24 has addresses for 253; 1 pod there now"},
		{"whereabouts-multus", `\"10.56.1.172\"`, `\"10.56.1.171\"`,
			"error duplicate-address: 10.56.1.171: pods infra/gw-0 on w-a and infra/gw-1 on w-b have it in infra/macvlan-a\n" +
				"error wrong-record: 10.56.1.171: pod infra/gw-1 on w-b has it, and whereabouts pool 10.56.1.0-24 gives it to pod infra/gw-0: it is given again when that pod goes, while this one runs\n" +
				"warning leaked-address: 10.56.1.172: whereabouts pool 10.56.1.0-24 has it for pod infra/gw-1, which does not have it"},
		{"whereabouts-multus", `"172": {"id": "c1"`, `"173": {"id": "c1"`,
			"warning wrong-record: 10.56.1.172: pod infra/gw-1 on w-b has it in infra/macvlan-a, and whereabouts pool 10.56.1.0-24 calls it free: the next pod gets it, unless the network's range excludes it\n" +
				"warning leaked-address: 10.56.1.173: whereabouts pool 10.56.1.0-24 has it for pod infra/gw-1, which does not have it"},
		{"whereabouts-multus", `"containerid": "c1", "ifname": "net1", "podref": "infra/gw-1"`, `"containerid": "c1", "ifname": "net1", "podref": "infra/gw-0"`,
			"error booked-twice: fd00:56::2: whereabouts pool fd00-56---112 gives it to pod infra/gw-1, and whereabouts reservation fd00-56--2 to pod infra/gw-0: one of them loses it when the other goes\n" +
				"warning leaked-address: fd00:56::2: whereabouts reservation fd00-56--2 has it for pod infra/gw-0, which does not have it"},
		{"whereabouts-multus", `"nodeName": "w-b", "containers"`, `"nodeName": "w-z", "containers"`,
			"warning pod-of-no-node: 10.244.2.4: pod infra/gw-1 has it on node w-z, which does not exist: nothing runs it, and the address may be given again"},
	} {
		text, err := os.ReadFile("testdata/healthy/" + test.file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		more, _ := os.ReadFile("testdata/healthy/" + test.file + ".ipamd") // most have none
		whole := string(text) + string(more)
		at := strings.Index(whole, test.old)
		if test.file == "whereabouts-multus" && strings.HasPrefix(test.old, `"nodeName"`) { // that of the pod with the network
			at = strings.Index(whole, `"name": "gw-1"`)
			at += strings.Index(whole[at:], test.old)
		}
		if at < 0 {
			t.Errorf("%s has no %s", test.file, test.old)
			continue
		}
		var o Objects
		if err := o.Parse(test.file, []byte(whole[:at]+strings.Replace(whole[at:], test.old, test.with, 1))); err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, f := range Judge(&o).Findings {
			have = append(have, f.String())
		}
		if got := strings.Join(have, "\n"); got != test.want {
			t.Errorf("%s, %s:\n%s\nwant\n%s", test.file, test.with, got, test.want)
		}
	}
}

// Goal: a law that has judged a pod by its node's ranges does not say that it lacks those. Method: a cluster whose nodes have pod
// CIDRs that Cilium does not use, and a pod in the range of another node.
func TestJudgedByRecords(t *testing.T) {
	const cluster = `{"kind": "List", "items": [
{"kind": "Node", "metadata": {"name": "c1"}, "spec": {"podCIDR": "10.0.1.0/24"}}, {"kind": "Node", "metadata": {"name": "c2"}, "spec": {"podCIDR": "10.0.2.0/24"}},
{"kind": "Pod", "metadata": {"name": "a", "namespace": "shop"}, "spec": {"nodeName": "c1"}, "status": {"phase": "Running", "podIP": "10.1.1.5"}},
{"kind": "Pod", "metadata": {"name": "b", "namespace": "shop"}, "spec": {"nodeName": "c1"}, "status": {"phase": "Running", "podIP": "10.1.2.5"}},
{"kind": "CiliumNode", "apiVersion": "cilium.io/v2", "metadata": {"name": "c1"}, "spec": {"ipam": {"podCIDRs": ["10.1.1.0/24"]}}}%s]}`
	const second = `, {"kind": "CiliumNode", "apiVersion": "cilium.io/v2", "metadata": {"name": "c2"}, "spec": {"ipam": {"podCIDRs": ["10.1.2.0/24"]}}}`
	for _, records := range []string{"", second} {
		var o Objects
		if err := o.Parse("cluster.json", fmt.Appendf(nil, cluster, records)); err != nil {
			t.Fatal(err)
		}
		r := Judge(&o)
		if len(r.Findings) != 1 || r.Findings[0].Law != LawOutside {
			t.Errorf("found %v", r.Findings)
		}
		for _, u := range r.Unknown {
			if strings.HasPrefix(u, LawOutside) {
				t.Errorf("not judged: %s", u)
			}
		}
	}
}
