package kube_test

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// cloudScript is a cloud that keeps each node's aliases in a file of its folder.
func cloudScript(t *testing.T) (kube.CloudProgram, string) {
	dir := t.TempDir()
	path := filepath.Join(dir, "cloud")
	must(t, os.WriteFile(path, []byte(`#!/bin/sh
cd `+dir+`
case $2 in
gone) echo "no machine $3" >&2; exit 2;;
slow) sleep 60;;
odd) echo "quota:
try later" >&2; exit 1;;
esac
case $1 in
routes) cat routes 2>/dev/null; exit 0;;
add-route) grep -qs "^$5 " routes || echo "$5 $4 $2" >>routes;;
delete-route) grep -v "^$4 " routes >left; mv left routes;;
aliases) cat "$2" 2>/dev/null; exit 0;;
add-alias) grep -qsx "$4" "$2" || echo "$4" >>"$2";;
esac
`), 0o755))
	return kube.CloudProgram(path), dir
}

// Goal: a program's answer, its refusal, its failure and its silence are what they are. Method: a script with a node
// for each.
func TestCloudProgram(t *testing.T) {
	p, _ := cloudScript(t)
	ctx := t.Context()
	cidr := netip.MustParsePrefix("10.4.0.0/24")
	must(t, p.AddAlias(ctx, "n", "gce://n", cidr))
	must(t, p.AddAlias(ctx, "n", "gce://n", cidr))
	if got, err := p.Aliases(ctx, "n", "gce://n"); err != nil || !slices.Equal(got, []string{"10.4.0.0/24"}) {
		t.Fatal(got, err)
	}
	if got, err := p.Aliases(ctx, "new", "gce://new"); err != nil || len(got) > 0 {
		t.Fatal(got, err)
	}
	if _, err := p.Aliases(ctx, "gone", "gce://gone"); !errors.Is(err, kube.ErrRefused) || !strings.HasSuffix(err.Error(), "no machine gce://gone") {
		t.Errorf("refused: %v", err)
	}
	if err := p.AddAlias(ctx, "odd", "gce://odd", cidr); err == nil || errors.Is(err, kube.ErrRefused) || !strings.HasSuffix(err.Error(), "quota: try later") {
		t.Errorf("failed: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if err := p.AddAlias(short, "slow", "gce://slow", cidr); err == nil || errors.Is(err, kube.ErrRefused) {
		t.Errorf("silent: %v", err)
	}
	if _, err := kube.CloudProgram("/nonexistent").Aliases(ctx, "n", ""); err == nil || errors.Is(err, kube.ErrRefused) {
		t.Errorf("no program: %v", err)
	}
}

// Goal: routes come and go by a program, and a line that cannot be read is no list. Method: the script, and what it keeps.
func TestCloudProgramRoutes(t *testing.T) {
	p, dir := cloudScript(t)
	ctx := t.Context()
	r := nodeipam.Route{Name: "prod--u", Destination: "10.4.0.0/24", Node: "n"}
	must(t, p.CreateRoute(ctx, "gce://n", r))
	must(t, p.CreateRoute(ctx, "gce://n", r))
	text, err := os.ReadFile(filepath.Join(dir, "routes"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "routes"), append(text, "office 10.9.0.0/16 -\n\nold 10.4.1.0/24 m blackhole\n"...), 0o644))
	want := []nodeipam.Route{r, {Name: "office", Destination: "10.9.0.0/16"}, {Name: "old", Destination: "10.4.1.0/24", Node: "m", Blackhole: true}}
	if got, err := p.Routes(ctx, "prod"); err != nil || !slices.Equal(got, want) {
		t.Fatal(got, err)
	}
	must(t, p.DeleteRoute(ctx, want[1]))
	must(t, p.DeleteRoute(ctx, want[1]))
	if got, err := p.Routes(ctx, "prod"); err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "routes"), []byte("prod--u 10.4.0.0/24\n"), 0o644))
	if got, err := p.Routes(ctx, "prod"); err == nil || !strings.Contains(err.Error(), `line "prod--u 10.4.0.0/24" is not NAME CIDR NODE`) {
		t.Fatal(got, err)
	}
}

