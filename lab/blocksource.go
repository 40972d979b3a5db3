package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/controllers"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd/aws"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/kube/apiserver"
)

// blockSource is where nodes' blocks come from in a lab whose address management has controllers: those of `vppdrill
// controller`, two of them at a time, which stand for one Lease of an API server in this process. What they write into
// Node objects the control plane tells agents as it tells them everything else.
type blockSource struct {
	w      *World
	plan   scenarios.IPAM
	set    *controllers.Set
	server *apiserver.Server
	socket string
	http   *http.Server
	// news says that a Node object may have changed; done is closed when nobody follows any more.
	news, done chan struct{}
	end        context.CancelFunc
	ctx        context.Context

	// shares are what Calico's blocks say of each node, aside the free addresses of blocks with an affinity to it; the server's lock guards
	// both.
	shares map[string]map[netip.Prefix][]netip.Addr
	aside  map[string]int
}

// newBlockSource returns one whose controllers do not run yet.
func newBlockSource(w *World, dir string) (*blockSource, error) {
	b := &blockSource{w: w, plan: w.scenario().Config.IPAM, server: apiserver.New(), socket: filepath.Join(dir, "kube.sock"),
		news: make(chan struct{}, 1), done: make(chan struct{}), shares: map[string]map[netip.Prefix][]netip.Addr{}, aside: map[string]int{}}
	b.ctx, b.end = context.WithCancel(context.Background())
	var err error
	b.set, err = controllers.New(controllers.Config{Plan: b.plan, Pace: w.o.TimeScale, Way: b.way, Holder: b.holder, Account: b.account,
		Put: func(resource string, o apiserver.Object) error {
			b.server.Put(resource, o)
			return nil
		},
		Remove: func(resource, name string) error {
			b.server.Remove(resource, "", name)
			return nil
		},
		Log: ControllerLog(w.Record), Note: w.Record.Note, Fail: w.Fail,
		Asks: func(c fact.Changing) { w.Record.Tell(fact.Fact{What: c}, "") }, Ranged: b.ranged})
	return b, err
}

// start has the API server answer and the controllers work.
func (b *blockSource) start() error {
	b.server.Observe = func(_ string, old, now apiserver.Object) {
		b.observe(old, now)
		select {
		case b.news <- struct{}{}:
		default: // whoever follows looks at everything
		}
	}
	listener, err := net.Listen("unix", b.socket)
	if err != nil {
		return err
	}
	b.http = &http.Server{Handler: b.server, ReadHeaderTimeout: time.Minute}
	go func() { _ = b.http.Serve(listener) }() // ErrServerClosed
	go b.follow()
	if err := b.set.Start(); err != nil {
		return errors.Join(err, b.close())
	}
	return nil
}

// way leads a controller to the API server.
func (b *blockSource) way() (http.RoundTripper, string, func(), error) {
	t := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", b.socket)
	}}
	return t, "http://lab", t.CloseIdleConnections, nil
}

// holder is the name that stands in the Lease.
func (b *blockSource) holder() string {
	spec, _ := b.server.Get("leases", controllers.LeaseNamespace, controllers.LeaseName)["spec"].(apiserver.Object)
	holder, _ := spec["holderIdentity"].(string)
	return holder
}

// account is what operators call EC2 with.
func (b *blockSource) account(ctx context.Context) (*aws.Account, error) {
	region, key, secret := b.w.cloud.Operator()
	return aws.Open(ctx, aws.Config{Sockets: aws.Sockets{API: b.w.cloud.API(), Region: region, Key: key, Secret: secret}, Log: ControllerLog(b.w.Record)})
}

func (b *blockSource) close() error {
	if b == nil {
		return nil
	}
	b.end()
	b.set.End()
	b.server.EndWatches()
	err := b.http.Close() // no controller gives its Lease back to a server that ends as well
	b.set.Wait()
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
	if controllers.Booked(b.plan) {
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
	b.set.Stop(stop)
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

// freeBlock reports whether there is a block for another node.
func (b *blockSource) freeBlock() bool { return b != nil && b.set.Free(b.given()) }

// given is what the API server says that nodes have, as far as the plan's controllers give it.
func (b *blockSource) given() (given controllers.Given) {
	switch {
	case controllers.Blocked(b.plan):
		for _, o := range b.server.All(kube.IPAMBlockResource) {
			if block, ok := blockOf(o); ok {
				given.Blocks = append(given.Blocks, block)
			}
		}
		return given
	case controllers.Addressed(b.plan):
		given.Spare = controllers.Booked(b.plan) && controllers.Spare(b.book(), func(node string) bool { return b.w.node(node) == nil })
		return given
	}
	for _, o := range b.server.All("nodes") {
		given.Taken = append(given.Taken, prefixesOf(o)...)
	}
	if controllers.Pooled(b.plan) {
		for _, o := range b.server.All(kube.PoolNodeResource) {
			given.Taken = append(given.Taken, pooled(o)...)
		}
	}
	return given
}

// pending says what is under way, "" for nothing. Nodes that wait for a block that is not there do not count.
func (b *blockSource) pending() string {
	if b == nil {
		return ""
	}
	if why := b.set.Electing(); why != "" {
		return why
	}
	if b.asked() {
		return cmp.Or(b.set.Operating(), b.unserved())
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
