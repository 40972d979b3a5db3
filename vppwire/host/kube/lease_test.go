package kube_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

var metav1ListAll = metav1.ListOptions{}

// shortLease is short, and long enough for a loaded machine to renew; who stands for it bears with a silent server for
// as long as tests last.
func shortLease(identity string) *kube.Lease {
	return &kube.Lease{Namespace: "kube-system", Name: "node-ipam", Identity: identity, Duration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond, Silence: time.Hour}
}

// holder is who holds the lease.
func (s *server) holder() string {
	lease := s.Get("leases", "kube-system", "node-ipam")
	spec, _ := lease["spec"].(map[string]any)
	name, _ := spec["holderIdentity"].(string)
	return name
}

// Goal: the second process leads when the first one is cut off, not before, and when it gives the lease back; a leader
// that was cut off does not give back what is another's. Method: two drivers, one of them behind a broken wire.
func TestLease(t *testing.T) {
	s := newServer(t)
	one, wireOne := s.dial(t)
	two, _ := s.dial(t)
	_, stopOne := drive(t, kube.Config{Client: one, New: ranges(4, false), Lease: shortLease("one")})
	until(t, func() bool { return s.holder() == "one" }, func() string { return "one does not lead" })
	s.addNode("node-0")
	s.served(t)
	_, stopTwo := drive(t, kube.Config{Client: two, New: ranges(4, false), Lease: shortLease("two")})
	wireOne.Partition(apiserver.Late)
	s.addNode("node-1")
	until(t, func() bool { return s.holder() == "two" }, func() string { return "two does not lead" })
	s.served(t)
	wireOne.Heal()
	s.addNode("node-2")
	s.served(t)
	must(t, stopTwo())
	until(t, func() bool { return s.holder() == "one" }, func() string { return "one does not lead again" })
	s.addNode("node-3")
	s.served(t)
	must(t, stopOne())
	if h := s.holder(); h != "" {
		t.Fatalf("%q holds the lease", h)
	}
}

// Goal: whoever leads and whoever waits ends once the server has been silent for long, with one line that names the
// lease, and does not for one answer that stays away. Method: drivers and an operator whose server vanishes.
func TestSilentServer(t *testing.T) {
	stand := func(identity string) *kube.Lease {
		lease := shortLease(identity)
		lease.Silence = 0
		return lease
	}
	drives := func(ctx context.Context, client kubernetes.Interface, lease *kube.Lease) error {
		d, err := kube.New(kube.Config{Client: client, New: ranges(4, false), Lease: lease})
		must(t, err)
		return d.Run(ctx)
	}
	for name, run := range map[string]func(context.Context, kubernetes.Interface, *kube.Lease) error{
		"leader": drives,
		"operator": func(ctx context.Context, client kubernetes.Interface, lease *kube.Lease) error {
			o, err := kube.NewOperator(kube.OperatorConfig{Client: client, New: clusterPool, Lease: lease})
			must(t, err)
			return o.Run(ctx)
		},
		"waits": func(ctx context.Context, client kubernetes.Interface, lease *kube.Lease) error {
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			ended := make(chan error)
			go func() { ended <- drives(ctx, client, stand("first")) }()
			err := drives(ctx, client, lease)
			<-ended
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			client, wire := s.dial(t)
			ended := make(chan error, 1)
			go func() { ended <- run(t.Context(), client, stand("one")) }()
			s.addNode("node-0")
			s.served(t)
			var lost atomic.Bool
			wire.Set(func(r *http.Request) apiserver.Fate {
				if strings.HasSuffix(r.URL.Path, "/leases/node-ipam") && r.Method == http.MethodPut && lost.CompareAndSwap(false, true) {
					return apiserver.Vanish
				}
				return apiserver.Pass
			})
			until(t, lost.Load, func() string { return "the lease is not renewed" })
			s.addNode("node-1")
			s.served(t)
			select {
			case err := <-ended:
				t.Fatal(err)
			default:
			}
			wire.Partition(apiserver.Vanish)
			if err := <-ended; !errors.Is(err, kube.ErrSilent) || !strings.Contains(err.Error(), "nothing came of requests for lease kube-system/node-ipam for 3s: ") {
				t.Error(err)
			}
		})
	}
}

