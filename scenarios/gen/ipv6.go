package gen

import (
	"net/netip"
	"reflect"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
)

// ip4Bits is how much of an IPv6 address lies before the IPv4 one that it is made of.
const ip4Bits = 128 - 32

// moreOverIP6 is what a tunnel takes more over IPv6, in bytes.
const moreOverIP6 = 20

// drawIP6 has some clusters be of IPv6: every range and address becomes the one of fd00::/96 with the same bits behind, so that what is
// drawn before means the same. What is not wired with IPv6 stays with IPv4. It reports whether it is of IPv6.
func (d drawer) drawIP6(s *scenarios.Scenario) bool {
	c := &s.Config
	if !d.coin("ipv6", 6) || c.HasDHCP() || !c.IPAM.Traits().IPv6 || c.Wiring.Services == scenarios.ServedByVPP {
		return false
	}
	i := &c.IPAM
	spell(i)
	overIP6(s)
	toIP6(reflect.ValueOf(i).Elem())
	toIP6(reflect.ValueOf(&c.Nodes).Elem())
	toIP6(reflect.ValueOf(&s.Timeline).Elem())
	return true
}

// spell writes an address plan's ranges out, those too that are what they are without a word.
func spell(i *scenarios.IPAM) {
	plan, err := i.Plan()
	if err != nil {
		panic("gen: drew an address plan that is none: " + err.Error())
	}
	i.PodSubnetCIDR, i.PodSubnetOneNodePrefixLen = scenarios.CIDR(plan.PodSubnet), plan.PodSubnetOneNodePrefixLen
	i.VPPHostSubnetCIDR, i.VPPHostSubnetOneNodePrefixLen = scenarios.CIDR(plan.VPPHostSubnet), plan.VPPHostSubnetOneNodeLen
	i.NodeInterconnectCIDR, i.VXLANCIDR, i.ServiceCIDR = scenarios.CIDR(plan.NodeInterconnect), scenarios.CIDR(plan.VXLAN), scenarios.CIDR(plan.Service)
}

// overIP6 makes room for IPv6 around what tunnels carry.
func overIP6(s *scenarios.Scenario) {
	if w := &s.Config.Wiring; w.Node == scenarios.NodeVXLAN {
		w.MTU = min(w.MTU, s.Topology.NICMTU-50-moreOverIP6)
	}
}

// toIP6 changes every address, prefix and prefix length below v.
func toIP6(v reflect.Value) {
	switch x := v.Interface().(type) {
	case netip.Addr:
		v.Set(reflect.ValueOf(addrOf6(x)))
		return
	case netip.Prefix:
		v.Set(reflect.ValueOf(prefixOf6(x)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for k := range v.NumField() {
			f := v.Field(k)
			if strings.HasSuffix(v.Type().Field(k).Name, "PrefixLen") && f.Int() != 0 {
				f.SetInt(f.Int() + ip4Bits)
			} else if f.CanSet() {
				toIP6(f)
			}
		}
	case reflect.Slice:
		for k := range v.Len() {
			toIP6(v.Index(k))
		}
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		held := reflect.New(v.Elem().Type()).Elem()
		held.Set(v.Elem())
		toIP6(held)
		v.Set(held)
	}
}

// addrOf6 is fd00:: with an IPv4 address at its end; the zero Addr stays.
func addrOf6(a netip.Addr) netip.Addr {
	if !a.Is4() {
		return a
	}
	b := a.As4()
	return netip.AddrFrom16([16]byte{0: 0xfd, 12: b[0], 13: b[1], 14: b[2], 15: b[3]})
}
