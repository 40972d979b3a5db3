package nodeagent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/policy"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// counts are the calls of one life.
type counts struct{ vpp, linux, writes, store, storeWrites, journal atomic.Int64 }

// countedVPP counts what goes to VPP.
type countedVPP struct {
	host.VPP
	counts   *counts
	up       *atomic.Bool
	removals *removals
}

// Dial implements host.VPP.
func (v countedVPP) Dial(ctx context.Context) (host.Conn, error) {
	c, err := v.VPP.Dial(ctx)
	if err != nil {
		return nil, err
	}
	v.up.Store(true)
	v.removals.dialed()
	return countedConn{c, v.counts, v.up, v.removals}, nil
}

type countedConn struct {
	host.Conn
	counts   *counts
	up       *atomic.Bool
	removals *removals
}

// Invoke implements api.Connection. What asks is told from what writes by VPP's own way of naming messages.
func (c countedConn) Invoke(ctx context.Context, req, reply api.Message) error {
	c.counts.vpp.Add(1)
	name := req.GetMessageName()
	if !asks(name) {
		c.counts.writes.Add(1)
	}
	err := c.Conn.Invoke(ctx, req, reply)
	if err == nil {
		c.removals.answered(req, reply)
	}
	return err
}

func asks(name string) bool {
	return strings.HasSuffix(name, "_get") || strings.HasSuffix(name, "_get_table") || strings.HasSuffix(name, "_dump") || strings.HasSuffix(name, "_show_running_config") ||
		strings.HasPrefix(name, "classify_table_") || name == "control_ping"
}

// NewStream implements api.Connection: dumps come this way.
func (c countedConn) NewStream(ctx context.Context, options ...api.StreamOption) (api.Stream, error) {
	c.counts.vpp.Add(1)
	s, err := c.Conn.NewStream(ctx, options...)
	if err != nil {
		return nil, err
	}
	return seenStream{s, c.removals}, nil
}

// Close implements host.Conn.
func (c countedConn) Close() {
	c.up.Store(false)
	c.Conn.Close()
}

// countedLinux counts what goes to Linux.
type countedLinux struct {
	vppwire.Linux
	counts   *counts
	removals *removals
}

// Apply implements vppwire.Linux.
func (l countedLinux) Apply(op vppwire.LinuxOp) error {
	l.counts.linux.Add(1)
	l.counts.writes.Add(1)
	err := l.Linux.Apply(op)
	if err == nil {
		l.removals.applied(op)
	}
	return err
}

// Dump implements vppwire.Linux.
func (l countedLinux) Dump(netns string) (vppwire.LinuxState, error) {
	l.counts.linux.Add(1)
	state, err := l.Linux.Dump(netns)
	if err == nil && netns == "" {
		l.removals.shownLinux(state)
	}
	return state, err
}

// countedJournal counts what goes to the disk.
type countedJournal struct {
	host.Journal
	counts *counts
}

// Persist implements host.Journal. It counts the records' lines, as the simulator does: the journal's own frames are
// left out.
func (j countedJournal) Persist(e agent.Persist, done func(error)) {
	var line []byte
	for i := range e.Records {
		line = e.Records[i].AppendText(line[:0])
		j.counts.journal.Add(int64(len(line)) + 1)
	}
	j.Journal.Persist(e, done)
}

// heardStore notes the highest revision that the store has told, and counts what it is asked.
type heardStore struct {
	host.Store
	heard  *storeHeard
	counts *counts
}

// storeHeard is the highest revision of the data that was told last: a store that has lost its data begins anew.
type storeHeard struct {
	mu       sync.Mutex
	data     uint64
	revision int64
}

// Do implements host.Store.
func (s heardStore) Do(r agent.StoreRequest, tell func(agent.Event)) {
	s.counts.store.Add(1)
	switch r.Op {
	case agent.StoreCreate, agent.StoreUpdate, agent.StoreDelete:
		s.counts.storeWrites.Add(1)
	}
	s.Store.Do(r, func(ev agent.Event) {
		switch e := ev.(type) {
		case agent.StoreReply:
			s.heard.hear(e.Store, e.Revision)
		case agent.StoreChanged:
			s.heard.hear(0, e.Revision)
		}
		tell(ev)
	})
}

