package ipam_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/ipam/contiv"
)

// The vectors are recorded and derived expectations about the four systems, one file for all of them. Each system has an
// executor that performs operations on this module's implementation; the runner compares results with expectations.
//
// Where a vector documents upstream's misbehaviour, the executor's corrections say what is right instead.

const vectorsDefault = "../../shared/spec/ipam-vectors.json" // relative to this folder

// vector is one case of the file.
type vector struct {
	System, Case, Note string
	Setup              json.RawMessage
	Operations         []operation
}

type operation struct {
	Op     string
	Args   json.RawMessage
	Expect map[string]any
}

// executor performs the operations of one case.
type executor interface {
	// do returns the result under the keys of expectations: value, ip, net, list, … A single value is under "value".
	do(op string, args json.RawMessage) (map[string]any, error)
}

// system is how a system takes part.
type system struct {
	// start builds what a case needs from its setup.
	start func(setup json.RawMessage) (executor, error)
	// corrections replace expectations: "case/operation number" (from 0) to what is right.
	corrections map[string]map[string]any
}

// systems is where a system registers; one without an entry is skipped by name.
var systems = map[string]system{
	"contiv": {start: startContiv, corrections: contivCorrections},
	"k8s":    {start: startK8s, corrections: k8sCorrections},
	"cilium": {start: startCilium, corrections: ciliumCorrections},
	"aws":    {start: startAWS, corrections: awsCorrections},
}

func TestVectors(t *testing.T) {
	path := os.Getenv("VPPDRILL_IPAM_VECTORS")
	if path == "" {
		path = vectorsDefault
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no vectors at %s (VPPDRILL_IPAM_VECTORS)", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		t.Run(v.System+"/"+v.Case, func(t *testing.T) {
			s, ok := systems[v.System]
			if !ok {
				t.Skipf("no executor for system %s", v.System)
			}
			run(t, s, v)
		})
	}
	for name, s := range systems {
		for at := range s.corrections {
			if !hasOperation(vectors, name, at) {
				t.Errorf("system %s corrects %s, which the vectors do not have", name, at)
			}
		}
	}
}

func hasOperation(vectors []vector, system, at string) bool {
	return slices.ContainsFunc(vectors, func(v vector) bool {
		for i := range v.Operations {
			if v.System == system && fmt.Sprintf("%s/%d", v.Case, i) == at {
				return true
			}
		}
		return false
	})
}

func run(t *testing.T, s system, v vector) {
	ex, err := s.start(v.Setup)
	if err != nil {
		t.Fatalf("setup %s: %v", v.Setup, err)
	}
	saved := make(map[string][]string)
	for i, o := range v.Operations {
		want := o.Expect
		if right, ok := s.corrections[fmt.Sprintf("%s/%d", v.Case, i)]; ok {
			want = right
		}
		have, err := ex.do(o.Op, o.Args)
		if errors.Is(err, errNoOperation) {
			t.Fatalf("operation %s: %v", o.Op, err)
		}
		for key, value := range want {
			if complaint := judge(key, value, have, err, saved); complaint != "" {
				t.Errorf("operation %d %s %s: %s", i, o.Op, o.Args, complaint)
			}
		}
		if _, wantsError := want["error"]; err != nil && !wantsError {
			t.Errorf("operation %d %s %s: %v", i, o.Op, o.Args, err)
		}
	}
}

// errNoOperation is returned by executors for operations that they do not know.
var errNoOperation = errors.New("not known to the executor")

