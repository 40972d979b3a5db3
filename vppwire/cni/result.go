//go:build linux

package cni

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"

	"github.com/containernetworking/cni/pkg/types"
	current "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/types/create"

	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// previous reads prevResult; nil where there is none.
func (c *Netconf) previous() (*current.Result, *failure) {
	if empty(c.PrevResult) {
		return nil, nil
	}
	bad := func(err error) *failure { return undecodable("prevResult", err) }
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(c.PrevResult, &fields); err != nil {
		return nil, bad(err)
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		var list []json.RawMessage // the library's conversions between versions follow every entry
		if json.Unmarshal(fields[field], &list) == nil && slices.ContainsFunc(list, func(e json.RawMessage) bool { return string(e) == "null" }) {
			return nil, bad(fmt.Errorf("%s has an entry that is null", field))
		}
	}
	// Results of older versions may lack their version, which is then the configuration's.
	if empty(fields["cniVersion"]) {
		fields["cniVersion"], _ = json.Marshal(c.CNIVersion) // a string has a JSON form
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, bad(err)
	}
	told, err := create.CreateFromBytes(text)
	if err != nil {
		return nil, bad(err)
	}
	r, err := current.NewResultFromResult(told)
	if err != nil {
		return nil, bad(err)
	}
	for i, a := range r.IPs {
		if _, ok := prefixOf(a.Address); !ok {
			return nil, bad(fmt.Errorf("address %d of ips is missing", i))
		}
	}
	for i, route := range r.Routes {
		if _, ok := prefixOf(route.Dst); !ok {
			return nil, bad(fmt.Errorf("destination %d of routes is missing", i))
		}
	}
	return r, nil
}

// newResult is what an ADD has made, behind what plugins before it have made. previous may be nil.
func newResult(made *wire.Result, previous *current.Result, dns types.DNS) (*current.Result, *failure) {
	r := &current.Result{}
	if previous != nil {
		*r = *previous
	}
	r.CNIVersion = current.ImplementedSpecVersion
	first := len(r.Interfaces)
	for _, i := range made.Interfaces {
		r.Interfaces = append(r.Interfaces, &current.Interface{Name: i.Name, Mac: i.MAC, Mtu: i.MTU, Sandbox: i.Sandbox})
	}
	for _, a := range made.IPs {
		if !a.Address.IsValid() || a.Interface < 0 || a.Interface >= len(made.Interfaces) {
			return nil, failed(types.ErrInternal, "the agent answered with address %v of interface %d", a.Address, a.Interface)
		}
		r.IPs = append(r.IPs, &current.IPConfig{Interface: current.Int(first + a.Interface), Address: ipNet(a.Address), Gateway: ip(a.Gateway)})
	}
	for _, route := range made.Routes {
		if !route.Dst.IsValid() {
			return nil, failed(types.ErrInternal, "the agent answered with a route to nowhere")
		}
		r.Routes = append(r.Routes, &types.Route{Dst: ipNet(route.Dst), GW: ip(route.GW)})
	}
	switch {
	case !dns.IsEmpty():
		r.DNS = dns
	case made.DNS != nil:
		r.DNS = types.DNS{Nameservers: made.DNS.Nameservers, Domain: made.DNS.Domain, Search: made.DNS.Search, Options: made.DNS.Options}
	}
	return r, nil
}

// encode tells a result in the version that the runtime speaks.
func encode(r *current.Result, version string) ([]byte, *failure) {
	told, err := r.GetAsVersion(version)
	if err != nil {
		return nil, failed(types.ErrIncompatibleCNIVersion, "result: %v", err)
	}
	var b bytes.Buffer
	if err := told.PrintTo(&b); err != nil {
		return nil, failed(types.ErrInternal, "result: %v", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// attachment is what a prevResult says about one interface in one sandbox.
type attachment struct {
	link   *current.Interface
	addrs  []netip.Prefix // at least one, in the result's order
	routes []wire.Route   // those over a gateway of addrs
}

// find picks from a prevResult what an ADD with these parameters made.
func find(r *current.Result, p parameters) (attachment, *failure) {
	var a attachment
	index := indexOf(r, p)
	if index < 0 {
		return a, mismatch("prevResult has no interface %s in %s", p.ifName, p.netns)
	}
	a.link = r.Interfaces[index]
	gateways := map[netip.Addr]bool{}
	for _, c := range r.IPs {
		if c.Interface == nil || *c.Interface != index {
			continue
		}
		prefix, ok := prefixOf(c.Address)
		if !ok {
			return a, failed(types.ErrDecodingFailure, "prevResult: %v is no address", c.Address)
		}
		a.addrs = append(a.addrs, prefix)
		if gw, ok := netip.AddrFromSlice(c.Gateway); ok {
			gateways[gw.Unmap()] = true
		}
	}
	if len(a.addrs) == 0 {
		return a, mismatch("prevResult has no address of %s", p.ifName)
	}
	for _, route := range r.Routes {
		gw, _ := netip.AddrFromSlice(route.GW)
		if dst, ok := prefixOf(route.Dst); ok && gateways[gw.Unmap()] {
			a.routes = append(a.routes, wire.Route{Dst: dst, GW: gw.Unmap()})
		}
	}
	return a, nil
}

// indexOf returns the place of the sandbox's interface in a result; -1 where it is not.
func indexOf(r *current.Result, p parameters) int {
	for i, link := range r.Interfaces {
		if link.Name == p.ifName && link.Sandbox == p.netns {
			return i
		}
	}
	return -1
}

// codeMismatch is the agent's code for something else than was allocated (vppwire/agent, CodeMismatch).
const codeMismatch = 101

// mismatch is of a CHECK that found something else than there should be.
func mismatch(format string, args ...any) *failure {
	return failed(codeMismatch, "%s", fmt.Sprintf(format, args...))
}

func ipNet(p netip.Prefix) net.IPNet {
	return net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// ip is nil for the zero address.
func ip(a netip.Addr) net.IP { return a.AsSlice() }

func prefixOf(n net.IPNet) (netip.Prefix, bool) {
	addr, ok := netip.AddrFromSlice(n.IP)
	ones, bits := n.Mask.Size()
	if !ok || bits == 0 {
		return netip.Prefix{}, false
	}
	if addr.Is4In6() && bits == 32 {
		addr = addr.Unmap()
	}
	p := netip.PrefixFrom(addr, ones)
	return p, p.IsValid()
}
