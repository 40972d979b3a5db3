package kube_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/systemtest"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// calicoObject is an object of Calico's.
func calicoObject(kind, name string, spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": "crd.projectcalico.org/v1", "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec}
}

// runningCalico is a cluster as Calico 3.30 has it: upstreamBlock with what stands beside it, its pods, and its nodes.
func runningCalico(t *testing.T) *played {
	p := newPlayed(t, systemtest.Setup{System: "calico", Range: netip.MustParsePrefix("10.1.0.0/24"), Block: 29})
	p.stop() // controllers are not there before what they look at
	s := p.server
	s.addNode("a", tunnelled)
	s.addNode("b")
	block := decode([]byte(upstreamBlock))
	metadata(block)["uid"] = "11111111-0000-4000-8000-000000000001"
	s.put("ipamblocks", block)
	s.put("blockaffinities", calicoObject("BlockAffinity", "a-10-1-0-0-29", map[string]any{"cidr": "10.1.0.0/29", "node": "a", "type": "host", "state": "confirmed", "deleted": "false"}))
	for _, h := range []string{"vxlan-tunnel-addr-a", "k8s-pod-network.1", "k8s-pod-network.2", "k8s-pod-network.3"} {
		s.put("ipamhandles", calicoObject("IPAMHandle", h, map[string]any{"handleID": h, "block": map[string]any{"10.1.0.0/29": 1.0}, "deleted": false}))
	}
	for _, pod := range [][3]string{{"x", "a", "10.1.0.1"}, {"y", "a", "10.1.0.3"}, {"z", "b", "10.1.0.5"}} {
		s.run(pod[0], pod[1], pod[2])
	}
	return p
}

// tunnelled gives a node the address of its tunnel.
func tunnelled(n *v1.Node) {
	n.Annotations = map[string]string{"projectcalico.org/IPv4VXLANTunnelAddr": "10.1.0.0", "projectcalico.org/IPv4Address": "192.168.0.1/24"}
}

// run has the server show a pod that runs with an address.
func (s *server) run(name, node, addr string) {
	s.put("pods", v1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: v1.PodSpec{NodeName: node, Containers: []v1.Container{{Name: "c"}}}, Status: v1.PodStatus{Phase: v1.PodRunning, PodIP: addr, PodIPs: []v1.PodIP{{IP: addr}}}})
}

// handles are those of a block's addresses, by index, as its object has them, with the IPAMHandles that there are.
func (p *played) handles(t *testing.T) (of []string, there []string) {
	for _, o := range p.server.All("ipamblocks") {
		b, err := kube.ReadBlock(o)
		must(t, err)
		for i, h := range b.Hosts {
			if h != "" {
				of = append(of, fmt.Sprint(b.Addr(i), " ", b.Use(i).Handle))
			}
		}
	}
	for _, o := range p.server.All("ipamhandles") {
		there = append(there, metadata(o)["name"].(string))
	}
	return of, there
}

// Goal: a node of a cluster that Calico has run gives its pods addresses that nobody has, of the block that Calico gave it; what Calico's pods
// had is theirs until their sandboxes go, and then nobody's, handles and all; the objects are such that Calico takes them back. Method: Calico's
// objects, an agent, its pods, and DELs for Calico's pods; calicoctl judges where VPPDRILL_CALICOCTL names one.
func TestCalicoTakenOver(t *testing.T) {
	p := runningCalico(t)
	judge(t, p, "calico before")
	p.Join("a")
	p.server.addNode("a", tunnelled)
	p.lead()
	p.Pods("a", 2)
	before := []string{"10.1.0.0 vxlan-tunnel-addr-a", "10.1.0.1 k8s-pod-network.1", "10.1.0.3 k8s-pod-network.2", "10.1.0.5 k8s-pod-network.3"}
	first, second := kubeHandle(0), kubeHandle(1)
	said := func() string { return fmt.Sprint(p.handles(t)) }
	until(t, func() bool {
		of, _ := p.handles(t)
		return len(of) == 6 && strings.Contains(said(), first) && strings.Contains(said(), second) && p.State()["a"].Pods == 2
	}, said)
	of, there := p.handles(t)
	for _, held := range before {
		if !slices.Contains(of, held) {
			t.Errorf("%s is lost: %q", held, of)
		}
	}
	if len(there) != 6 {
		t.Errorf("handles %q", there)
	}
	for k := range 2 {
		p.nodes["a"].mu.Lock()
		l, _ := p.nodes["a"].alloc.Lease(owner(k))
		p.nodes["a"].mu.Unlock()
		p.server.run(fmt.Sprint("pod-", k), "a", l.Addr.String())
		if !slices.Contains(of, fmt.Sprint(l.Addr, " ", kubeHandle(k))) {
			t.Errorf("pod %d has %s, and blocks say %q", k, l.Addr, of)
		}
	}
	if n := len(p.server.All("blockaffinities")); n != 1 {
		t.Errorf("%d affinities", n)
	}
	judge(t, p, "calico with an agent")
	// Calico's pods on the node go
	for _, container := range []string{"1", "2"} {
		_, err := p.nodes["a"].calico.Agent(left{}).Request(t.Context(), func(n uint64) agent.Event {
			return agent.PodDel{Request: n, Owner: ipam.Owner{Network: "k8s-pod-network", ContainerID: container, IfName: "eth0"}}
		})
		must(t, err)
	}
	p.server.Remove("pods", "default", "x")
	p.server.Remove("pods", "default", "y")
	until(t, func() bool { of, there := p.handles(t); return len(of) == 4 && len(there) == 4 }, said)
	if left := said(); strings.Contains(left, "k8s-pod-network.1") || strings.Contains(left, "k8s-pod-network.2") {
		t.Errorf("left are %s", left)
	}
	judge(t, p, "calico's pods gone")
}

// left is an agent that has nothing of a sandbox that goes.
type left struct{}

// Request implements kube.CNI.
func (left) Request(context.Context, func(uint64) agent.Event) (agent.Answer, error) {
	return agent.Answer{}, nil
}

func kubeHandle(k int) string { o := owner(k); return o.Network + "." + o.ContainerID }

// judge has calicoctl look at a cluster, where there is one.
func judge(t *testing.T, p *played, what string) {
	t.Helper()
	path := os.Getenv("VPPDRILL_CALICOCTL")
	if path == "" {
		t.Logf("%s: not judged by calicoctl: VPPDRILL_CALICOCTL names none", what)
		return
	}
	p.server.put("clusterinformations", calicoObject("ClusterInformation", "default", map[string]any{"datastoreReady": true, "clusterGUID": "g", "clusterType": "k8s"}))
	p.server.put("kubecontrollersconfigurations", calicoObject("KubeControllersConfiguration", "default", map[string]any{"controllers": map[string]any{}}))
	for _, args := range [][]string{{"ipam", "check", "--show-problem-ips", "--allow-version-mismatch"}, {"ipam", "show", "--show-blocks", "--allow-version-mismatch"}} {
		c := exec.Command(path, args...)
		c.Env = append(os.Environ(), "DATASTORE_TYPE=kubernetes", "K8S_API_ENDPOINT="+p.server.http.URL, "CALICO_API_GROUP=crd.projectcalico.org/v1", "KUBECONFIG=")
		out, err := c.CombinedOutput()
		if err != nil || args[1] == "check" && !strings.Contains(string(out), "found 0 problems") {
			t.Errorf("%s: calicoctl %s: %v\n%s", what, strings.Join(args, " "), err, out)
		}
		t.Logf("%s: %s\n%s", what, strings.Join(args, " "), out)
	}
}