// Goal: a route controller beside RangeAllocator gives a node its CIDR, the cloud a route, and the node its condition; a
// route that is gone comes again, that of a node that is gone goes, and another cluster's stays. Method: the script.
func TestCloudProgramRouteController(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	p, dir := cloudScript(t)
	path := filepath.Join(dir, "routes")
	must(t, os.WriteFile(path, []byte("kubernetes--gone 10.4.9.0/24 z\nother--x 10.4.8.0/24 y\n"), 0o644))
	s.addNode("a", gce, func(n *v1.Node) {
		n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeNetworkUnavailable, Status: v1.ConditionTrue, Reason: "NoRouteCreated"}}
	})
	flags := nodeipam.Flags{ClusterCIDR: "10.4.0.0/16", NodeCIDRMaskSize: 24, ConfigureCloudRoutes: true, RouteReconciliationPeriod: 100 * time.Millisecond}
	drive(t, kube.Config{Client: client, Routes: p, Flags: flags})
	s.served(t)
	routed := func() bool {
		text, _ := os.ReadFile(path) // being written
		want := "other--x 10.4.8.0/24 y\nkubernetes--" + string(s.nodes()["a"].UID) + " 10.4.0.0/24 a\n"
		return string(text) == want
	}
	said := func() string { text, _ := os.ReadFile(path); return string(text) }
	until(t, routed, said)
	until(t, func() bool {
		c := s.nodes()["a"].Status.Conditions
		return len(c) == 1 && c[0].Status == v1.ConditionFalse && c[0].Reason == "RouteCreated"
	}, func() string { return "the network stays unavailable" })
	must(t, os.WriteFile(path, []byte("other--x 10.4.8.0/24 y\n"), 0o644))
	until(t, routed, said)
	must(t, client.CoreV1().Nodes().Delete(t.Context(), "a", metav1.DeleteOptions{}))
	until(t, func() bool { return said() == "other--x 10.4.8.0/24 y\n" }, said)
}

// Goal: each cloud type works through a program: what the cloud has comes to the nodes, or what the nodes have to the
// cloud. Method: a node that the cloud knows, and one that only the cluster knows.
func TestCloudProgramTypes(t *testing.T) {
	for _, kind := range []nodeipam.CIDRAllocatorType{nodeipam.CloudAllocatorType, nodeipam.IPAMFromCloudAllocatorType, nodeipam.IPAMFromClusterAllocatorType} {
		t.Run(string(kind), func(t *testing.T) {
			s := newServer(t)
			client, _ := s.dial(t)
			p, dir := cloudScript(t)
			flags := nodeipam.Flags{AllocatorType: kind, ClusterCIDR: "10.4.0.0/16", NodeCIDRMaskSize: 24}
			if kind == nodeipam.IPAMFromClusterAllocatorType {
				s.addNode("a", gce, func(n *v1.Node) { n.Spec.PodCIDR, n.Spec.PodCIDRs = "10.4.7.0/24", []string{"10.4.7.0/24"} })
			} else {
				must(t, p.AddAlias(t.Context(), "a", "", netip.MustParsePrefix("10.4.7.0/24")))
				s.addNode("a", gce)
			}
			drive(t, kube.Config{Client: client, Cloud: p, Flags: flags, Provider: nodeipam.CloudProviderGCE})
			s.served(t)
			until(t, func() bool {
				text, _ := os.ReadFile(filepath.Join(dir, "a")) // not there yet
				return strings.TrimSpace(string(text)) == "10.4.7.0/24" && s.nodes()["a"].Spec.PodCIDR == "10.4.7.0/24"
			}, func() string { return s.nodes()["a"].Spec.PodCIDR })
		})
	}
}
