package nodeagent

import (
	"log/slog"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Calico is where a node's agent assigns it addresses of Calico's blocks.
type Calico struct {
	// Server is the API server's socket.
	Server string
	// Families are those of a pod's addresses, the primary first.
	Families []string
	// Pace is how many times as fast as the clock the scenario's time passes.
	Pace float64
}

// host assigns addresses to a node.
func (c *Calico) host(node string, alloc calico.Node, log *slog.Logger) (*kube.CalicoHost, error) {
	server, err := dialAPI(c.Server, node, log)
	if err != nil {
		return nil, err
	}
	return server.CalicoHost(kube.CalicoConfig{Node: node, Alloc: alloc, Pace: c.Pace}), nil
}
