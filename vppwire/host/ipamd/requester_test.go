package ipamd_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd"
)

// holder is an agent with an allocator, which takes what it is told of its own node for its blocks at once.
type holder struct {
	mu    sync.Mutex
	alloc *datastore.Node
	busy  bool
	heard []string
	pods  int
}

func (h *holder) Time(now time.Time) time.Time { return now }
func (h *holder) Blocks() []ipam.Block         { return h.alloc.Blocks() }
func (h *holder) Idle() bool                   { return !h.busy }

func (h *holder) tell(ev agent.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	line := strings.TrimPrefix(fmt.Sprintf("%T", ev), "agent.")
	if seen, ok := ev.(agent.NodeSeen); ok {
		line = fmt.Sprint(seen.Name, " ", len(seen.PodCIDRs))
		if seen.Name == "node-1" {
			if _, err := h.alloc.SetBlocks(time.Now(), seen.PodCIDRs); err != nil {
				line += " " + err.Error()
			}
		}
	}
	h.heard = append(h.heard, line)
}

// add wires a pod; false when there is no address.
func (h *holder) add() (ipam.Owner, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pods++
	o := ipam.Owner{Network: "net", ContainerID: fmt.Sprint("pod-", h.pods), IfName: "eth0"}
	_, _, err := h.alloc.Allocate(time.Now(), o, ipam.Want{})
	return o, err == nil
}

// nodes is a cluster of two nodes that lists them when it is asked to.
type nodes struct{ list chan struct{} }

func (n nodes) Relist() { n.list <- struct{}{} }

func (n nodes) Watch(ctx context.Context, tell func(agent.Event)) {
	for {
		tell(agent.NodeSeen{Name: "node-1", UID: "a", PodCIDRs: []netip.Prefix{netip.MustParsePrefix("10.244.0.0/24")}})
		tell(agent.NodeSeen{Name: "node-2", UID: "b", PodCIDRs: []netip.Prefix{netip.MustParsePrefix("10.244.1.0/24")}})
		tell(host.NodesListed{})
		select {
		case <-ctx.Done():
			return
		case <-n.list:
		}
	}
}

// account is EC2 as one instance sees it. held, where set, is looked at when units are taken back.
type account struct {
	*ec2.Instance
	late time.Duration
	held func() []ipam.Block
	bad  []string
}

func (a *account) Do(_ context.Context, c datastore.Call) (r datastore.Result) {
	time.Sleep(a.late)
	shown := func(list []ec2.ENI) (out []datastore.AttachedENI) {
		for _, e := range list {
			out = append(out, datastore.AttachedENI{ID: e.ID, Device: e.Device, Primary: e.Primary, Units: e.Units})
		}
		return out
	}
	now := time.Now()
	switch c.Op {
	case datastore.DescribeENIs:
		list, err := a.Describe(now)
		r.ENIs, r.Err = shown(list), err
	case datastore.ReadIMDS:
		r.ENIs = shown(a.Metadata(now))
	case datastore.AssignUnits:
		r.Prefixes, r.Err = a.Assign(now, c.ENI, c.Units, c.Delegated)
	case datastore.UnassignUnits:
		for _, b := range a.held() {
			if slices.Contains(c.Prefixes, b.Prefix) {
				a.bad = append(a.bad, "the agent still has "+b.Prefix.String())
			}
		}
		r.Err = a.Unassign(now, c.ENI, c.Prefixes)
	case datastore.CreateENI:
		e, _, err := a.Create(now, c.Units, c.Delegated)
		if r.Err = err; err == nil {
			r.ENIs = shown([]ec2.ENI{e})
		}
	case datastore.DeleteENI:
		r.Err = a.Delete(now, c.ENI)
	}
	return r
}

// Goal: an agent has what EC2 gives to its instance for its own node's pod CIDRs, hears nothing of its node before that is known, grows
// with its pods, and a prefix goes back only when the agent has dropped it and its peers know. Method: an agent that is an allocator
// alone, a modelled instance whose answers come late, the requester's own loop on time that passes by itself.
func TestRequester(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, err := ec2.New(time.Now(), ec2.Config{Limits: ec2.Limits{ENIs: 2, IPv4PerENI: 4}, Subnet: ec2.NewSubnet(netip.MustParsePrefix("10.0.0.0/24"))})
		if err != nil {
			t.Fatal(err)
		}
		h := &holder{}
		if h.alloc, err = datastore.NewNode(datastore.NodeConfig{Cooling: time.Second, Gateway: ipamd.Gateway}); err != nil {
			t.Fatal(err)
		}
		cloud := &account{Instance: i, late: 20 * time.Second, held: func() []ipam.Block {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.Blocks()
		}}
		r := ipamd.NewRequester(ipamd.RequesterConfig{Cloud: cloud, Node: "node-1", Alloc: h.alloc,
			Sizing: datastore.Sizing{Targets: datastore.Targets{WarmPrefix: 1}, ENIsMax: 2, UnitsPerENI: 3, PrefixDelegation: true}})
		stepped := func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			r.Stepped(time.Now())
		}
		stepped()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		all.Go(func() { r.Cluster(nodes{make(chan struct{}, 1)}).Watch(ctx, h.tell) })
		all.Go(func() { r.RunBy(ctx, &h.mu, h) })
		look := func() []string {
			synctest.Wait()
			h.mu.Lock()
			defer h.mu.Unlock()
			return slices.Clone(h.heard)
		}
		time.Sleep(time.Second)
		if heard := look(); !slices.Equal(heard, []string{"node-2 0"}) {
			t.Errorf("before EC2 has answered the agent hears %q", heard)
		}
		h.mu.Lock()
		pending, _ := r.Pending(h)
		h.mu.Unlock()
		if pending != "ipamd is starting" {
			t.Errorf("pending: %q", pending)
		}
		time.Sleep(time.Minute)
		if heard := look(); !slices.Equal(heard[1:], []string{"node-1 0", "node-1 0", "node-2 0", "host.NodesListed", "node-1 1"}) {
			t.Errorf("then it hears %q", heard)
		}
		var pods []ipam.Owner
		for range 20 {
			o, ok := h.add()
			for !ok {
				time.Sleep(10 * time.Second)
				o, ok = h.add()
			}
			pods = append(pods, o)
		}
		time.Sleep(time.Minute)
		if blocks := cloud.held(); len(blocks) != 3 {
			t.Errorf("with 20 pods and one prefix warm: %v", blocks)
		}
		h.mu.Lock()
		for _, o := range pods {
			h.alloc.Release(time.Now(), o)
		}
		h.busy = true // its peers do not know yet
		h.mu.Unlock()
		stepped()
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if n := i.Requests("unassign"); n > 0 {
			t.Errorf("%d requests give back what peers route still", n)
		}
		h.mu.Lock()
		h.busy = false
		h.mu.Unlock()
		for range 20 {
			stepped()
			time.Sleep(20 * time.Second)
		}
		synctest.Wait()
		if blocks := cloud.held(); len(blocks) != 1 || i.Requests("unassign") == 0 || len(cloud.bad) > 0 {
			t.Errorf("without pods: %v after %d requests; %q", blocks, i.Requests("unassign"), cloud.bad)
		}
	})
}