// judge says what is wrong with a result under one key of an expectation, "" for nothing.
func judge(key string, want any, have map[string]any, err error, saved map[string][]string) string {
	list := texts(have["list"])
	single := fmt.Sprint(have["value"])
	if list == nil && have["value"] != nil {
		list = []string{single}
	}
	switch key {
	case "ok":
		return differs(err == nil, want)
	case "error":
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(want)) {
			return fmt.Sprintf("error %v does not contain %q", err, want)
		}
	case "within":
		p := netip.MustParsePrefix(fmt.Sprint(want))
		for _, a := range list {
			if addr, err := netip.ParseAddr(a); err != nil || !p.Contains(addr) {
				return fmt.Sprintf("%s is not within %s", a, p)
			}
		}
		if len(list) == 0 {
			return "there is no address"
		}
	case "distinct":
		return differs(float64(len(slices.Compact(slices.Sorted(slices.Values(list))))), want)
	case "first", "last":
		if len(list) == 0 {
			return "the list is empty"
		}
		if key == "first" {
			return differs(list[0], want)
		}
		return differs(list[len(list)-1], want)
	case "list":
		return differs(list, texts(want))
	case "oneOf":
		if !slices.Contains(texts(want), single) {
			return fmt.Sprintf("%s is not one of %v", single, want)
		}
	case "not":
		if fmt.Sprint(have["ip"]) == fmt.Sprint(want) || single == fmt.Sprint(want) {
			return fmt.Sprintf("have exactly what must not be: %v", want)
		}
	case "saveAs":
		saved[fmt.Sprint(want)] = list
	case "memberOf":
		if members := slice(fmt.Sprint(want), saved); !slices.Contains(members, single) {
			return fmt.Sprintf("%s is not in %s = %v", single, want, members)
		}
	default:
		return differs(have[key], want)
	}
	return ""
}

// slice reads "name", "name[a:b]" or "name[a:]" of the saved lists; a leading $ does not matter.
func slice(reference string, saved map[string][]string) []string {
	name, bounds, cut := strings.Cut(strings.TrimPrefix(reference, "$"), "[")
	list := saved[name]
	if !cut {
		return list
	}
	from, to, _ := strings.Cut(strings.TrimSuffix(bounds, "]"), ":")
	low, high := 0, len(list)
	if n, err := strconv.Atoi(from); err == nil {
		low = n
	}
	if n, err := strconv.Atoi(to); err == nil {
		high = n
	}
	return list[min(low, len(list)):min(high, len(list))]
}

func texts(v any) []string {
	switch v := v.(type) {
	case []string:
		return v
	case []any:
		list := make([]string, len(v))
		for i, x := range v {
			list[i] = fmt.Sprint(x)
		}
		return list
	}
	return nil
}

// differs compares a result with what JSON says; numbers are float64 there.
func differs(have, want any) string {
	var plain any
	if text, err := json.Marshal(have); err != nil || json.Unmarshal(text, &plain) != nil {
		return fmt.Sprintf("result %v does not go into JSON", have)
	}
	var wish any
	if text, err := json.Marshal(want); err != nil || json.Unmarshal(text, &wish) != nil {
		return fmt.Sprintf("expectation %v does not go into JSON", want)
	}
	if !reflect.DeepEqual(plain, wish) {
		return fmt.Sprintf("have %v, want %v", plain, wish)
	}
	return ""
}

// contivCorrections: a gateway moves nothing onto the broadcast address or out of the range, and counts only in the range;
// the NAT loopback stays with VPP.
var contivCorrections = map[string]map[string]any{
	"gateway-bump-edges/3":                  {"error": "no free address for nodeID"},
	"gateway-bump-edges/4":                  {"error": "no free address for nodeID"},
	"gateway-below-subnet/0":                {"ip": "192.168.16.1"},
	"natloopback-handed-out-after-resync/1": {"error": "no IP address is free"},
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
	ids    *contiv.NodeIDs
	ready  bool
}

func (c *contivCase) GetNodeID() uint32                   { return c.setup.NodeID }
func (c *contivCase) GetIPAMConfig() contiv.IPAMConfig    { return c.setup.Config }
func (c *contivCase) GetStaticDefaultGW() netip.Addr      { return netip.Addr{} }
func (c *contivCase) GetAgentLabel() string               { return c.setup.Agent }
func (c *contivCase) resync(ev contiv.Event, n int) error { return c.plugin.Resync(ev, c.kube(), n) }

func startContiv(setup json.RawMessage) (executor, error) {
	c := &contivCase{ids: contiv.NewNodeIDs()}
	c.setup.NodeID, c.setup.Agent = 1, "node1"
	if err := json.Unmarshal(setup, &c.setup); err != nil {
		return nil, err
	}
	for id, node := range c.setup.Taken {
		n, err := strconv.ParseUint(id, 10, 32)
		if err == nil {
			err = c.ids.Claim(node, uint32(n))
		}
		if err != nil {
			return nil, err
		}
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
	if err := json.Unmarshal(raw, &args); err != nil {
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
		return value(c.ids.AllocateNodeID(args.Node))
	case "ReleaseNodeID":
		return value(c.ids.ReleaseNodeID(args.ID), nil)
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
