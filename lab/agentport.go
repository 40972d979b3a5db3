package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/faults"
	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// state is what an agent tells of itself.
type state = nodeagent.State

// Files of a node's agent below the node's folder.
const (
	watchSocket  = "watch.sock"
	journalFile  = "journal"
	removalsFile = "removals"
	agentConfig  = "agent.json"
	AgentLogFile = "agent.log"
)

// askTime is how long an agent may take to tell its state.
const askTime = 5 * time.Second

// launchAgent starts the agent's process and returns when it has read its journal and serves.
func (n *node) launchAgent(ctx context.Context, life int) (Process, error) {
	// Nobody asks for a pod before what the journal held has been told.
	n.kubelet.gate.Lock()
	defer n.kubelet.gate.Unlock()
	c := n.agentConfigFor()
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(n.dir, agentConfig)
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.changes = 0 // a new life counts anew
	n.mu.Unlock()
	if err := os.Remove(c.Watch); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	p, err := n.machine.Spawn(append(slices.Clone(n.w.o.Agent), file), AgentLogFile)
	if err != nil {
		return nil, err
	}
	for {
		s, err := n.ask(ctx)
		if err == nil && s.PID == p.PID() {
			n.tellAgentUp(s)
			return p, nil
		}
		select {
		case <-p.Done():
			return nil, fmt.Errorf("the agent ended while it started: %s", lastLine(filepath.Join(n.dir, AgentLogFile)))
		case <-ctx.Done():
			p.Kill()
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// lastPanic is what a log says of why its program died: its last panic's first line, or its end.
func lastPanic(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "it said nothing"
	}
	for _, mark := range [...]string{"\npanic: ", "\nfatal error: "} {
		if at := bytes.LastIndex(text, []byte(mark)); at >= 0 {
			line, _, _ := bytes.Cut(text[at+1:], []byte("\n"))
			return string(line)
		}
	}
	return lastLine(file)
}

func (n *node) agentConfigFor() nodeagent.Config {
	in := func(name string) string { return filepath.Join(n.dir, name) }
	c := nodeagent.Config{
		Agent: n.w.agents(), ReuseDelay: n.w.scenario().Config.IPAM.ReuseDelay, External: n.w.scenario().Config.IPAM.UseExternalIPAM, Cilium: n.w.scenario().Config.IPAM.System == scenarios.Cilium, Dual: n.w.scenario().Config.IPAM.Dual(),
		// A lost reply costs the connection, so a lab's patience is at least what a loaded machine needs.
		CallTimeout: max(n.w.scenario().Config.Agent.CallTimeout, 10*time.Second),
		VPP:         filepath.Join(n.machine.VPPDir(), vppproc.APISocketFile), Store: in(storeSocket), Cluster: in(apiSocket),
		CNI: in(cniSocket), Watch: in(watchSocket), Journal: in(journalFile), Removals: in(removalsFile),
	}
	if n.w.desk != nil {
		agents := n.w.scenario().Config.Agent
		c.Faults = &faults.PortConfig{Socket: in(faultSocket), CallTimeout: n.w.real(agents.CallTimeout), StoreTimeout: n.w.real(storeTimeout)}
	}
	if n.w.scenario().Config.IPAM.System == scenarios.Datastore {
		c.EC2 = n.ec2()
	}
	c.Addresses, c.Calico = n.w.addresses(in(kubeSocket)), n.w.calico(in(kubeSocket))
	if n.w.source.asked() && c.Addresses == nil && c.Calico == nil {
		c.Pools = &nodeagent.Pools{Server: in(kubeSocket), PreAllocate: n.w.scenario().Config.IPAM.Cilium.PreAllocate}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c.Boot = n.registration.machine + "-" + strconv.Itoa(n.boots)
	if n.own.IsValid() {
		c.Address = n.own.String()
	}
	c.Agent.NodeName = n.name
	if n.w.scenario().Topology.NIC != "" {
		c.Agent.NodeConfig = slices.Clone(c.Agent.NodeConfig)
		if c.Agent.GetNodeConfig(n.name) == nil {
			c.Agent.NodeConfig = append(c.Agent.NodeConfig, agent.NodeConfig{NodeName: n.name})
		}
		c.Agent.GetNodeConfig(n.name).MainVPPInterface.InterfaceName = NICName
	}
	return c
}

// lastLine is the end of a log, for an error.
func lastLine(file string) string {
	text, err := os.ReadFile(file)
	if err != nil || len(text) == 0 {
		return "it said nothing"
	}
	end := len(text)
	for end > 0 && text[end-1] == '\n' {
		end--
	}
	begin := end
	for begin > 0 && text[begin-1] != '\n' {
		begin--
	}
	return string(text[begin:end])
}

// client speaks to the agent's watch socket.
func (n *node) client() *http.Client {
	path := filepath.Join(n.dir, watchSocket)
	return &http.Client{Timeout: askTime, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}}}
}

// get asks the watch socket; put tells it.
func (n *node) get(ctx context.Context, method, what string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://agent"+what, nil)
	if err != nil {
		return nil, err
	}
	r, err := n.client().Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }() // it has been read
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("agent of %s: %s: %s", n.name, r.Status, body)
	}
	return body, err
}

