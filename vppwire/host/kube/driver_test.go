package kube_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until waits for a condition, for as long as a loaded machine may take.
func until(t testing.TB, ok func() bool, what func() string) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what())
		}
	}
}

// ranges makes range allocators over 10.0.0.0/8 and less: 2^bits blocks of /24 each, and with six a /64 each as well.
func ranges(bits int, six bool) func() (nodeipam.Machine, error) {
	return func() (nodeipam.Machine, error) {
		params := nodeipam.CIDRAllocatorParams{
			ClusterCIDRs: []netip.Prefix{netip.PrefixFrom(netip.MustParseAddr("10.0.0.0"), 24-bits)}, NodeCIDRMaskSizes: []int{24},
		}
		if six {
			params.ClusterCIDRs = append(params.ClusterCIDRs, netip.PrefixFrom(netip.MustParseAddr("fd00::"), 64-bits))
			params.NodeCIDRMaskSizes = append(params.NodeCIDRMaskSizes, 64)
		}
		return nodeipam.New(nodeipam.RangeAllocatorType, params, "")
	}
}

// drive runs a driver until the test ends or stop is called, which returns what Run said.
func drive(t testing.TB, cfg kube.Config) (d *kube.Driver, stop func() error) {
	t.Helper()
	d, err := kube.New(cfg)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = stop() }) // who cares has asked before
	return d, stop
}

// served waits until every node has pod CIDRs.
func (s *server) served(t testing.TB) {
	t.Helper()
	until(t, func() bool { return len(s.without()) == 0 }, func() string { return fmt.Sprintf("without pod CIDRs: %s", s.without()) })
	s.whole(t)
}

// whole checks that no two nodes ever held overlapping pod CIDRs.
func (s *server) whole(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.broken) > 0 {
		t.Fatal(strings.Join(s.broken, "\n"))
	}
}

// Goal: nodes get blocks of both families; when there are none left, an event says so once; a deleted node's block goes
// to who waits; a node that comes again under its name is another one. Method: the life of a small cluster.
func TestNodes(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	for k := range 3 {
		s.addNode(fmt.Sprintf("node-%d", k))
	}
	d, stop := drive(t, kube.Config{Client: client, New: ranges(2, true)})
	s.served(t)
	for name, n := range s.nodes() {
		if len(n.Spec.PodCIDRs) != 2 || n.Spec.PodCIDR != n.Spec.PodCIDRs[0] || !strings.HasPrefix(n.Spec.PodCIDRs[1], "fd00:") {
			t.Fatalf("%s: %q %q", name, n.Spec.PodCIDR, n.Spec.PodCIDRs)
		}
		if n.Annotations[kube.TouchAnnotation] == "" {
			t.Fatalf("%s was not touched before the first allocation", name)
		}
	}
	s.addNode("node-3")
	s.served(t)
	s.addNode("node-4")
	events := func() (all []v1.Event) {
		list, err := client.CoreV1().Events("").List(t.Context(), metav1ListAll)
		must(t, err)
		return list.Items
	}
	until(t, func() bool { return len(events()) > 0 }, func() string { return "no event" })
	if e := events()[0]; e.Reason != "CIDRNotAvailable" || e.InvolvedObject.Name != "node-4" || string(e.InvolvedObject.UID) != string(s.nodes()["node-4"].UID) {
		t.Fatalf("%+v", e)
	}
	var waiting []string
	must(t, d.Ask(t.Context(), func(m nodeipam.Machine) { waiting = m.(*nodeipam.RangeAllocator).Waiting() }))
	if !slices.Equal(waiting, []string{"node-4"}) {
		t.Fatal(waiting)
	}
	s.deleteNode("node-1")
	s.served(t)
	s.deleteNode("node-0")
	s.addNode("node-0")
	s.served(t)
	must(t, stop())
	if err := d.Ask(t.Context(), func(nodeipam.Machine) {}); !errors.Is(err, kube.ErrStopped) {
		t.Fatal(err)
	}
}

// Goal: what happens while nobody watches is found out by a list: blocks of nodes that went are free, those of nodes
// that came with pod CIDRs are not. Method: a history that is forgotten, with and without streamed lists; a range
// without a spare block.
func TestGap(t *testing.T) {
	for _, streams := range []bool{true, false} {
		t.Run(fmt.Sprintf("streams=%t", streams), func(t *testing.T) {
			s := newServer(t)
			s.Lists = !streams
			client, _ := s.dial(t)
			for k := range 4 {
				s.addNode(fmt.Sprintf("node-%d", k))
			}
			drive(t, kube.Config{Client: client, New: ranges(2, false)})
			s.served(t)
			free := s.nodes()["node-2"].Spec.PodCIDRs
			s.forget(func() {
				s.deleteNode("node-1")
				s.deleteNode("node-2")
				s.addNode("node-5") // before node-6 in the list
				s.addNode("node-6", func(n *v1.Node) { n.Spec.PodCIDR, n.Spec.PodCIDRs = free[0], free })
			})
			s.served(t)
		})
	}
}

// Goal: a PATCH whose answer is lost is neither repeated nor forgotten. Method: every first PATCH of a node loses its
// answer.
func TestLostAnswers(t *testing.T) {
	s := newServer(t)
	client, w := s.dial(t)
	var mu sync.Mutex
	lost := map[string]bool{}
	w.Set(func(r *http.Request) apiserver.Fate {
		mu.Lock()
		defer mu.Unlock()
		if r.Method != http.MethodPatch || lost[r.URL.Path] {
			return apiserver.Pass
		}
		lost[r.URL.Path] = true
		return apiserver.Mute
	})
	drive(t, kube.Config{Client: client, New: ranges(3, false)})
	until(t, func() bool { return s.watched() }, func() string { return "nobody watches" })
	for k := range 4 { // after the take-over, so that nobody is touched
		s.addNode(fmt.Sprintf("node-%d", k))
	}
	s.served(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, n := range s.patches {
		if n != 1 {
			t.Errorf("%s: %d PATCHes", name, n)
		}
	}
}

// Goal: a controller that cannot do its work ends Run with its reason; so does one that cannot be made.
func TestGiveUp(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	why := errors.New("no more")
	for name, cfg := range map[string]kube.Config{
		"gives up": {Client: client, New: func() (nodeipam.Machine, error) { return hopeless{why}, nil }},
		"not made": {Client: client, New: func() (nodeipam.Machine, error) { return nil, why }},
	} {
		d, err := kube.New(cfg)
		must(t, err)
		if err := d.Run(t.Context()); !errors.Is(err, why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type hopeless struct{ why error }

func (h hopeless) Run(time.Time) []nodeipam.Effect {
	return []nodeipam.Effect{nodeipam.GiveUp{Why: h.why}}
}

func (h hopeless) Step(now time.Time, _ nodeipam.Event) []nodeipam.Effect { return h.Run(now) }

// Goal: a changed configuration reaches the controller that leads.
func TestRangeAdded(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	s.addNode("node-0")
	s.addNode("node-1")
	d, _ := drive(t, kube.Config{Client: client, New: ranges(0, false)})
	until(t, func() bool { return len(s.without()) == 1 }, func() string { return "nobody is served" })
	must(t, d.Tell(t.Context(), nodeipam.ClusterCIDRAdded{ClusterCIDR: nodeipam.ClusterCIDR{Name: "more", PerNodeHostBits: 8, IPv4: netip.MustParsePrefix("10.1.0.0/24")}}))
	s.served(t)
}
