package ipam_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

func (c *ciliumCase) doStore(op string, args ciliumArgs) (map[string]any, error) {
	switch op {
	case "Allocate":
		_, err := c.store.Allocator(cilium.IPv4).Allocate(netip.MustParseAddr(args.IP), args.Owner)
		return nil, err
	case "OperatorSetReleaseIP":
		if c.node.Status.IPAM.ReleaseIPs == nil {
			c.node.Status.IPAM.ReleaseIPs = make(map[netip.Addr]cilium.HandshakeState)
		}
		c.node.Status.IPAM.ReleaseIPs[netip.MustParseAddr(args.IP)] = cilium.HandshakeState(args.State)
		return nil, c.store.Update(c.node)
	case "AgentUpdateLocalNode":
		// The test means what the agent answers now; earlier answers stand in the resource.
		answers := c.store.Answers()
		c.now = c.now.Add(time.Minute)
		if n, ok := c.store.Publish(c.now); ok {
			c.node = n
		}
		return map[string]any{"releaseIPs": answers}, c.store.Update(c.node)
	}
	return nil, errNoOperation
}

func (c *ciliumCase) doENI(op string, _ ciliumArgs) (map[string]any, error) {
	if op != "ValidateENIConfig" {
		return nil, errNoOperation
	}
	var pool map[netip.Addr]string
	if err := json.Unmarshal(c.setup.Pool, &pool); err != nil {
		return nil, err
	}
	n := &cilium.CiliumNode{}
	n.Spec.IPAM.Pool = make(cilium.AllocationMap)
	for ip, eni := range pool {
		n.Spec.IPAM.Pool[ip] = cilium.AllocationIP{Resource: eni}
	}
	n.Status.ENI.ENIs = make(map[string]cilium.ENI)
	for id, e := range c.setup.Enis {
		eni := cilium.ENI{ID: id, Addresses: e.Addresses, VPC: cilium.ENIVPC{ID: e.VpcID, CIDRs: e.VpcCIDRs}}
		if e.VpcPrimaryCIDR != "" {
			eni.VPC.PrimaryCIDR = netip.MustParsePrefix(e.VpcPrimaryCIDR)
		}
		n.Status.ENI.ENIs[id] = eni
	}
	return nil, cilium.ValidateENIConfig(n)
}

func (c *ciliumCase) doNumbers(op string, args ciliumArgs, n ciliumNumbers) (map[string]any, error) {
	switch op {
	case "CalculateNeededIPs":
		return value(cilium.CalculateNeededIPs(n.count(), n.watermarks()), nil)
	case "CalculateExcessIPs":
		return value(cilium.CalculateExcessIPs(n.count(), n.watermarks()), nil)
	case "ApplyRelease":
		// No more than the excess can be released.
		c.setup.Available -= min(args.N, cilium.CalculateExcessIPs(n.count(), n.watermarks()))
		return map[string]any{"available": c.setup.Available}, nil
	}
	return nil, errNoOperation
}

func doPlain(op string, args ciliumArgs) (map[string]any, error) {
	switch op {
	case "DeriveFamily":
		return value(cilium.DeriveFamily(netip.MustParseAddr(args.IP)), nil)
	case "NeededIPCeil":
		return value(cilium.NeededIPCeil(args.NumIP, args.PreAlloc), nil)
	case "AddOffset":
		return value(cilium.AddOffset(netip.MustParseAddr(args.Base), args.Offset))
	case "AddrOffset":
		return value(cilium.AddrOffset(netip.MustParseAddr(args.Base), netip.MustParseAddr(args.Addr)))
	case "ErrorIs":
		return value(errors.Is(namedError(args.A), namedError(args.B)), nil)
	}
	return nil, errNoOperation
}

// namedError is NotAvailable(ip), or an error with just that text.
func namedError(text string) error {
	if ip, ok := strings.CutPrefix(text, "NotAvailable("); ok {
		return cilium.NewIPNotAvailableInPoolError(netip.MustParseAddr(strings.TrimSuffix(ip, ")")))
	}
	return errors.New(strings.Trim(strings.TrimPrefix(text, "plain text "), "'"))
}