// ask is the agent's state now.
func (n *node) ask(ctx context.Context) (state, error) {
	var s state
	n.mu.Lock()
	heard := n.changes
	n.mu.Unlock()
	body, err := n.get(ctx, http.MethodGet, "/state?after="+strconv.FormatInt(heard, 10))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(body, &s)
}

// plan is what the agent wants VPP and Linux to look like, as text.
func (n *node) plan(ctx context.Context) (string, error) {
	body, err := n.get(ctx, http.MethodGet, "/plan")
	return string(body), err
}

// setOwn gives the node another interconnect address.
func (n *node) setOwn(ctx context.Context, a netip.Prefix) error {
	n.mu.Lock()
	n.own = a
	up := n.agent.proc != nil
	n.mu.Unlock()
	if !up {
		return nil // it is told at its start
	}
	_, err := n.get(ctx, http.MethodPut, "/address?is="+url.QueryEscape(a.String()))
	return err
}

// returnTime is how long an agent that is asked to end may take to give its host the NIC back (vppwire/cmd, returnTime).
const returnTime = 20 * time.Second

// returnNIC has the agent give its host the NIC back, where there is one and it can: it ends all the same.
func (n *node) returnNIC() {
	ctx, cancel := context.WithTimeout(context.Background(), returnTime)
	defer cancel()
	_, _ = n.get(ctx, http.MethodPut, "/return-nic")
}

// tellAgentUp tells as facts what a new life found in its journal. A DEL whose answer died with the last life may have
// freed its address: then the journal does not hold it, and that is told first.
func (n *node) tellAgentUp(s state) {
	held := map[string]bool{}
	for _, l := range s.Restored {
		held[l.Owner.String()] = true
	}
	for _, x := range n.kubelet.ending() {
		if !held[x.owner.String()] {
			n.w.Record.Tell(fact.Fact{Node: n.name, What: fact.Released{Owner: x.owner, Addr: x.addr, Block: netip.Prefix{}, Rest: 0, Left: nil}}, "")
		}
	}
	n.w.Record.Tell(fact.Fact{Node: n.name, What: fact.AgentUp{Leases: s.Restored}},
		fmt.Sprintf("%s agent is up with %d leases", n.name, len(s.Restored)))
	n.mu.Lock()
	n.last = state{}
	n.life, n.id, n.blocks, n.writes = s.PID, 0, nil, 0
	n.rests.Again(n.w.Now(), n.w.restMost())
	n.mu.Unlock()
	n.w.held.Begins()
	n.heard(s)
	n.kubelet.changed()
}

// poll asks the agent for its state and notes it. Polls of one node take turns, so that what was told later is noted
// later.
func (n *node) poll(ctx context.Context) (state, error) {
	n.polling.Lock()
	defer n.polling.Unlock()
	s, err := n.ask(ctx)
	if err == nil {
		n.afterRecords(ctx, &s)
		n.heard(s)
	}
	return s, err
}

