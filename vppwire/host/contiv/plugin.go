package contiv

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/containeridx"
)

// AskTime is how long a lookup waits for the agent, whose longest step is far below.
const AskTime = 5 * time.Second

// Plugin is contiv/vpp's Plugin over one agent. Its methods may be called from any goroutine but the driver's own.
type Plugin struct {
	// Driver drives the agent; Run does nothing before its own.
	*host.Driver

	mu                  sync.Mutex
	preRemoval, postAdd []PodActionHook
	nodeIPs             []chan string

	// What follows is the driver's goroutine's.
	watchers map[string]func(containeridx.ChangeEvent)
	// told is what watchers know, changed the agent's count of it.
	told    containeridx.List
	changed uint64
}

var (
	_ API                 = (*Plugin)(nil)
	_ containeridx.Reader = index{}
)

// NewPlugin returns a driver's Plugin, which does nothing before Run. Hooks and Stepped of cfg are called as well: registered
// hooks come before.
func NewPlugin(cfg host.Config) (*Plugin, error) {
	p := &Plugin{watchers: map[string]func(containeridx.ChangeEvent){}}
	hooks, stepped := cfg.Hooks, cfg.Stepped
	cfg.Hooks = func(ctx context.Context, h agent.Hook) error {
		err := p.runHooks(h)
		if hooks != nil {
			err = errors.Join(err, hooks(ctx, h))
		}
		return err
	}
	cfg.Stepped = func(now time.Time, a *agent.Agent, effects []agent.Effect) {
		if stepped != nil {
			stepped(now, a, effects)
		}
		p.stepped(a, effects)
	}
	var err error
	p.Driver, err = host.New(cfg)
	return p, err
}

// Asked is whoever drives an agent: a Plugin, or a host.Driver.
type Asked interface {
	Ask(ctx context.Context, look func(*agent.Agent)) error
}

// Look is what of reads of the agent between two of its steps; host.ErrStopped where it has stopped, or ctx's error.
func Look[T any](ctx context.Context, p Asked, of func(*agent.Agent) T) (found T, err error) {
	read := make(chan T, 1) // a look that came too late has nobody to disturb
	if err := p.Ask(ctx, func(a *agent.Agent) { read <- of(a) }); err != nil {
		return found, err
	}
	return <-read, nil
}

// look is Look for those who cannot be told of errors.
func look[T any](p *Plugin, of func(*agent.Agent) T) T {
	ctx, cancel := context.WithTimeout(context.Background(), AskTime)
	defer cancel()
	found, _ := Look(ctx, p, of) // the zero value, as API says
	return found
}

func (p *Plugin) node() Node { return look(p, NodeOf) }

func (p *Plugin) containers() containeridx.List { return look(p, ContainersOf) }

// GetIfName implements API.
func (p *Plugin) GetIfName(podNamespace string, podName string) (name string, exists bool) {
	return IfName(p.containers(), podNamespace, podName)
}

// IfName is VPP's name of the interface of a pod's newest sandbox among containers.
func IfName(of containeridx.List, podNamespace, podName string) (name string, exists bool) {
	var newest containeridx.Interface
	for _, c := range of.PodNamespace(podNamespace).PodName(podName) {
		for _, i := range c.Interfaces {
			if i.VppIf != "" && (!exists || newest.Removing && !i.Removing || newest.Removing == i.Removing && i.Since.After(newest.Since)) {
				newest, exists = i, true
			}
		}
	}
	return newest.VppIf, exists
}

// GetNsIndex implements API.
func (p *Plugin) GetNsIndex(string, string) (nsIndex uint32, exists bool) { return 0, false }

// GetPodByIf implements API.
func (p *Plugin) GetPodByIf(ifname string) (podNamespace string, podName string, exists bool) {
	return PodByIf(p.containers(), ifname)
}

// PodByIf is the only pod behind a VPP interface among containers.
func PodByIf(of containeridx.List, ifname string) (podNamespace, podName string, exists bool) {
	behind := of.PodIf(ifname)
	if len(behind) != 1 {
		return "", "", false
	}
	return behind[0].PodNamespace, behind[0].PodName, true
}

// GetPodByAppNsIndex implements API.
func (p *Plugin) GetPodByAppNsIndex(uint32) (podNamespace string, podName string, exists bool) {
	return "", "", false
}

