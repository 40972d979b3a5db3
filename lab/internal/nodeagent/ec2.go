package nodeagent

import (
	"context"
	"log/slog"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd/aws"
)

// EC2 is where a node's addresses come from in a lab of instances, and how many of them are kept.
type EC2 struct {
	Sockets aws.Sockets
	// PodSubnet is that of all interfaces but the first with custom networking.
	PodSubnet string
	Sizing    datastore.Sizing
	// Cooling is how long a released address is not given out again; 0: not at all.
	Cooling time.Duration
}

// requester asks EC2 for a node.
func (c *EC2) requester(ctx context.Context, node string, alloc *datastore.Node, log *slog.Logger) (*ipamd.Requester, error) {
	var r *ipamd.Requester
	cloud, err := aws.Connect(ctx, aws.Config{Sockets: c.Sockets, PodSubnet: c.PodSubnet, Log: log, Requested: func(name string, took time.Duration, err error) {
		if r != nil {
			r.Metrics().Requested(name, took, err)
		}
	}})
	if err != nil {
		return nil, err
	}
	r = ipamd.NewRequester(ipamd.RequesterConfig{Cloud: cloud, Node: node, Alloc: alloc, Sizing: c.Sizing, Log: log})
	return r, nil
}
