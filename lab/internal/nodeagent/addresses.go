package nodeagent

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Addresses is where a node's CiliumNode is, whose pool has the addresses of its pods, and how Cilium's agent works on it.
type Addresses struct {
	// Server is the API server's socket.
	Server string
	// Mode is Cilium's, PodCIDR what addresses come from.
	Mode       string
	PodCIDR    netip.Prefix
	Watermarks cilium.Watermarks
	// Expiration is how long an address waits for its pod, in the scenario's time, which passes Pace times as fast as the clock.
	Expiration time.Duration
	Pace       float64
}

// requester tells of a node's addresses.
func (c *Addresses) requester(node string, alloc *cilium.ExpiringNode, kernel vppwire.Linux, log *slog.Logger) (*kube.AddressRequester, error) {
	server, err := dialAPI(c.Server, node, log)
	if err != nil {
		return nil, err
	}
	return server.AddressRequester(kube.AddressRequesterConfig{Linux: kernel, Pace: c.Pace, Agent: cilium.AddressAgentConfig{
		Node: node, Alloc: alloc, Mode: c.Mode, PodCIDR: c.PodCIDR, Watermarks: c.Watermarks, Expiration: c.Expiration}})
}