// GetPodSubnet implements API.
func (p *Plugin) GetPodSubnet() *net.IPNet { return ipNet(p.node().PodSubnet) }

// GetPodNetwork implements API.
func (p *Plugin) GetPodNetwork() *net.IPNet { return ipNet(p.node().PodNetwork) }

// GetContainerIndex implements API.
func (p *Plugin) GetContainerIndex() containeridx.Reader { return index{p} }

// IsTCPstackDisabled implements API.
func (p *Plugin) IsTCPstackDisabled() bool { return true }

// InSTNMode implements API.
func (p *Plugin) InSTNMode() bool { return p.node().STNMode }

// NatExternalTraffic implements API.
func (p *Plugin) NatExternalTraffic() bool { return p.node().NatExternalTraffic }

// CleanupIdleNATSessions implements API.
func (p *Plugin) CleanupIdleNATSessions() bool { return p.node().CleanupIdleNATSessions }

// GetTCPNATSessionTimeout implements API.
func (p *Plugin) GetTCPNATSessionTimeout() uint32 { return p.node().TCPNATSessionTimeout }

// GetOtherNATSessionTimeout implements API.
func (p *Plugin) GetOtherNATSessionTimeout() uint32 { return p.node().OtherNATSessionTimeout }

// GetServiceLocalEndpointWeight implements API.
func (p *Plugin) GetServiceLocalEndpointWeight() uint8 { return p.node().ServiceLocalEndpointWeight }

// GetNatLoopbackIP implements API.
func (p *Plugin) GetNatLoopbackIP() net.IP { return p.node().NatLoopback.AsSlice() }

// GetNodeIP implements API.
func (p *Plugin) GetNodeIP() (ip net.IP, network *net.IPNet) {
	a := p.node().NodeIP
	return a.Addr().AsSlice(), ipNet(a)
}

// GetHostIPs implements API.
func (p *Plugin) GetHostIPs() []net.IP {
	var list []net.IP
	for _, a := range p.node().HostIPs {
		list = append(list, a.AsSlice())
	}
	return list
}

// GetMainPhysicalIfName implements API.
func (p *Plugin) GetMainPhysicalIfName() string { return p.node().MainPhysicalIf }

// GetOtherPhysicalIfNames implements API.
func (p *Plugin) GetOtherPhysicalIfNames() []string { return p.node().OtherPhysicalIfs }

// GetHostInterconnectIfName implements API.
func (p *Plugin) GetHostInterconnectIfName() string { return p.node().HostInterconnectIf }

// GetVxlanBVIIfName implements API.
func (p *Plugin) GetVxlanBVIIfName() string { return p.node().VxlanBVIIf }

// GetDefaultInterface implements API.
func (p *Plugin) GetDefaultInterface() (ifName string, ifAddress net.IP) {
	n := p.node()
	return n.DefaultIf, n.DefaultIfAddress.AsSlice()
}

// GetMainVrfID implements API.
func (p *Plugin) GetMainVrfID() uint32 { return p.node().MainVrfID }

// GetPodVrfID implements API.
func (p *Plugin) GetPodVrfID() uint32 { return p.node().PodVrfID }

// ipNet is a range in the seed's type, nil for none.
func ipNet(p netip.Prefix) *net.IPNet {
	if !p.IsValid() {
		return nil
	}
	return &net.IPNet{IP: p.Masked().Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// RegisterPodPreRemovalHook implements API.
func (p *Plugin) RegisterPodPreRemovalHook(hook PodActionHook) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.preRemoval = append(p.preRemoval, hook)
}

// RegisterPodPostAddHook implements API.
func (p *Plugin) RegisterPodPostAddHook(hook PodActionHook) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.postAdd = append(p.postAdd, hook)
}

// runHooks runs all registered hooks, whatever some of them say.
func (p *Plugin) runHooks(h agent.Hook) error {
	p.mu.Lock()
	list := p.postAdd
	if h.Before {
		list = p.preRemoval
	}
	list = slices.Clone(list)
	p.mu.Unlock()
	var failed []error
	for _, hook := range list {
		failed = append(failed, hook(h.Sandbox.PodNamespace, h.Sandbox.PodName))
	}
	return errors.Join(failed...)
}
