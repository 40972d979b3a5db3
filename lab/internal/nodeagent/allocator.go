package nodeagent

import (
	"cmp"
	"math/rand/v2"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/ipamd"
)

// allocator is what gives the node's pods their addresses.
func (c *Config) allocator() (ipam.NodeAllocator, error) {
	if c.EC2 != nil {
		return datastore.NewNode(datastore.NodeConfig{Cooling: cmp.Or(c.EC2.Cooling, -1), Gateway: ipamd.Gateway})
	}
	if c.Calico != nil {
		return calico.NewNode(c.Calico.Families...), nil
	}
	if c.Addresses != nil {
		return cilium.NewExpiringNode(picker{}, ipamd.Gateway)
	}
	if c.Cilium {
		return cilium.NewNode(cilium.NodeConfig{Pick: picker{}, FirstRouter: true, Keep: agent.KeptForNAT, Outside: ipamd.Gateway, Dual: c.Dual})
	}
	return nodeipam.NewNode(nodeipam.NodeConfig{ReuseDelay: c.ReuseDelay, External: c.External})
}

// picker draws where a search for a free address begins.
type picker struct{}

// Pick implements cilium.Picker.
func (picker) Pick(_ string, n int) int { return rand.IntN(n) }
