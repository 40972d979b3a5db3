package cnisocket

import (
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	"github.com/vppdrill/vppdrill/vppwire/linkname"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Keys of CNI_ARGS that kubelets set.
const (
	argNamespace = "K8S_POD_NAMESPACE"
	argName      = "K8S_POD_NAME"
	argUID       = "K8S_POD_UID"
	// argIP is what host-local and static take as well: addresses that the pod asks for, parted by commas, each with or
	// without a length.
	argIP = "IP"
)

// word is what the specification lets networks and containers be called (1.1, sections 1 and 2).
var word = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)

// misnamed says what is wrong with an attachment's names, empty for nothing.
func misnamed(container, ifName string) string {
	if !word.MatchString(container) {
		return fmt.Sprintf("container ID %q: a letter or digit, then letters, digits, '_', '.' and '-'", container)
	}
	if err := linkname.Check(ifName); err != nil {
		return "interface name: " + err.Error()
	}
	return ""
}

// translate makes the agent's event of a request, or a refusal.
func translate(req wire.Request) (func(uint64) agent.Event, *wire.Response) {
	refuse := func(code uint32, format string, args ...any) (func(uint64) agent.Event, *wire.Response) {
		return nil, &wire.Response{Code: code, Message: fmt.Sprintf(format, args...)}
	}
	if req.Command == wire.Status {
		return func(n uint64) agent.Event { return agent.PodStatus{Request: n} }, nil
	}
	if !word.MatchString(req.Network) {
		return refuse(agent.CodeInvalidConfig, "network %q: a name is a letter or digit, then letters, digits, '_', '.' and '-'", req.Network)
	}
	if req.Command == wire.GC {
		valid := make([]ipam.Owner, 0, len(req.Valid))
		for _, a := range req.Valid {
			if why := misnamed(a.ContainerID, a.IfName); why != "" {
				return refuse(agent.CodeInvalidEnv, "%s", why)
			}
			valid = append(valid, ipam.Owner{Network: req.Network, ContainerID: a.ContainerID, IfName: a.IfName})
		}
		return func(n uint64) agent.Event { return agent.PodGC{Request: n, Network: req.Network, Valid: valid} }, nil
	}
	if !slices.Contains(wire.Commands, req.Command) {
		return refuse(agent.CodeInvalidEnv, "command %q: this agent knows %s", req.Command, strings.Join(wire.Commands, ", "))
	}
	if why := misnamed(req.ContainerID, req.IfName); why != "" {
		return refuse(agent.CodeInvalidEnv, "%s", why)
	}
	owner := ipam.Owner{Network: req.Network, ContainerID: req.ContainerID, IfName: req.IfName}
	switch req.Command {
	case wire.Del:
		return func(n uint64) agent.Event { return agent.PodDel{Request: n, Owner: owner} }, nil
	case wire.Check:
		return func(n uint64) agent.Event { return agent.PodCheck{Request: n, Owner: owner, Addr: req.Addr} }, nil
	}
	if !path.IsAbs(req.Netns) || strings.ContainsAny(req.Netns, " \t\n\r") {
		return refuse(agent.CodeInvalidEnv, "network namespace %q: an absolute path without blanks is needed", req.Netns)
	}
	args, err := wire.ParseArgs(req.Args)
	if err != nil {
		return refuse(agent.CodeInvalidEnv, "%v", err)
	}
	wanted, err := wishes(req.Wanted, args[argIP])
	if err != nil {
		return refuse(agent.CodeInvalidEnv, "%v", err)
	}
	memif, known := mode.MemifOf(req.Interface)
	if !known && req.Interface != "" {
		return refuse(agent.CodeInvalidConfig, "the pod asks for interface %q: this agent knows memif and memif-master", req.Interface)
	}
	add := agent.PodAdd{Wanted: wanted, External: req.Addr, ExternalSecond: req.SecondAddr, Sandbox: agent.Sandbox{Owner: owner, Netns: req.Netns,
		PodNamespace: args[argNamespace], PodName: args[argName], PodUID: args[argUID], Memif: memif}}
	return func(n uint64) agent.Event { add.Request = n; return add }, nil
}

// wishes are the addresses that a pod asks for: those of the network configuration and those of CNI_ARGS, one of each
// family at the most.
func wishes(configured []netip.Addr, arg string) (wanted []netip.Addr, err error) {
	list := slices.Clone(configured)
	for text := range strings.SplitSeq(arg, ",") {
		if arg == "" {
			break
		}
		a, err := wire.ParseWanted(text)
		if err != nil {
			return nil, fmt.Errorf("CNI_ARGS: %s: %w", argIP, err)
		}
		list = append(list, a)
	}
	for _, a := range list {
		i := slices.IndexFunc(wanted, func(w netip.Addr) bool { return w.Is4() == a.Is4() })
		switch {
		case i < 0:
			wanted = append(wanted, a)
		case wanted[i] != a:
			return nil, fmt.Errorf("the pod asks for %s and for %s: an interface has one address of a family", wanted[i], a)
		}
	}
	return wanted, nil
}

// respond is the agent's answer in the plugin's words.
func respond(req wire.Request, a agent.Answer) wire.Response {
	if a.Code != agent.CodeOK {
		return wire.Response{Code: a.Code, Message: a.Message}
	}
	if req.Command != wire.Add {
		return wire.Response{}
	}
	r := a.Result
	result := &wire.Result{
		Interfaces: []wire.Interface{{Name: r.IfName, MAC: r.MAC.String(), MTU: int(r.MTU), Sandbox: r.Netns}},
		IPs:        []wire.IP{{Address: r.Addr, Gateway: r.Gateway}},
		Routes:     []wire.Route{{Dst: everything(r.Gateway), GW: r.Gateway}},
	}
	if r.Second.IsValid() {
		result.IPs = append(result.IPs, wire.IP{Address: r.Second, Gateway: r.SecondGateway})
		result.Routes = append(result.Routes, wire.Route{Dst: everything(r.SecondGateway), GW: r.SecondGateway})
	}
	return wire.Response{Result: result}
}

// everything is the default route's destination in a gateway's family.
func everything(gateway netip.Addr) netip.Prefix {
	if gateway.Is6() {
		return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
}
