package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/blockranges"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// blockSource is where nodes' blocks come from in a lab whose address management has controllers: those of `vppdrill
// controller`, two of them at a time, which stand for one Lease of an API server in this process. What they write into
// Node objects the control plane tells agents as it tells them everything else.
type blockSource struct {
	w      *World
	log    *slog.Logger // of the controllers
	plan   scenarios.IPAM
	server *apiserver.Server
	socket string
	http   *http.Server
	// news says that a Node object may have changed; done is closed when nobody follows any more.
	news, done chan struct{}
	end        context.CancelFunc
	ctx        context.Context
	// stopped: the API server answers nothing.
	stopped atomic.Bool

	mu     sync.Mutex
	ranges *blockranges.Ranges
	lives  []*controller
	made   int
	// ledBy is the life that asked for a change last while it held the Lease, terms how often that was another one than
	// before.
	ledBy string
	terms uint32
	// pools are the ranges of IPPools, poolsMade how many of these there were.
	pools     []netip.Prefix
	poolsMade int
	// shares are what Calico's blocks say of each node, aside the free addresses of blocks with an affinity to it; the server's lock guards
	// both.
	shares map[string]map[netip.Prefix][]netip.Addr
	aside  map[string]int
	// deposed are leaders that were cut off and whose requests have not all arrived.
	deposed int
}

// standing is how many controllers stand for the Lease.
const standing = 2

