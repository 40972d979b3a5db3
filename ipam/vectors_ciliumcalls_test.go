package ipam_test

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

func (c *ciliumCase) doIPAM(op string, args ciliumArgs) (map[string]any, error) {
	switch op {
	case "AllocateIP":
		return nil, c.ipam.AllocateIP(netip.MustParseAddr(args.IP), args.Owner)
	case "AllocateIPString":
		return nil, c.ipam.AllocateIPString(args.IP, args.Owner)
	case "IPv4Allocator.Allocate":
		r, err := c.ipam.IPv4Allocator.Allocate(netip.MustParseAddr(args.IP), args.Owner)
		if err != nil {
			return nil, err
		}
		return map[string]any{"ip": r.IP.String()}, nil
	case "AllocateNextFamily":
		_, err := c.ipam.AllocateNextFamily(cilium.Family(args.Family), args.Owner)
		return nil, err
	case "AllocateNext":
		v4, v6, err := c.ipam.AllocateNext(args.Family, args.Owner)
		return c.pair(v4, v6), err
	case "AllocateNextN":
		var list []string
		for range args.N {
			r, err := c.ipam.AllocateNextFamily(cilium.Family(args.Family), "o")
			if err != nil {
				return nil, err
			}
			list = append(list, r.IP.String())
		}
		return map[string]any{"list": list}, nil
	case "BlacklistIP":
		c.ipam.BlacklistIP(netip.MustParseAddr(args.IP), args.Owner)
		return nil, nil
	case "BlacklistIPNet":
		c.ipam.BlacklistIPNet(netip.MustParsePrefix(args.Net), args.Owner)
		return nil, nil
	case "BlacklistContains":
		_, ok := c.ipam.BlacklistContains(netip.MustParseAddr(args.IP))
		return value(ok, nil)
	case "ReserveLocalRoutes":
		_, err := c.ipam.ReserveLocalRoutes()
		return nil, err
	case "Dump":
		v4, v6, status := c.ipam.Dump()
		return map[string]any{"status": status, "keysParseAsIP": allAddrs(v4) && allAddrs(v6)}, nil
	}
	return nil, errNoOperation
}

func allAddrs(allocated map[string]string) bool {
	for text := range allocated {
		if _, err := netip.ParseAddr(text); err != nil {
			return false
		}
	}
	return true
}

// pair reports an allocation of both families and what is in use after it.
func (c *ciliumCase) pair(v4, v6 *cilium.AllocationResult) map[string]any {
	used4, used6, _ := c.ipam.Dump()
	have := map[string]any{"ipv4": nil, "ipv6": nil, "allocatedAfter": len(used4), "ipv6InUseAfter": len(used6)}
	uuids := make(map[string]bool)
	for name, r := range map[string]*cilium.AllocationResult{"ipv4": v4, "ipv6": v6} {
		if r == nil {
			continue
		}
		have[name] = "set"
		for _, p := range [...]string{c.setup.IPv4, c.setup.IPv6} {
			if p != "" && netip.MustParsePrefix(p).Contains(r.IP) {
				have[name+"In"] = p
			}
		}
		key := string(rune('a'+c.pairs)) + name[3:]
		c.saved[key], c.saved["u"+key] = r.IP.String(), r.ExpirationUUID
		if r.ExpirationUUID != "" {
			uuids[r.ExpirationUUID] = true
		}
	}
	have["uuids"] = len(uuids)
	c.pairs++
	return have
}

func (c *ciliumCase) doRelease(op string, args ciliumArgs) (map[string]any, error) {
	switch op {
	case "ReleaseIP":
		return nil, c.ipam.ReleaseIP(netip.MustParseAddr(args.IP))
	case "ReleaseIPString":
		return nil, c.ipam.ReleaseIPString(args.Arg)
	case "IPv4Allocator.Release":
		return nil, c.ipam.IPv4Allocator.Release(netip.MustParseAddr(args.IP))
	case "IPv6Allocator.Release":
		return nil, c.ipam.IPv6Allocator.Release(netip.MustParseAddr(args.IP))
	}
	return nil, errNoOperation
}

func (c *ciliumCase) doTimer(op string, args ciliumArgs) (map[string]any, error) {
	timeout := vectorSeconds(cmp.Or(args.TimeoutMs, c.setup.TimeoutMs) / 1000)
	switch op {
	case "StartExpirationTimer":
		uuid, err := c.ipam.StartExpirationTimer(netip.MustParseAddr(args.IP), timeout)
		if uuid == "" {
			return map[string]any{"uuid": ""}, err
		}
		c.timers++
		c.saved[fmt.Sprintf("u%d", c.timers)] = uuid
		return map[string]any{"uuid": "nonempty"}, err
	case "StopExpirationTimer":
		return nil, c.ipam.StopExpirationTimer(netip.MustParseAddr(args.IP), args.UUID)
	case "AllocateNextWithExpiration":
		v4, v6, err := c.ipam.AllocateNextWithExpiration(args.Family, args.Owner, timeout)
		return c.pair(v4, v6), err
	case "Sleep":
		c.now = c.now.Add(vectorSeconds(args.Ms / 1000))
		c.ipam.Advance(c.now)
		return nil, nil
	}
	return nil, errNoOperation
}

func (c *ciliumCase) doRange(op string, args ciliumArgs) (map[string]any, error) {
	switch op {
	case "NewCIDRRange":
		return map[string]any{"base": c.cidr.Base().String(), "max": c.cidr.Max()}, nil
	case "RangeSize":
		return value(cilium.RangeSize(netip.MustParsePrefix(c.setup.CIDR)), nil)
	case "Free":
		return value(c.cidr.Free(), nil)
	case "Has":
		return value(c.cidr.Has(netip.MustParseAddr(args.IP)), nil)
	case "Allocate":
		return nil, c.cidr.Allocate(netip.MustParseAddr(args.IP))
	case "AllocateNext":
		return value(c.cidr.AllocateNext())
	case "AllocateNextN":
		var list []netip.Addr
		for range args.N {
			ip, err := c.cidr.AllocateNext()
			if err != nil {
				return nil, err
			}
			list = append(list, ip)
		}
		return edges(list), nil
	case "ForEach":
		var list []netip.Addr
		c.cidr.ForEach(func(ip netip.Addr) { list = append(list, ip) })
		return edges(list), nil
	}
	return nil, errNoOperation
}

// edges reports addresses, their number, and the lowest and the highest.
func edges(list []netip.Addr) map[string]any {
	slices.SortFunc(list, netip.Addr.Compare)
	var names []string
	for _, ip := range list {
		names = append(names, ip.String())
	}
	return map[string]any{"list": names, "count": len(names), "includes": []string{names[0], names[len(names)-1]}}
}

func (c *ciliumCase) doPool(op string, args ciliumArgs) (map[string]any, error) {
	var err error
	switch op {
	case "UpdatePool":
		err = c.pool.UpdatePool(args.CIDRs)
	case "ReleaseExcessCIDRs":
		c.pool.ReleaseExcessCIDRs(args.NeededIPs)
	case "Allocate":
		err = c.pool.Allocate(netip.MustParseAddr(args.IP))
	case "Capacity", "InUseCIDRs":
	default:
		return nil, errNoOperation
	}
	return map[string]any{
		"released": c.pool.ReleasedCIDRs(), "capacity": c.pool.Capacity(), "value": c.pool.Capacity(), "count": len(c.pool.InUseCIDRs()),
	}, err
}
