package agent

import (
	"fmt"
	"math"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire/mode"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// serviceFact files what is told of services. Nobody listens where others serve them.
func (a *Agent) serviceFact(ev Event) {
	t := a.services
	if t == nil {
		return
	}
	switch e := ev.(type) {
	case ServiceSeen:
		t.Seen(e.Service)
	case ServiceGone:
		t.Gone(e.Name)
	case EndpointsSeen:
		t.SliceSeen(e.Slice)
	case EndpointsGone:
		t.SliceGone(e.Name)
	case ServicesListed:
		t.Listed(e.Names)
		a.todo |= todoPermit
	case EndpointsListed:
		t.SlicesListed(e.Names)
		a.todo |= todoPermit
	default:
		panic(fmt.Sprintf("agent: %T is no fact about services", ev))
	}
	a.todo |= todoServices
}

// servicesKnown reports whether all services have been told, where that matters.
func (a *Agent) servicesKnown() bool { return a.services == nil || a.services.Known() }

// wireServices wants of VPP what services want now. Before all of them are known nothing is: a service of which half
// the endpoints have been told would lose the sessions of the others.
func (a *Agent) wireServices() {
	if a.services == nil || !a.services.Known() || a.node.ID == 0 {
		return
	}
	n := &a.node
	a.services.Settle(service.Place{
		Node: a.cfg.NodeName, Zone: a.zone, Address: n.Address.Addr(), Hosts: append([]netip.Addr(nil), n.HostAddrs...),
		Pods: append([]netip.Prefix(nil), n.PodSubnets...), MainTable: a.wiring.MainTable, PodTable: a.wiring.PodTable,
		Overlay: a.wiring.Overlay(), LocalWeight: a.cfg.ServiceLocalEndpointWeight,
	})
	for _, c := range a.services.Changes() {
		if a.policies != nil {
			if a.served[c.Name] = c.Objects; len(c.Objects) == 0 {
				delete(a.served, c.Name)
			}
			a.todo |= todoPolicies
		}
		if a.cfg.Services == ServicesVPP {
			a.wire.Set(groupServices+c.Name.String(), c.Objects)
		}
	}
	if now := a.services.Healths(); a.cfg.Services == ServicesVPP && !slices.Equal(a.healths, now) {
		a.healths = now
		a.emit(HealthChecks{slices.Clone(now)})
	}
	if a.cfg.Services == ServicesVPP {
		a.wire.Set(groupOuter, a.wiring.OuterAddresses(a.node, a.services.OuterAddresses()))
	}
}

// nat is what the configuration chooses of NAT.
func (cfg *Config) nat() mode.NAT {
	n := mode.NAT{On: true, External: cfg.NatExternalTraffic}
	if own := cfg.GetNodeConfig(cfg.NodeName); own != nil {
		n.External = n.External || own.NatExternalTraffic
	}
	n.TCPIdle, n.OtherIdle = math.MaxUint32, math.MaxUint32 // seconds: never
	if cfg.CleanupIdleNATSessions {
		n.TCPIdle, n.OtherIdle = 60*cfg.TCPNATSessionTimeout, 60*cfg.OtherNATSessionTimeout
	}
	return n
}

// natMinutesMax is the longest idle time of a session, in minutes: a week.
const natMinutesMax = 7 * 24 * 60

// checkServices refuses what is of no use without services in VPP, and what they cannot do.
func (cfg *Config) checkServices(refuse func(string, ...any)) {
	switch cfg.Services {
	case ServicesVPP:
		cfg.checkNAT(refuse)
		return
	case ServicesKubeProxy:
	default:
		refuse("Services %q: want kube-proxy or vpp", cfg.Services)
		return
	}
	const why = "VPP translates nothing unless it serves services, set Services to vpp or"
	if cfg.NatExternalTraffic {
		refuse("NatExternalTraffic: %s this to false", why)
	}
	for i := range cfg.NodeConfig {
		if cfg.NodeConfig[i].NatExternalTraffic {
			refuse("NodeConfig %s: natExternalTraffic: %s this to false", cfg.NodeConfig[i].NodeName, why)
		}
	}
	if cfg.CleanupIdleNATSessions {
		refuse("CleanupIdleNATSessions: %s this to false", why)
	}
	cfg.eachNATTimeout(func(field string, minutes, ignored uint32) {
		if minutes != ignored {
			refuse("%s %d: %s remove it", field, minutes, why)
		}
	})
	if cfg.ServiceLocalEndpointWeight != DefaultServiceLocalEndpointWeight {
		refuse("ServiceLocalEndpointWeight %d: kube-proxy does not weigh endpoints, set Services to vpp or remove it", cfg.ServiceLocalEndpointWeight)
	}
}

func (cfg *Config) eachNATTimeout(check func(field string, minutes, ignored uint32)) {
	check("TCPNATSessionTimeout", cfg.TCPNATSessionTimeout, DefaultTCPNATSessionTimeout)
	check("OtherNATSessionTimeout", cfg.OtherNATSessionTimeout, DefaultOtherNATSessionTimeout)
}

func (cfg *Config) checkNAT(refuse func(string, ...any)) {
	if cfg.HostInterconnect == HostInterconnectNone {
		refuse("Services vpp: without HostInterconnect VPP has no address for clients that are their own endpoints, set it to veth or tap")
	}
	cfg.eachNATTimeout(func(field string, minutes, ignored uint32) {
		switch {
		case minutes > natMinutesMax:
			refuse("%s %d: more than a week, give at most %d minutes", field, minutes, natMinutesMax)
		case !cfg.CleanupIdleNATSessions && minutes != ignored:
			refuse("%s %d: sessions never end for being idle unless CleanupIdleNATSessions is true, set that or remove it", field, minutes)
		}
	})
}