// Goal: what a leader asked for cannot be done any more once another one has given the block away. Method: the first
// leader's PATCH arrives late, at a node that the second one has not served yet, with a block that another node has got
// meanwhile.
func TestLateRequest(t *testing.T) {
	s := newServer(t)
	one, wireOne := s.dial(t)
	two, wireTwo := s.dial(t)
	held := func(becomes apiserver.Fate) (func(*http.Request) apiserver.Fate, chan struct{}) {
		asked := make(chan struct{}, 100)
		return func(r *http.Request) apiserver.Fate {
			if r.Method != http.MethodPatch || !strings.HasSuffix(r.URL.Path, "/node-1") || r.Header.Get("Content-Type") != string(types.StrategicMergePatchType) {
				return apiserver.Pass
			}
			asked <- struct{}{}
			return becomes
		}, asked
	}
	s.addNode("node-1")
	judge, asked := held(apiserver.Late)
	wireOne.Set(judge)
	_, stopOne := drive(t, kube.Config{Client: one, New: ranges(4, false), Lease: shortLease("one")})
	<-asked
	must(t, stopOne())
	s.addNode("node-0") // comes first with the second leader
	judge, asked = held(apiserver.Vanish)
	wireTwo.Set(judge)
	drive(t, kube.Config{Client: two, New: ranges(4, false), Lease: shortLease("two")})
	until(t, func() bool { return len(s.nodes()["node-0"].Spec.PodCIDRs) > 0 }, func() string { return "node-0 gets nothing" })
	<-asked
	wireOne.LetGo(everything)
	s.whole(t)
	wireTwo.Heal()
	s.served(t)
}

// Goal: a lease that cannot work is refused before anything starts.
func TestBadLease(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	for name, lease := range map[string]kube.Lease{
		"no identity":    {Namespace: "a", Name: "b"},
		"no whole":       {Namespace: "a", Name: "b", Identity: "c", Duration: 11500 * time.Millisecond},
		"late deadline":  {Namespace: "a", Name: "b", Identity: "c", RenewDeadline: 15 * time.Second},
		"seldom retried": {Namespace: "a", Name: "b", Identity: "c", RetryPeriod: 9 * time.Second},
	} {
		if _, err := kube.New(kube.Config{Client: client, New: ranges(0, false), Lease: &lease}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Goal: whatever is lost and whoever leads, no two nodes ever hold overlapping pod CIDRs at the server, and everybody
// is served in the end. Method: nodes come, go and come again under their names while three candidates lose requests
// and answers, have some arrive much later, and are cut off by turns; the server judges every write; seeds are fixed,
// interleavings are not.
func TestChurn(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { churn(t, seed) })
	}
}

func churn(t *testing.T, seed uint64) {
	t.Parallel()
	const names = 12 // of 16 blocks: what is in doubt may keep some
	random := rand.New(rand.NewPCG(seed, 0))
	s := newServer(t)
	s.Lists = seed%2 != 0
	var wires [3]*apiserver.Wire
	var stops [3]func() error
	start := func(k, life int) {
		client, w := s.dial(t)
		lossy(w, rand.New(rand.NewPCG(seed, random.Uint64())))
		wires[k] = w
		_, stops[k] = drive(t, kube.Config{Client: client, New: ranges(4, seed == 2), RequestTimeout: time.Second,
			Lease: shortLease(fmt.Sprintf("candidate-%d-%d", k, life))})
	}
	for k := range wires {
		start(k, 0)
	}
	until(t, func() bool { return s.holder() != "" }, func() string { return "nobody leads" })
	var old []*apiserver.Wire
	for step := range 300 {
		name, k := fmt.Sprintf("node-%02d", random.IntN(names)), random.IntN(3)
		switch random.IntN(24) {
		case 0:
			wires[k].Partition([]apiserver.Fate{apiserver.Vanish, apiserver.Late}[random.IntN(2)])
		case 1:
			must(t, stops[k]())
			old = append(old, wires[k])
			start(k, step)
		case 2, 3:
			lossy(wires[k], rand.New(rand.NewPCG(seed, random.Uint64())))
		case 4, 5:
			wires[k].LetGo(everything)
		case 6:
			if len(old) > 0 {
				old[random.IntN(len(old))].LetGo(everything) // of a process that is no more
			}
		case 7:
			s.EndWatches()
		case 8:
			s.forget(func() { s.deleteNode(name); s.addNode(name) })
		case 9, 10, 11, 12:
			s.deleteNode(name)
		case 13, 14:
			s.deleteNode(name)
			s.addNode(name)
		default:
			s.addNode(name)
		}
		time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond) // lets the cluster live; nothing is judged by it
		s.whole(t)
	}
	for k := range names {
		s.addNode(fmt.Sprintf("node-%02d", k))
	}
	for _, w := range append(old, wires[:]...) {
		w.Heal()
	}
	s.served(t)
}

// lossy loses one write in five, in all three ways, and one other request in twenty.
func lossy(w *apiserver.Wire, random *rand.Rand) {
	w.Set(func(r *http.Request) apiserver.Fate { // called under the wire's lock
		switch {
		case r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/nodes/") && random.IntN(5) == 0:
			return []apiserver.Fate{apiserver.Vanish, apiserver.Mute, apiserver.Late}[random.IntN(3)]
		case random.IntN(20) == 0:
			return []apiserver.Fate{apiserver.Vanish, apiserver.Mute}[random.IntN(2)]
		}
		return apiserver.Pass
	})
}