// afterRecords waits, where an agent tells of other blocks, until what it has written about them into the store before
// has been told: the one is heard of by asking, the other by a watch.
func (n *node) afterRecords(ctx context.Context, s *state) {
	n.mu.Lock()
	known := slices.Equal(s.Blocks, n.blocks) && !slices.ContainsFunc(s.Changes, func(c nodeagent.Change) bool {
		return c.Number > n.changes && !slices.Equal(c.Blocks, n.blocks)
	})
	n.mu.Unlock()
	if known {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if err := n.w.control.store.Told(ctx); err != nil {
		n.w.Record.Note(n.name + ": " + err.Error())
	}
}

// heard notes what an agent has told, and tells as facts what has changed, each step at its time: what was freed first,
// what was leased last, so that a block may go with its last lease and come before its first. What a killed agent told
// is not noted.
func (n *node) heard(s state) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.PID != n.life {
		return
	}
	tell := n.w.Record.Tell
	if more := countsOf(s).Minus(countsOf(n.last)); more != (fact.Counts{}) {
		tell(fact.Fact{Node: n.name, What: fact.Counted{Counts: more}}, "")
	}
	n.last = s
	for _, c := range s.Changes {
		if c.Number <= n.changes {
			continue
		}
		n.changes = c.Number
		at := n.w.at(c.At)
		for _, l := range c.Released {
			tell(fact.Fact{At: at, Node: n.name, What: fact.Released{Owner: l.Owner, Addr: l.Addr, Block: l.Block, Rest: n.w.rest(), Left: leftOf(&c, l.Addr)}}, "")
			n.rests.Begin(l.Addr, at, n.w.restMost())
		}
		n.recordsBefore(c.Blocks)
		n.identity(at, c.ID, c.Blocks)
		if len(c.Addresses) > 0 {
			n.tellAddresses(at, c.Addresses)
		}
		for _, l := range c.Leased {
			first, _ := l.Owner.First()
			pool, _ := n.askedPools.Load(first)
			asked, _ := pool.(string)
			tell(fact.Fact{At: at, Node: n.name, What: fact.Leased{Owner: l.Owner, Addr: l.Addr, Block: l.Block, Pool: asked, Left: leftOf(&c, l.Addr)}}, "")
			n.rests.End(l.Addr)
		}
	}
	n.recordsBefore(s.Blocks)
	n.identity(0, s.ID, s.Blocks)
	n.tellKept(len(n.kept))
	n.tellAddresses(0, nodeagent.Reached(&s.State))
	if s.Writes > n.writes && time.Now().Before(n.recordUntil) {
		tell(fact.Fact{Node: n.name, What: fact.VPPWrite{Call: strconv.FormatInt(s.Writes-n.writes, 10) + " writes"}}, "")
	}
	n.writes = s.Writes
}

// leftOf is what was found of an address when a step released or leased it, nil for nothing.
func leftOf(c *nodeagent.Change, a netip.Addr) *fact.Leftover {
	i := slices.IndexFunc(c.Left, func(l nodeagent.Left) bool { return l.Addr == a })
	if i < 0 {
		return nil
	}
	return &c.Left[i].Leftover
}

// identity tells the node's ID and blocks where they have changed. n.mu is held.
func (n *node) identity(at time.Duration, id uint32, blocks []ipam.Block) {
	if id != n.id {
		n.id = id
		n.w.Record.Tell(fact.Fact{At: at, Node: n.name, What: fact.NodeID{ID: id}}, fmt.Sprintf("%s node ID %d", n.name, id))
	}
	if !slices.Equal(blocks, n.blocks) {
		n.blocks = blocks
		n.w.Record.Tell(fact.Fact{At: at, Node: n.name, What: fact.NodeBlocks{Blocks: blocks}}, fmt.Sprintf("%s blocks %v", n.name, prefixes(blocks)))
		n.kubelet.changed()
	}
}

// restSlack is the part of a rest that a lab does not insist on: the agent keeps it by the machine's clock across
// restarts, which NTP may slew by 500 millionths, and scaled times are rounded.
const restSlack = 1000

// rest is how long the configuration keeps a released address unused, in the scenario's time. Another plugin has its
// own.
func (w *World) rest() time.Duration {
	d := time.Duration(float64(w.scenario().Config.IPAM.AddressRest()) * w.o.TimeScale)
	return d - d/restSlack
}

// countsOf is what an agent has asked for in its life.
func countsOf(s state) fact.Counts {
	return fact.Counts{VPPCalls: s.VPPCalls, LinuxCalls: s.LinuxCalls, StoreOps: s.StoreOps, JournalBytes: s.JournalBytes, Writes: s.Writes, APIWrites: s.StoreWrites}
}

func prefixes(blocks []ipam.Block) []netip.Prefix {
	var out []netip.Prefix
	for _, b := range blocks {
		out = append(out, b.Prefix)
	}
	return out
}