func newBlockSource(w *World, dir string) (*blockSource, error) {
	b := &blockSource{w: w, log: controllerLog(w.Record), plan: w.scenario().Config.IPAM, server: apiserver.New(), socket: filepath.Join(dir, "kube.sock"),
		news: make(chan struct{}, 1), done: make(chan struct{}), shares: map[string]map[netip.Prefix][]netip.Addr{}, aside: map[string]int{}}
	var err error
	if b.ranges, err = blockranges.New(b.plan); err != nil {
		return nil, err
	}
	b.server.Observe = func(_ string, old, now apiserver.Object) {
		b.observe(old, now)
		select {
		case b.news <- struct{}{}:
		default: // whoever follows looks at everything
		}
	}
	if blocked(b.plan) {
		if err := b.openPools(); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("unix", b.socket)
	if err != nil {
		return nil, err
	}
	b.http = &http.Server{Handler: b.server, ReadHeaderTimeout: time.Minute}
	go func() { _ = b.http.Serve(listener) }() // ErrServerClosed
	b.ctx, b.end = context.WithCancel(context.Background())
	go b.follow()
	for range standing {
		if err := b.start(); err != nil {
			return nil, errors.Join(err, b.close())
		}
	}
	return b, nil
}

func (b *blockSource) close() error {
	if b == nil {
		return nil
	}
	b.end()
	b.mu.Lock()
	lives := b.lives
	b.mu.Unlock()
	b.server.EndWatches()
	err := b.http.Close() // no controller gives its Lease back to a server that ends as well
	for _, c := range lives {
		<-c.ended
	}
	<-b.done
	return err
}

// join makes a node's object, leave deletes it.
func (b *blockSource) join(n *node) {
	b.collect(n) // a program that had not heard yet may have made what belongs to a former object of the name
	o := apiserver.Object{"apiVersion": "v1", "kind": "Node", "metadata": apiserver.Object{"name": n.name, "uid": n.uid(),
		"labels": apiserver.Object{scenarios.HostnameLabel: n.name}}}
	if b.w.cloud != nil {
		o["spec"] = apiserver.Object{"providerID": b.w.cloud.ProviderID(n.name)}
	}
	b.server.Put("nodes", o)
	if booked(b.plan) {
		b.joinBook(n)
	}
}

func (b *blockSource) leave(n *node) {
	b.server.Remove("nodes", "", n.name)
	b.collect(n)
}

// collect deletes what belongs to a node's object that is gone, as the garbage collector does.
func (b *blockSource) collect(n *node) {
	if b.asked() {
		b.server.Remove(kube.PoolNodeResource, "", n.name)
		b.server.Remove(kube.CiliumNodeResource, "", n.name)
	}
}

// shown are the blocks of a node's object; false while there is none, or one of another machine of that name.
func (b *blockSource) shown(n *node) ([]netip.Prefix, bool) {
	o := b.server.Get("nodes", "", n.name)
	if o == nil || apiserver.UID(o) != n.uid() {
		return nil, false
	}
	return prefixesOf(o), true
}

func prefixesOf(o apiserver.Object) (list []netip.Prefix) {
	for _, text := range apiserver.CIDRs(o) {
		if p, err := netip.ParsePrefix(text); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// follow tells agents what Node objects show.
func (b *blockSource) follow() {
	defer close(b.done)
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-b.news:
		}
		if b.asked() {
			continue // agents read PoolNodes themselves
		}
		for _, n := range b.w.inOrder() {
			blocks, ok := b.shown(n)
			n.mu.Lock()
			same := !ok || slices.Equal(blocks, n.podCIDRs)
			if !same {
				n.podCIDRs = blocks
			}
			n.mu.Unlock()
			if same {
				continue
			}
			if err := b.w.publishNode(b.ctx, n); err != nil && b.ctx.Err() == nil {
				b.w.Fail(err)
			}
		}
	}
}

// stop makes the API server answer nothing, or end that.
func (b *blockSource) stop(stop bool) {
	if b == nil {
		return
	}
	b.stopped.Store(stop)
	if stop {
		b.server.EndWatches()
	}
}

// gap makes controllers lose their place in the history of Node objects; they list again.
func (b *blockSource) gap() {
	if b != nil {
		b.server.Forget()
		b.server.EndWatches()
	}
}

// ranged tells that a range was opened or closed.
func (b *blockSource) ranged(r netip.Prefix, closed bool) {
	b.w.Record.Tell(fact.Fact{What: fact.Range{Range: r, Closed: closed}}, "")
}

// addRange gives the controllers another range, removeRange takes one away.
func (b *blockSource) addRange(r netip.Prefix) error {
	if blocked(b.plan) {
		b.ranged(r, false)
		b.openPool(r)
		return nil
	}
	b.mu.Lock()
	c := b.ranges.Add(r)
	b.mu.Unlock()
	b.ranged(r, false)
	if b.plan.System == scenarios.Cilium {
		return b.restart() // as for vppdrill controller: what it is started with is what there is
	}
	return b.tell(nodeipam.ClusterCIDRAdded{ClusterCIDR: c})
}

func (b *blockSource) removeRange(r netip.Prefix) error {
	if blocked(b.plan) {
		if err := b.closePool(r); err != nil {
			return err
		}
		b.ranged(r, true)
		return nil
	}
	if b.plan.System == scenarios.Cilium && !addressed(b.plan) {
		return fmt.Errorf("%w: cilium-operator's range %s cannot be taken away in a lab", result.ErrUnsupported, r)
	}
	b.mu.Lock()
	name, err := b.ranges.Remove(r)
	b.mu.Unlock()
	if err != nil {
		return err
	}
	b.ranged(r, true)
	if addressed(b.plan) {
		return b.restart()
	}
	return b.tell(nodeipam.ClusterCIDRDeleted{Name: name})
}

// restarted ends the controllers and starts them again, with other ranges where the action has some.
func (b *blockSource) restarted(a scenarios.RestartController) error {
	b.mu.Lock()
	opened, closed := b.ranges.Restart(a)
	b.mu.Unlock()
	for _, r := range closed {
		b.ranged(r, true)
	}
	for _, r := range opened {
		b.ranged(r, false)
	}
	return b.restart()
}

// freeBlock reports whether there is a block for another node.
func (b *blockSource) freeBlock() bool {
	// one that rests is as good as taken, and how long only the operator knows
	if b == nil || b.plan.System == scenarios.Cilium && b.plan.ReuseDelay > 0 {
		return false
	}
	if blocked(b.plan) {
		return b.lends()
	}
	if addressed(b.plan) { // what an instance of EC2 could have depends on its interfaces, and is not known
		return booked(b.plan) && b.freeAddress()
	}
	var taken []netip.Prefix
	for _, o := range b.server.All("nodes") {
		taken = append(taken, prefixesOf(o)...)
	}
	if b.asked() {
		for _, o := range b.server.All(kube.PoolNodeResource) {
			taken = append(taken, pooled(o)...)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ranges.Free(taken)
}

// operating says what a controller has under way, "" for nothing.
func (b *blockSource) operating() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.lives {
		if c.pending == nil || c.off.Load() {
			continue
		}
		if why := c.pending(); why != "" {
			return c.name + " " + why
		}
	}
	return ""
}

// pending says what is under way, "" for nothing. Nodes that wait for a block that is not there do not count.
func (b *blockSource) pending() string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	deposed := b.deposed
	b.mu.Unlock()
	switch {
	case deposed > 0:
		return "requests of a controller that was cut off have not all arrived"
	case b.leader() == nil:
		return "a controller is being elected"
	}
	if b.asked() {
		return cmp.Or(b.operating(), b.unserved())
	}
	for _, n := range b.w.inOrder() {
		blocks, ok := b.shown(n)
		n.mu.Lock()
		told := slices.Equal(blocks, n.podCIDRs)
		n.mu.Unlock()
		switch {
		case !ok || !told:
			return "agents have not been told the blocks of " + n.name
		case len(blocks) == 0 && b.freeBlock():
			return fmt.Sprintf("%s has no block, and there is one", n.name)
		}
	}
	return ""
}
