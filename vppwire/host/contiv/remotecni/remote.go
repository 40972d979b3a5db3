//go:build linux

package remotecni

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/containernetworking/cni/pkg/types"
	current "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/types/create"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	plugin "github.com/vppdrill/vppdrill/vppwire/cni"
	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/cni"
)

// What a request without a network configuration is about: the name in contiv/vpp's conflist, and a version whose results have
// all that a CNIReply has.
const (
	DefaultNetwork = "k8s-pod-network"
	DefaultVersion = "1.0.0"
)

// remote is RemoteCNI in front of the agent's CNI socket.
type remote struct {
	cni.UnimplementedRemoteCNIServer
	socket string
}

// Add implements cni.RemoteCNIServer.
func (r remote) Add(ctx context.Context, req *cni.CNIRequest) (*cni.CNIReply, error) {
	answer, refused := r.perform(ctx, wire.Add, req)
	if refused != nil {
		return nil, failure(refused)
	}
	reply, err := replyOf(answer)
	if err != nil {
		return nil, failure(types.NewError(types.ErrInternal, "result: "+err.Error(), ""))
	}
	return reply, nil
}

// Delete implements cni.RemoteCNIServer.
func (r remote) Delete(ctx context.Context, req *cni.CNIRequest) (*cni.CNIReply, error) {
	if _, refused := r.perform(ctx, wire.Del, req); refused != nil {
		return nil, failure(refused)
	}
	return &cni.CNIReply{}, nil
}

// perform is what the CNI plugin makes of a request; its result as a JSON document, or its error.
func (r remote) perform(ctx context.Context, command string, req *cni.CNIRequest) ([]byte, *types.Error) {
	conf, refused := r.configuration(req)
	if refused != nil {
		return nil, refused
	}
	env := map[string]string{"CNI_COMMAND": command, "CNI_CONTAINERID": req.GetContainerId(), "CNI_NETNS": req.GetNetworkNamespace(),
		"CNI_IFNAME": req.GetInterfaceName(), "CNI_ARGS": req.GetExtraArguments()}
	var out bytes.Buffer
	if plugin.Run(ctx, func(key string) string { return env[key] }, bytes.NewReader(conf), &out) == 0 {
		return out.Bytes(), nil
	}
	refused = &types.Error{}
	if err := json.Unmarshal(out.Bytes(), refused); err != nil {
		refused = types.NewError(types.ErrInternal, fmt.Sprintf("the plugin says %q", out.Bytes()), "")
	}
	return nil, refused
}

// configuration is the request's network configuration with what our plugin needs.
func (r remote) configuration(req *cni.CNIRequest) ([]byte, *types.Error) {
	if len(req.ProtoReflect().GetUnknown()) > 0 {
		return nil, types.NewError(types.ErrUnsupportedField, "the request has fields that this agent does not know", "a newer shim's IPAM plugin, perhaps: leave it out")
	}
	conf := map[string]json.RawMessage{}
	if text := req.GetExtraNwConfig(); text != "" {
		if err := json.Unmarshal([]byte(text), &conf); err != nil || conf == nil {
			return nil, types.NewError(types.ErrDecodingFailure, fmt.Sprintf("extra_nw_config is no JSON object: %v", err), "")
		}
	}
	var ipam struct {
		Type string `json:"type"`
	}
	if given, is := conf["ipam"]; is && json.Unmarshal(given, &ipam) == nil && ipam.Type != "" {
		return nil, types.NewError(types.ErrUnsupportedField, fmt.Sprintf("ipam: the agent runs no IPAM plugin such as %q for its gRPC service", ipam.Type),
			"leave it out, or take the plugin vppdrill in the place of the shim")
	}
	given := func(key, otherwise string) {
		if _, is := conf[key]; !is {
			conf[key], _ = json.Marshal(otherwise) // a string has a JSON form
		}
	}
	given("name", DefaultNetwork)
	given("cniVersion", cmp.Or(req.GetVersion(), DefaultVersion))
	delete(conf, "agentSocket")
	given("agentSocket", r.socket)
	text, err := json.Marshal(conf)
	if err != nil {
		return nil, types.NewError(types.ErrDecodingFailure, "extra_nw_config: "+err.Error(), "")
	}
	return text, nil
}

// replyOf is a CNI result of any version in the shim's words.
func replyOf(answer []byte) (*cni.CNIReply, error) {
	told, err := create.CreateFromBytes(answer)
	if err != nil {
		return nil, err
	}
	result, err := current.NewResultFromResult(told)
	if err != nil {
		return nil, err
	}
	reply := &cni.CNIReply{}
	for _, i := range result.Interfaces {
		reply.Interfaces = append(reply.Interfaces, &cni.CNIReply_Interface{Name: i.Name, Mac: i.Mac, Sandbox: i.Sandbox})
	}
	for _, a := range result.IPs {
		ip := &cni.CNIReply_Interface_IP{Address: a.Address.String()}
		if a.Address.IP.To4() == nil {
			ip.Version = cni.CNIReply_Interface_IP_IPV6
		}
		if a.Gateway != nil {
			ip.Gateway = a.Gateway.String()
		}
		if a.Interface == nil || *a.Interface < 0 || *a.Interface >= len(reply.Interfaces) {
			return nil, fmt.Errorf("address %s is of no interface", ip.Address)
		}
		of := reply.Interfaces[*a.Interface]
		of.IpAddresses = append(of.IpAddresses, ip)
	}
	for _, route := range result.Routes {
		r := &cni.CNIReply_Route{Dst: route.Dst.String()}
		if route.GW != nil {
			r.Gw = route.GW.String()
		}
		reply.Routes = append(reply.Routes, r)
	}
	if d := result.DNS; !d.IsEmpty() {
		reply.Dns = []*cni.CNIReply_DNS{{Domain: d.Domain, Nameservers: d.Nameservers, Search: d.Search, Options: d.Options}}
	}
	return reply, nil
}

// failure is a CNI error as a call's end, with the reply that it stands for.
func failure(e *types.Error) error {
	code := codes.Unknown // as contiv/vpp's agent ends every call that failed
	switch e.Code {
	case types.ErrTryAgainLater, types.ErrPluginNotAvailable:
		code = codes.Unavailable
	case types.ErrInvalidEnvironmentVariables, types.ErrInvalidNetworkConfig, types.ErrDecodingFailure, types.ErrUnsupportedField, types.ErrIncompatibleCNIVersion:
		code = codes.InvalidArgument
	}
	text := e.Msg
	if e.Details != "" {
		text += "; " + e.Details
	}
	s := status.New(code, text)
	if with, err := s.WithDetails(&cni.CNIReply{Result: uint32(e.Code), Error: text}); err == nil {
		s = with
	}
	return s.Err()
}
