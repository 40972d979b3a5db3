package lab

import (
	"net/netip"
	"path/filepath"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/lab/internal/controllers"
	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd/aws"
)

// metadataSocket is that of a node's instance metadata service, in the node's folder.
const metadataSocket = "metadata.sock"

// launch makes a node an instance of EC2.
func (w *World) launch(n *node) error {
	return w.cloud.Launch(n.name, filepath.Join(n.dir, metadataSocket), func(units []netip.Prefix) {
		if w.scenario().Config.IPAM.System == scenarios.Cilium { // whose nodes have the addresses of prefixes
			n.tellAssigned(controllers.Singles(cilium.AddressesOf(units...)))
			return
		}
		var now []ipam.Block
		for _, u := range units {
			now = append(now, ipam.Block{Prefix: u})
		}
		n.tellAssigned(now)
	})
}

// ec2 is how the node's agent asks for its addresses.
func (n *node) ec2() *nodeagent.EC2 {
	plan, limits := n.w.scenario().Config.IPAM, n.w.cloud.Limits()
	d := plan.Datastore
	return &nodeagent.EC2{
		Sockets: aws.Sockets{API: n.w.cloud.API(), Metadata: filepath.Join(n.dir, metadataSocket)}, PodSubnet: n.w.cloud.PodSubnet(n.name),
		Cooling: plan.AddressRest(),
		Sizing: datastore.Sizing{Targets: datastore.Targets{WarmIP: d.WarmIP, MinimumIP: d.MinimumIP, WarmPrefix: d.WarmPrefix, WarmENI: d.WarmENI},
			ENIsMax: limits.ENIs, UnitsPerENI: limits.IPv4PerENI - 1, PrefixDelegation: d.PrefixDelegation, SkipPrimary: d.CustomNetworking()},
	}
}
