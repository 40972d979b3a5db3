package ipam_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/contiv"
)

// contivCorrections: a gateway moves nothing onto the broadcast address or out of the range, and counts only in the
// range; the NAT loopback stays with VPP.
var contivCorrections = map[string]correction{
	"gateway-bump-edges/3": {`{"ip": "192.168.16.255"}`,
		map[string]any{"error": "no free address for nodeID"}},
	"gateway-bump-edges/4": {`{"ip": "192.168.17.0"}`,
		map[string]any{"error": "no free address for nodeID"}},
	"gateway-below-subnet/0": {`{"ip": "192.168.16.2"}`,
		map[string]any{"ip": "192.168.16.1"}},
	"natloopback-handed-out-after-resync/1": {`{"value": "10.1.0.14", "defect": "NAT loopback address handed to a pod; should be 'no IP address is free'"}`,
		map[string]any{"error": "no IP address is free"}},
}

// contivCase is an IPAM with its surroundings played by the setup.
type contivCase struct {
	setup struct {
		Config               contiv.IPAMConfig
		NodeID               uint32
		Agent                string
		KubeStatePods        map[string]string
		K8sNode              struct{ PodCIDR string }
		ContivCIDR           string
		NodeInterconnectCIDR string
		NodeInterconnectDHCP bool
		Taken                map[string]string
	}
	plugin *contiv.IPAM
	ids    nodeIDs
	ready  bool
}

func (c *contivCase) GetNodeID() uint32                   { return c.setup.NodeID }
func (c *contivCase) GetIPAMConfig() contiv.IPAMConfig    { return c.setup.Config }
func (c *contivCase) GetStaticDefaultGW() netip.Addr      { return netip.Addr{} }
func (c *contivCase) GetAgentLabel() string               { return c.setup.Agent }
func (c *contivCase) resync(ev contiv.Event, n int) error { return c.plugin.Resync(ev, c.kube(), n) }

func startContiv(setup json.RawMessage) (executor, error) {
	c := &contivCase{ids: nodeIDs{}}
	c.setup.NodeID, c.setup.Agent = 1, "node1"
	if err := strictly(setup, &c.setup); err != nil {
		return nil, err
	}
	for id, node := range c.setup.Taken {
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, err
		}
		c.ids[uint32(n)] = node
	}
	options := []contiv.Option{contiv.WithDeps(contiv.Deps{NodeSync: c, ContivConf: c, ServiceLabel: c})}
	if _, err := c.setup.Config.Resolve(); err != nil && strings.Contains(err.Error(), "overlaps") {
		options = append(options, contiv.WithOverlap())
	}
	c.plugin = contiv.NewPlugin(options...)
	return c, nil
}

