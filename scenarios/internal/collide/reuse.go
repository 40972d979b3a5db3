package collide

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// memory is somebody who knows an address for a while after its pod has gone.
type memory struct {
	name, what string
	lasts      time.Duration
}

// memories are the defaults of who remembers.
var memories = []memory{
	{"dns", "DNS answers of headless services: CoreDNS' ttl in a Corefile of kubeadm", 30 * time.Second},
	{"neighbor", "Linux' neighbor table: gc_stale_time", time.Minute},
	{"conntrack", "connection tracking of a closed TCP connection: nf_conntrack_tcp_timeout_time_wait", 2 * time.Minute},
	{"nat", "NAT44 sessions of UDP in VPP: udp timeout", 5 * time.Minute},
}

// picker is a way of choosing addresses: one of this module's allocators, and its formula where there is one.
type picker struct {
	name    string
	make    func(rng *rand.Rand) (ipam.NodeAllocator, error)
	formula func(o Options, usable float64, lasts time.Duration) (float64, bool)
}

var pickers = []picker{
	{"cursor (contiv, Kubernetes' pod CIDRs)", func(*rand.Rand) (ipam.NodeAllocator, error) { return contiv.New(contiv.Config{}) }, cursor},
	{"random (cilium; formula of an even pick)", func(rng *rand.Rand) (ipam.NodeAllocator, error) {
		return cilium.NewNode(cilium.NodeConfig{Pick: pick{rng}})
	}, anywhere},
	{"lowest, 30s cooling (AWS)", func(*rand.Rand) (ipam.NodeAllocator, error) { return datastore.NewNode(datastore.NodeConfig{}) }, cooled},
}

type pick struct{ rng *rand.Rand }

// Pick implements cilium.Picker.
func (p pick) Pick(_ string, n int) int { return p.rng.IntN(n) }

// anywhere is the formula of a pick to which every free address is the same. Cilium's search starts anywhere and goes up, so that an
// address behind taken ones is met more often: what is simulated lies up to a seventh above the formula.
func anywhere(o Options, usable float64, lasts time.Duration) (float64, bool) {
	return -math.Expm1(-o.Churn * lasts.Seconds() / max(usable-float64(o.Held), 1)), true
}

// cursor is the formula of a cursor that goes round in time c: a pod that lives exponentially long is released at phase t after the
// cursor passed it with density e^-mt, and its address is met again c-t later. c solves churn*c = usable*(1-e^-mc).
func cursor(o Options, usable float64, lasts time.Duration) (float64, bool) {
	m := o.Churn / float64(o.Held)
	low, high := 0.0, usable/o.Churn
	for range 200 {
		if c := (low + high) / 2; o.Churn*c < usable*-math.Expm1(-m*c) {
			low = c
		} else {
			high = c
		}
	}
	c, t := (low+high)/2, lasts.Seconds()
	if t >= c {
		return 1, true
	}
	return (math.Exp(-m*(c-t)) - math.Exp(-m*c)) / -math.Expm1(-m*c), true
}

// cooled knows only that nothing comes back while it cools: the lowest free address has no formula of ours.
func cooled(_ Options, _ float64, lasts time.Duration) (float64, bool) {
	return 0, lasts <= datastore.CoolingPeriod
}

// nodeBlock is what the simulated node has.
var nodeBlock = netip.MustParsePrefix("10.1.1.0/24")

// leaving are pods by when they go.
type leaving []struct {
	at    float64
	owner ipam.Owner
}

func (l leaving) Len() int           { return len(l) }
func (l leaving) Less(i, j int) bool { return l[i].at < l[j].at }
func (l leaving) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }

// Push and Pop are for container/heap.
func (l *leaving) Push(x any) {
	*l = append(*l, x.(struct {
		at    float64
		owner ipam.Owner
	}))
}
func (l *leaving) Pop() any {
	old := *l
	x := old[len(old)-1]
	*l = old[:len(old)-1]
	return x
}

// gaps lets pods come and go on an allocator, both as chance has it, and returns for each release after the start how long the address
// stayed unused, +Inf where it did to the end, and how many addresses pods can have.
func gaps(p picker, o Options) (list []float64, usable float64, err error) {
	rng := rand.New(rand.NewPCG(o.Seed, 3))
	alloc, err := p.make(rng)
	if err != nil {
		return nil, 0, err
	}
	epoch := time.Unix(0, 0).UTC()
	at := func(seconds float64) time.Time { return epoch.Add(time.Duration(seconds * float64(time.Second))) }
	if _, err := alloc.SetBlocks(epoch, []netip.Prefix{nodeBlock}); err != nil {
		return nil, 0, err
	}
	total, _ := alloc.Capacity(epoch)
	if o.Held >= total {
		return nil, 0, fmt.Errorf("%d pods do not fit on a node with %d addresses", o.Held, total)
	}
	life := float64(o.Held) / o.Churn
	start := 3 * life // until what the node had at its start is forgotten
	now, made, pods := 0.0, 0, &leaving{}
	released := map[netip.Addr]int{}
	var since []float64
	for len(list) < o.Trials {
		next := now + rng.ExpFloat64()/o.Churn
		for pods.Len() > 0 && (*pods)[0].at <= next {
			gone := heap.Pop(pods).(struct {
				at    float64
				owner ipam.Owner
			})
			l, _ := alloc.Lease(gone.owner)
			alloc.Release(at(gone.at), gone.owner)
			if gone.at > start {
				released[l.Addr] = len(list)
				list, since = append(list, math.Inf(1)), append(since, gone.at)
			}
		}
		now = next
		owner := ipam.Owner{Network: "k8s", ContainerID: strconv.Itoa(made), IfName: "eth0"}
		made++
		l, _, err := alloc.Allocate(at(now), owner, ipam.Want{})
		if err != nil {
			continue // full for a moment: the pod goes elsewhere
		}
		if i, ok := released[l.Addr]; ok {
			list[i] = now - since[i]
			delete(released, l.Addr)
		}
		heap.Push(pods, struct {
			at    float64
			owner ipam.Owner
		}{now + rng.ExpFloat64()*life, owner})
	}
	// The last ones had no time to be met again.
	last := now - memories[len(memories)-1].lasts.Seconds()
	for len(since) > 0 && since[len(since)-1] > last {
		since, list = since[:len(since)-1], list[:len(list)-1]
	}
	return list, float64(total), nil
}
