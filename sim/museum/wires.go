package museum

import (
	"net/netip"
	"time"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/classify"
	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/ip_neighbor"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// wires are the faults of programs that wire pods and nodes.
func wires() []Exhibit {
	return []Exhibit{
		{
			Name: "mtu-of-the-nic", Incidents: []string{"projectcalico/calico#9718", "contiv/vpp#944"}, Law: "packets-fit",
			Upstream: "Calico's agent sometimes gave pods an MTU of 1500 where VXLAN left 1450; behind Contiv's VPP long packets were giants to the switch.",
			Fault:    "One agent takes its NIC's MTU for its pods'.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Config: func(cfg *agent.Config) {
					if cfg.NodeName == "node-2" {
						cfg.MTUSize = nicMTU
					}
				}}
			},
		},
		{
			Name: "another-nic-taken", Incidents: []string{"projectcalico/calico#5090"}, Law: "nics-wired",
			Upstream: "Calico's agent found the address of another interface than before, and took that one for the node's own.",
			Fault:    "One agent takes the node's second interface for the one between nodes.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Config: func(cfg *agent.Config) {
					n := cfg.GetNodeConfig(cfg.NodeName)
					if cfg.NodeName != "node-2" || n == nil || len(n.OtherVPPInterfaces) == 0 {
						return
					}
					n.MainVPPInterface.InterfaceName, n.OtherVPPInterfaces[0].InterfaceName = n.OtherVPPInterfaces[0].InterfaceName, string(scenarios.DefaultNIC)
				}}
			},
		},
		{
			Name: "spoofed-packets-pass", Incidents: []string{"projectcalico/felix#790"}, Law: "senders-bound",
			Upstream: "Felix' rules let packets with another workload's address through; only the kernel's own check stopped them, where it was on.",
			Fault:    "What the table of senders does not know passes.",
			Plant: func() *sim.Plant {
				return requests(func(_ *life, m api.Message) {
					if table, ok := m.(*classify.ClassifyAddDelTable); ok && table.IsAdd {
						table.MissNextIndex = ^uint32(0)
					}
				})
			},
		},
		{
			Name: "neighbor-of-a-former-pod", Incidents: []string{"containernetworking/plugins#858", "containernetworking/cni#88"}, Law: "reachable",
			Upstream: "A new pod got the address of an earlier one, and its node went on sending to the earlier one's MAC.",
			Fault:    "Agents give VPP the MAC that an address had first on the node.",
			Plant: func() *sim.Plant {
				type place struct {
					node string
					addr netip.Addr
				}
				first := map[place]ethernet_types.MacAddress{}
				return requests(func(l *life, m api.Message) {
					n, ok := m.(*ip_neighbor.IPNeighborAddDel)
					if !ok || !n.IsAdd {
						return
					}
					at := place{l.node, netip.AddrFrom4(n.Neighbor.IPAddress.Un.GetIP4())}
					if mac, known := first[at]; known {
						n.Neighbor.MacAddress = mac
					}
					first[at] = n.Neighbor.MacAddress
				})
			},
		},
	}
}

// nicMTU is that of the modelled NICs.
const nicMTU = 1500

// requests changes what agents ask of VPP.
func requests(change func(l *life, m api.Message)) *sim.Plant {
	return &sim.Plant{Agent: agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect {
		effects := l.inner(now, ev)
		for _, e := range effects {
			if c, ok := e.(agent.CallDataplane); ok && c.Call.Request() != nil {
				change(l, c.Call.Request())
			}
		}
		return effects
	})}
}