// hear takes what was told in any order: an answer may be overtaken by a change.
func (h *storeHeard) hear(data uint64, revision int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if data != 0 && data != h.data {
		h.data, h.revision = data, 0
	}
	h.revision = max(h.revision, revision)
}

func (h *storeHeard) load() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.revision
}

// heardCluster notes what the cluster has told last of each object.
type heardCluster struct {
	host.Cluster
	mu               sync.Mutex
	nodes            map[string]string
	pools            string
	services, slices told
	selected         Selectables
}

// told are the lines of one kind of object, by name.
type told map[service.Name]string

// listed: what is not among names is not there.
func (t told) listed(names []service.Name) {
	maps.DeleteFunc(t, func(n service.Name, _ string) bool { return !slices.Contains(names, n) })
}

func newHeardCluster(c host.Cluster) *heardCluster {
	return &heardCluster{Cluster: c, nodes: map[string]string{}, services: told{}, slices: told{}}
}

// Watch implements host.Cluster.
func (c *heardCluster) Watch(ctx context.Context, tell func(agent.Event)) {
	fresh := map[string]string{}
	c.Cluster.Watch(ctx, func(ev agent.Event) {
		c.mu.Lock()
		switch e := ev.(type) {
		case agent.NodeSeen:
			line := HeardNode(e)
			c.nodes[e.Name], fresh[e.Name] = line, line
		case agent.NodeGone:
			delete(c.nodes, e.Name)
			delete(fresh, e.Name)
		case host.NodesListed:
			c.nodes, fresh = fresh, maps.Clone(fresh)
			clear(fresh)
		case agent.PoolsChanged:
			c.pools = HeardPools(e.Pools)
		case agent.ServiceSeen:
			c.services[e.Service.Name] = HeardService(e.Service)
		case agent.ServiceGone:
			delete(c.services, e.Name)
		case agent.ServicesListed:
			c.services.listed(e.Names)
		case agent.EndpointsSeen:
			c.slices[e.Slice.Name] = HeardSlice(e.Slice)
		case agent.EndpointsGone:
			delete(c.slices, e.Name)
		case agent.EndpointsListed:
			c.slices.listed(e.Names)
		case agent.PolicySeen:
			c.selected.Seen(policy.Policies, e.Policy.Name, e.Policy)
		case agent.PeerSeen:
			c.selected.Seen(policy.Pods, e.Pod.Name, e.Pod)
		case agent.NamespaceSeen:
			c.selected.Seen(policy.Namespaces, policy.Name{Name: e.Namespace.Name}, e.Namespace)
		case agent.SelectableGone:
			c.selected.Gone(e.Kind, e.Name)
		case agent.SelectablesListed:
			c.selected.Listed(e.Kind, e.Names)
		}
		c.mu.Unlock()
		tell(ev)
	})
}

// heard are the lines of everything, sorted.
func (c *heardCluster) heard() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Collect(maps.Values(c.nodes))
	out = slices.AppendSeq(out, maps.Values(c.services))
	out = slices.AppendSeq(out, maps.Values(c.slices))
	out = append(out, c.selected.Lines()...)
	if c.pools != "" {
		out = append(out, c.pools)
	}
	slices.Sort(out)
	return out
}

// HeardNode is the line by which a lab knows that an agent has heard of a node as it is now; HeardPools the same of the
// address ranges.
func HeardNode(n agent.NodeSeen) string {
	line := fmt.Sprintf("node %s %s %v %v", n.Name, n.UID, n.PodCIDRs, n.Addresses)
	if n.Zone != "" {
		line += " " + n.Zone
	}
	return line
}

// HeardPools is a line like HeardNode's.
func HeardPools(p agent.Pools) string { return fmt.Sprintf("pools %d", p.Generation) }

// HeardService and HeardSlice are lines like HeardNode's.
func HeardService(s service.Service) string { return fmt.Sprintf("service %+v", s) }

// HeardSlice is HeardService's, of a slice.
func HeardSlice(s service.Slice) string { return fmt.Sprintf("slice %+v", s) }
