package kube_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// standFor is a short lease under another name, for somebody who writes what is said.
func standFor(name, identity string, writes ...string) *kube.Lease {
	l := shortLease(identity)
	l.Name, l.Writes = name, writes
	return l
}

// endsWith waits until a driver ends by itself, and returns its line.
func endsWith(t testing.TB, cfg kube.Config, want error) string {
	t.Helper()
	d, err := kube.New(cfg)
	must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(t.Context()) }()
	select {
	case err = <-ended:
	case <-time.After(90 * time.Second):
		t.Fatal("it does not end")
	}
	if !errors.Is(err, want) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("it ends with %v", err)
	}
	return err.Error()
}

// hold has a lease held by somebody who took it so long ago, and renewed until the test ends.
func (s *server) hold(t testing.TB, name, writes string, since time.Duration, renew bool) {
	put := func(at time.Time) {
		s.put("leases", map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
			"metadata": map[string]any{"namespace": "elsewhere", "name": name, "labels": map[string]any{writes: "true"}},
			"spec": map[string]any{"holderIdentity": "somebody", "leaseDurationSeconds": 2, "acquireTime": time.Now().Add(-since).UTC().Format(metav1.RFC3339Micro),
				"renewTime": at.UTC().Format(metav1.RFC3339Micro)}})
	}
	put(time.Now())
	if !renew {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for t.Context().Err() == nil {
			time.Sleep(50 * time.Millisecond)
			put(time.Now())
		}
	}()
	t.Cleanup(func() { <-ended })
}

// Goal: whoever comes beside a controller that does the same by another lease ends before it has stood for its own, and
// says whose that is; what is held by nobody who lives, or to do something else, holds nobody up. Method: a driver that
// leads, and others that come.
func TestRivalAtStart(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	s.hold(t, "dead", kube.WritesPodCIDRs, time.Hour, false)
	drive(t, kube.Config{Client: client, New: ranges(4, false), Lease: standFor("node-ipam", "one", kube.WritesPodCIDRs)})
	until(t, func() bool { return s.holder() == "one" }, func() string { return "one does not lead" })
	line := endsWith(t, kube.Config{Client: client, New: ranges(4, false), Lease: standFor("other", "two", kube.WritesPodCIDRs, kube.WritesLedger)}, kube.ErrRival)
	if !strings.Contains(line, "one holds lease kube-system/node-ipam and renews it") || !strings.HasSuffix(line, "--lease kube-system/node-ipam") {
		t.Error(line)
	}
	if o := s.Get("leases", "kube-system", "other"); o != nil {
		t.Errorf("it stood for its lease: %v", o)
	}
	s.put("leases", map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"namespace": "kube-system", "name": "pools",
		// of a time when somebody else did other work by it
		"labels": map[string]any{kube.WritesPodCIDRs: "true"}}, "spec": map[string]any{}})
	drive(t, kube.Config{Client: client, New: ranges(4, false), Lease: standFor("pools", "three", kube.WritesLedger)})
	held := func() bool {
		return s.Get("leases", "kube-system", "pools")["spec"].(map[string]any)["holderIdentity"] == "three"
	}
	until(t, held, func() string { return "one with other work does not lead" })
	if labels := fmt.Sprint(metadata(s.Get("leases", "kube-system", "pools"))["labels"]); labels != "map["+kube.WritesAddresses+":false "+kube.WritesBlocks+":false "+kube.WritesLedger+":true "+kube.WritesPodCIDRs+":false]" {
		t.Error(labels)
	}
}

// Goal: of two that began at once the later one ends, and the earlier one does not. Method: a driver that leads beside
// a lease that somebody renews who took it before, or after.
func TestRivalWhileLeading(t *testing.T) {
	for _, c := range []struct {
		name  string
		since time.Duration
	}{{"before", time.Hour}, {"after", -time.Hour}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			client, _ := s.dial(t)
			cfg := kube.Config{Client: client, New: ranges(4, false), Lease: standFor("node-ipam", "one", kube.WritesPodCIDRs)}
			begins := func() {
				for s.holder() != "one" && t.Context().Err() == nil {
					time.Sleep(5 * time.Millisecond)
				}
				s.hold(t, "other", kube.WritesPodCIDRs, c.since, true)
			}
			if c.since > 0 {
				go begins()
				if line := endsWith(t, cfg, kube.ErrRival); !strings.Contains(line, "somebody holds lease elsewhere/other") {
					t.Error(line)
				}
				return
			}
			drive(t, cfg)
			begins()
			time.Sleep(3 * cfg.Lease.Duration) // it looks every Duration; a longer wait could only find more
			s.addNode("node-0")
			s.served(t)
		})
	}
}

// from has a node's pod CIDR written by a program.
func from(manager, cidr string) func(*v1.Node) {
	return func(n *v1.Node) {
		n.Spec.PodCIDR, n.Spec.PodCIDRs = cidr, []string{cidr}
		n.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:providerID":{}}}`)},
			{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(fmt.Sprintf(`{"f:metadata":{"f:annotations":{}},"f:spec":{"f:podCIDR":{},"f:podCIDRs":{".":{},%q:{}}}}`, `v:"`+cidr+`"`))},
		}
	}
}

// Goal: a controller beside a controller manager that gives pod CIDRs as well ends with the first node that this gives
// one, and says what mends that; what nodes had before, and what people write, is no matter. Method: both drivers,
// nodes as they would be then.
func TestOtherWriter(t *testing.T) {
	for name, run := range map[string]func(client kubernetes.Interface) error{
		"driver": func(client kubernetes.Interface) error {
			d, err := kube.New(kube.Config{Client: client, New: ranges(4, false)})
			must(t, err)
			return d.Run(t.Context())
		},
		"operator": func(client kubernetes.Interface) error {
			o, err := kube.NewOperator(kube.OperatorConfig{Client: client, New: clusterPool})
			must(t, err)
			return o.Run(t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			client, _ := s.dial(t)
			s.addNode("before", from("kube-controller-manager", "10.9.0.0/24"))
			s.addNode("node-0")
			ended := make(chan error, 1)
			go func() { ended <- run(client) }()
			s.served(t)
			s.addNode("before", from("kube-controller-manager", "10.9.0.0/24"), func(n *v1.Node) { n.Labels = map[string]string{"a": "b"} })
			s.addNode("people", from("kubectl-create", "10.9.1.0/24"))
			s.addNode("node-1")
			s.served(t)
			select {
			case err := <-ended:
				t.Fatal(err)
			default:
			}
			s.addNode("theirs", from("kube-controller-manager", "10.9.2.0/24"))
			err := <-ended
			if !errors.Is(err, kube.ErrRival) || !strings.Contains(err.Error(), "kube-controller-manager has given node theirs its pod CIDR 10.9.2.0/24 since") ||
				!strings.Contains(err.Error(), "--allocate-node-cidrs=false") {
				t.Error(err)
			}
		})
	}
}

// Goal: a lease in a namespace that is not there ends a controller with what mends it. Method: a server that refuses.
func TestLeaseNowhere(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	s.noNamespace = "nowhere"
	lease := shortLease("one")
	lease.Namespace = "nowhere"
	if line := endsWith(t, kube.Config{Client: client, New: ranges(4, false), Lease: lease}, kube.ErrNotReady); !strings.HasSuffix(line, "no namespace for lease nowhere/node-ipam: kubectl create namespace nowhere") {
		t.Error(line)
	}
}
