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
