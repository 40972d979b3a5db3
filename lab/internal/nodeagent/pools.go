package nodeagent

import (
	"context"
	"log/slog"
	"net"
	"net/http"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Pools is where a node asks for blocks of pools, and how many addresses it keeps ready.
type Pools struct {
	// Server is the API server's socket.
	Server      string
	PreAllocate int
}

// requester asks for a node.
func (c *Pools) requester(node string, alloc *cilium.Node, log *slog.Logger) (*kube.Requester, error) {
	server, err := dialAPI(c.Server, node, log)
	if err != nil {
		return nil, err
	}
	return server.Requester(kube.RequesterConfig{Node: node, Alloc: alloc, PreAllocate: c.PreAllocate}), nil
}

// dialAPI is a connection to the API server at a socket.
func dialAPI(socket, node string, log *slog.Logger) (*kube.Connection, error) {
	carrier := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	return kube.Through(kube.Way{Carrier: carrier, Host: "http://lab"}, node, log)
}
