//go:build linux

package cni

import (
	"encoding/json"
	"net/netip"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// ipsCapability is what CNI's conventions call the capability of addresses that a runtime asks for, as Multus does with
// those of a pod's annotation.
const ipsCapability = "ips"

// wanted are the addresses that the pod asks for, of runtimeConfig.ips and of args.cni.ips, in this order. Those of
// CNI_ARGS the agent reads.
func (c *Netconf) wanted() ([]netip.Addr, *failure) {
	var args struct {
		CNI struct {
			IPs json.RawMessage `json:"ips"`
		} `json:"cni"`
	}
	if !empty(c.Args) {
		if err := json.Unmarshal(c.Args, &args); err != nil {
			return nil, undecodable("args", err)
		}
	}
	var out []netip.Addr
	for _, x := range [...]struct {
		field string
		value json.RawMessage
	}{{"runtimeConfig.ips", c.RuntimeConfig[ipsCapability]}, {"args.cni.ips", args.CNI.IPs}} {
		if empty(x.value) {
			continue
		}
		var texts []string
		if err := json.Unmarshal(x.value, &texts); err != nil {
			return nil, undecodable(x.field, err)
		}
		for _, text := range texts {
			a, err := wire.ParseWanted(text)
			if err != nil {
				return nil, failed(types.ErrInvalidNetworkConfig, "network configuration: %s: %v", x.field, err)
			}
			out = append(out, a)
		}
	}
	return out, nil
}