// kube is the cluster's state in the order of pod names.
func (c *contivCase) kube() contiv.KubeState {
	state := contiv.KubeState{Nodes: []contiv.NodeState{{Name: c.setup.Agent, PodCIDR: c.setup.K8sNode.PodCIDR}}}
	for pod, addr := range c.setup.KubeStatePods {
		state.Pods = append(state.Pods, contiv.PodState{ID: podID(pod), IPAddress: addr})
	}
	slices.SortFunc(state.Pods, func(a, b contiv.PodState) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	return state
}

func podID(text string) contiv.PodID {
	namespace, name, ok := strings.Cut(text, "/")
	if !ok {
		namespace, name = "", text
	}
	return contiv.PodID{Namespace: namespace, Name: name}
}

// contivArgs are the arguments of all operations together.
type contivArgs struct {
	NodeID, ResyncCount         uint32
	IP, Pod, IpamType, IpamData string
	PodPrefix, Event, Node      string
	From, N                     int
	ID                          uint32
	SfcName                     string
	UseExternalIPAM, Restart    bool
}

func (c *contivCase) do(op string, raw json.RawMessage) (map[string]any, error) {
	var args contivArgs
	if err := strictly(raw, &args); err != nil {
		return nil, err
	}
	switch op {
	case "DissectContivCIDR":
		return c.dissect()
	case "HandlesEvent":
		c.setup.Config.UseExternalIPAM = args.UseExternalIPAM
		return value(c.plugin.HandlesEvent(contivEvent(args.Event)), nil)
	case "Resync":
		return c.observeResync(args)
	case "AllocateNodeID":
		return value(c.ids.claim(args.Node))
	case "ReleaseNodeID":
		return value(c.ids.release(args.ID), nil)
	}
	// Everything else, Init included, happens on an agent that has done its first resync.
	if !c.ready {
		if err := errors.Join(c.plugin.Init(), c.resync(&contiv.DBResync{}, 1)); err != nil {
			return nil, err
		}
		c.ready = true
	}
	if op == "Init" {
		return nil, nil
	}
	if strings.HasPrefix(op, "Sid") || strings.HasPrefix(op, "Bsid") {
		return c.segment(op, args)
	}
	if result, err := c.pods(op, args); !errors.Is(err, errNoOperation) {
		return result, err
	}
	return c.getter(op, args)
}

func (c *contivCase) pods(op string, args contivArgs) (map[string]any, error) {
	switch op {
	case "AllocatePodIP":
		return value(c.plugin.AllocatePodIP(podID(args.Pod), args.IpamType, args.IpamData))
	case "ReleasePodIP":
		return nil, c.plugin.ReleasePodIP(podID(args.Pod))
	case "GetPodIP":
		if p := c.plugin.GetPodIP(podID(args.Pod)); p.IsValid() {
			return value(p, nil)
		}
		return value[any](nil, nil)
	case "AllocateN", "ReleaseN":
		var list []string
		for i := range args.N {
			id := podID(args.PodPrefix + strconv.Itoa(args.From+i))
			if op == "ReleaseN" {
				if err := c.plugin.ReleasePodIP(id); err != nil {
					return nil, err
				}
				continue
			}
			addr, err := c.plugin.AllocatePodIP(id, "", "")
			if err != nil {
				return nil, err
			}
			list = append(list, addr.String())
		}
		return map[string]any{"list": list}, nil
	}
	return nil, errNoOperation
}

func (c *contivCase) getter(op string, args contivArgs) (map[string]any, error) {
	p := c.plugin
	switch op {
	case "NodeIPAddress":
		return host(p.NodeIPAddress(args.NodeID))
	case "VxlanIPAddress":
		return host(p.VxlanIPAddress(args.NodeID))
	case "HostInterconnectIPInVPP":
		return value(p.HostInterconnectIPInVPP(), nil)
	case "HostInterconnectIPInLinux":
		return value(p.HostInterconnectIPInLinux(), nil)
	case "HostInterconnectSubnetThisNode":
		return value(p.HostInterconnectSubnetThisNode(), nil)
	case "HostInterconnectSubnetAllNodes":
		return value(p.HostInterconnectSubnetAllNodes(), nil)
	case "HostInterconnectSubnetOtherNode":
		return value(p.HostInterconnectSubnetOtherNode(args.NodeID))
	case "PodSubnetAllNodes":
		return value(p.PodSubnetAllNodes(), nil)
	case "PodSubnetThisNode":
		return value(p.PodSubnetThisNode(), nil)
	case "PodSubnetOtherNode":
		return value(p.PodSubnetOtherNode(args.NodeID))
	case "PodGatewayIP":
		return value(p.PodGatewayIP(), nil)
	case "NatLoopbackIP":
		return value(p.NatLoopbackIP(), nil)
	case "NodeIDFromPodIP":
		return value(p.NodeIDFromPodIP(netip.MustParseAddr(args.IP)))
	}
	return nil, errNoOperation
}

func (c *contivCase) segment(op string, args contivArgs) (map[string]any, error) {
	ip, p := netip.Addr{}, c.plugin
	if args.IP != "" {
		ip = netip.MustParseAddr(args.IP)
	}
	switch op {
	case "SidForServiceHostLocalsid":
		return value(p.SidForServiceHostLocalsid())
	case "BsidForServicePolicy":
		return value(p.BsidForServicePolicy([]netip.Addr{ip}))
	case "BsidForSFCPolicy":
		return value(p.BsidForSFCPolicy(args.SfcName))
	case "SidForSFCServiceFunctionLocalsid":
		return value(p.SidForSFCServiceFunctionLocalsid(args.SfcName, ip))
	}
	made, ok := map[string]func(netip.Addr) (netip.Addr, error){
		"SidForServicePodLocalsid":     p.SidForServicePodLocalsid,
		"SidForServiceNodeLocalsid":    p.SidForServiceNodeLocalsid,
		"SidForNodeToNodePodLocalsid":  p.SidForNodeToNodePodLocalsid,
		"SidForNodeToNodeHostLocalsid": p.SidForNodeToNodeHostLocalsid,
		"BsidForNodeToNodePodPolicy":   p.BsidForNodeToNodePodPolicy,
		"BsidForNodeToNodeHostPolicy":  p.BsidForNodeToNodeHostPolicy,
		"SidForSFCEndLocalsid":         p.SidForSFCEndLocalsid,
	}[op]
	if !ok {
		return nil, errNoOperation
	}
	return value(made(ip))
}

func (c *contivCase) dissect() (map[string]any, error) {
	p, err := contiv.DissectContivCIDR(contiv.IPAMConfig{
		ContivCIDR:           c.setup.ContivCIDR,
		NodeInterconnectCIDR: c.setup.NodeInterconnectCIDR,
		NodeInterconnectDHCP: c.setup.NodeInterconnectDHCP,
	})
	if err != nil {
		return nil, err
	}
	parts := map[string]any{
		"podSubnetCIDR":                 p.PodSubnet.String(),
		"podSubnetOneNodePrefixLen":     p.PodSubnetOneNodePrefixLen,
		"vppHostSubnetCIDR":             p.VPPHostSubnet.String(),
		"vppHostSubnetOneNodePrefixLen": p.VPPHostSubnetOneNodeLen,
		"nodeInterconnectCIDR":          nil,
		"vxlanCIDR":                     p.VXLAN.String(),
	}
	if p.NodeInterconnect.IsValid() {
		parts["nodeInterconnectCIDR"] = p.NodeInterconnect.String()
	}
	return map[string]any{"value": parts}, nil
}

// observeResync moves the node to another ID first, so that a resync that reloads shows.
func (c *contivCase) observeResync(args contivArgs) (map[string]any, error) {
	before := c.plugin.PodSubnetThisNode()
	c.setup.NodeID++
	if err := c.resync(contivEvent(args.Event), int(args.ResyncCount)); err != nil {
		return nil, err
	}
	if c.plugin.PodSubnetThisNode() != before {
		return value("state reloaded", nil)
	}
	return value("no-op", nil)
}

func contivEvent(name string) contiv.Event {
	switch name {
	case "HealingResync":
		return &contiv.HealingResync{}
	case "PodCIDRChange":
		return &contiv.PodCIDRChange{}
	case "DBResync", "any resync":
		return &contiv.DBResync{}
	}
	if node, ok := strings.CutPrefix(name, "NodeUpdate "); ok {
		return &contiv.NodeUpdate{NodeName: node}
	}
	return otherUpdate{&contiv.NodeUpdate{}}
}

// otherUpdate is an update that is none of IPAM's.
type otherUpdate struct{ contiv.Event }

// value is the result of an operation with one value; values print as in the vectors.
func value[T any](v T, err error) (map[string]any, error) {
	if text, ok := any(v).(fmt.Stringer); ok {
		return map[string]any{"value": text.String()}, err
	}
	return map[string]any{"value": v}, err
}

func host(ip netip.Addr, net netip.Prefix, err error) (map[string]any, error) {
	return map[string]any{"ip": ip.String(), "net": net.String()}, err
}
