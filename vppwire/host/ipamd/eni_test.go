package ipamd_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd/aws"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// Goal: an operator that runs on no instance gets a node addresses of the instance that its Node's providerID names: on the first interface
// with room, then on new ones, and none where all are full; it gives back what it is asked to, and what EC2 refuses, throttles or does not
// answer is told apart. Method: the double of EC2 asked by AWS' own SDK, beside an API server, until its 3 interfaces have 9 addresses each.
func TestENIAddresses(t *testing.T) {
	account := ec2.NewAccount(time.Unix(1700000000, 0).UTC(), 1, 60)
	n := newNode(t, "10.0.0.0/24", ec2.RegionConfig{Account: account})
	addresses := operated(t, n, false)
	for _, node := range []string{"other", "bare", "none"} {
		if _, err := addresses.List(t.Context(), node); !errors.Is(err, kube.ErrRefused) {
			t.Errorf("%s: %v", node, err)
		}
	}
	var all []netip.Addr
	by := map[string]int{}
	for {
		n.clock.Set(n.clock.Now().Add(time.Minute))
		got, err := addresses.Assign(t.Context(), "a", 5)
		if err != nil {
			if !errors.Is(err, kube.ErrRefused) {
				t.Fatal(err)
			}
			break
		}
		for a, x := range got { // in any order
			all = append(all, a)
			by[x.Resource]++
		}
	}
	if len(by) != 3 || len(all) != 27 {
		t.Errorf("%d interfaces have %d addresses: %v", len(by), len(all), by)
	}
	slices.SortFunc(all, netip.Addr.Compare)
	n.clock.Set(n.clock.Now().Add(time.Minute))
	if err := addresses.Unassign(t.Context(), "a", all[:20]); err != nil {
		t.Fatal(err)
	}
	has, err := addresses.List(t.Context(), "a")
	if left := slices.SortedFunc(maps.Keys(has), netip.Addr.Compare); err != nil || !slices.Equal(left, all[20:]) {
		t.Errorf("%v are left, %v, want %v", left, err, all[20:])
	}
	for n := 0; ; n++ {
		if _, err := addresses.List(t.Context(), "a"); errors.Is(err, kube.ErrThrottled) {
			break
		} else if err != nil || n > 100 {
			t.Fatalf("request %d: %v", n, err)
		}
	}
	n.clock.Set(n.clock.Now().Add(time.Minute))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := addresses.Assign(ctx, "a", 1); err == nil || errors.Is(err, kube.ErrThrottled) {
		t.Errorf("of a request that was not answered: %v", err)
	}
}

// operated are the addresses of Nodes as an operator has them: node a is n.
func operated(t *testing.T, n *node, prefixes bool) *kube.ENIAddresses {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	server := apiserver.New()
	for name, id := range map[string]string{"a": "aws:///eu-central-1a/" + n.host.ID, "other": "aws:///eu-central-1a/i-00000000000000000", "bare": "kind://docker/x"} {
		server.Put("nodes", apiserver.Object{"apiVersion": "v1", "kind": "Node", "metadata": apiserver.Object{"name": name}, "spec": apiserver.Object{"providerID": id}})
	}
	api := httptest.NewServer(server)
	t.Cleanup(api.Close)
	conn, err := kube.Through(kube.Way{Carrier: http.DefaultTransport, Host: api.URL}, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	open, err := aws.Open(t.Context(), aws.Config{Sleep: func(_ context.Context, d time.Duration) { n.clock.Set(n.clock.Now().Add(d)) }})
	if err != nil {
		t.Fatal(err)
	}
	return conn.ENIAddresses(kube.ENIAddressesConfig{Prefixes: prefixes, Machine: func(ctx context.Context, id string) (kube.Machine, error) { return open.Client(ctx, id) }})
}

// Goal: with prefix delegation an instance gets whole /28 by AWS' own SDK, single addresses beside them where the subnet has no /28 left,
// and keeps prefixes of which addresses are given back. Method: a /26, of which two /28 are whole.
func TestENIPrefixes(t *testing.T) {
	n := newNode(t, "10.0.0.0/26", ec2.RegionConfig{})
	addresses := operated(t, n, true)
	for _, x := range []struct{ asked, got int }{{20, 32}, {5, 5}} {
		if got, err := addresses.Assign(t.Context(), "a", x.asked); err != nil || len(got) != x.got {
			t.Fatalf("%d of %d addresses, %v: %v", len(got), x.asked, err, got)
		}
	}
	has, err := addresses.List(t.Context(), "a")
	if err != nil || len(has) != 37 {
		t.Fatalf("the node has %d addresses, %v", len(has), err)
	}
	if err := addresses.Unassign(t.Context(), "a", slices.Collect(maps.Keys(has))); err != nil {
		t.Fatal(err)
	}
	if has, err = addresses.List(t.Context(), "a"); err != nil || len(has) != 32 {
		t.Fatalf("the node has %d addresses, %v", len(has), err)
	}
}
