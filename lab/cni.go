package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// cniSocket is where a node's agent listens, below the node's folder.
const cniSocket = "cni.sock"

// errAway: nobody listens, or the agent was gone before it had answered.
var errAway = errors.New("agent is not running")

// errKilled: a fault has killed the plugin right after it asked.
var errKilled = errors.New("plugin was killed")

// cni asks a node's agent as the CNI plugin does, again and again while it is away, but not for long. No answer, for
// whatever reason, is an error: whether it was done is unknown.
func (n *node) cni(ctx context.Context, name string, owner ipam.Owner, req wire.Request) (wire.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, cniTimeout)
	defer cancel()
	until := time.Now().Add(agentWait)
	for {
		r, err := n.conversation(ctx, name, owner, req)
		if !errors.Is(err, errAway) || time.Now().Add(agentPause).After(until) || !n.isUp() {
			return r, err
		}
		select {
		case <-ctx.Done():
			return r, err
		case <-time.After(agentPause):
		}
	}
}

// asked tells of a request that reaches the agent, with the pod that its CNI_ARGS name.
func (n *node) asked(name string, owner ipam.Owner, req wire.Request) fact.Fact {
	asked := fact.Asked{Command: name, Owner: owner, Pod: "", PodUID: "", Netns: "", Addr: netip.Addr{}, Wanted: req.Wanted}
	if said, err := wire.ParseArgs(req.Args); err == nil && said["K8S_POD_NAME"] != "" {
		asked.Pod, asked.PodUID = said["K8S_POD_NAMESPACE"]+"/"+said["K8S_POD_NAME"], said["K8S_POD_UID"]
	}
	return fact.Fact{Node: n.name, What: asked}
}

// conversation is one request over the agent's socket.
func (n *node) conversation(ctx context.Context, name string, owner ipam.Owner, req wire.Request) (wire.Response, error) {
	n.kubelet.gate.RLock()
	defer n.kubelet.gate.RUnlock()
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(n.dir, cniSocket))
	if err != nil {
		return wire.Response{}, errAway
	}
	defer func() { _ = c.Close() }() // the answer is complete by then
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	n.w.Record.Tell(n.asked(name, owner, req), "")
	if err := wire.Write(c, req); err != nil {
		return wire.Response{}, fmt.Errorf("ask the agent: %w", err)
	}
	if n.w.desk.Withdrawn(n.name, name, owner.ContainerID) {
		return wire.Response{}, errKilled // the agent finds an empty socket
	}
	r, err := wire.ReadResponse(c)
	switch {
	case ctx.Err() != nil:
		return r, fmt.Errorf("the agent has not answered within %s", cniTimeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return r, fmt.Errorf("%w any more: it ended before it answered", errAway)
	case err != nil:
		return r, fmt.Errorf("the agent's answer: %w", err)
	}
	// What the agent did comes before what follows from its answer. One that died this moment tells nothing.
	_, _ = n.poll(ctx)
	return r, nil
}
