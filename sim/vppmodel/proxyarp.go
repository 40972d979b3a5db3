package vppmodel

import (
	"maps"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/arp"
)

// proxyRange names its table by place, as VPP does: when that table goes, the range belongs to the next one at its
// place.
type proxyRange struct {
	place     uint32
	low, high addr
}

// proxyARPAddDel: adding twice is fine, deleting what is missing is -6. Bounds are compared, not checked.
func (v *VPP) proxyARPAddDel(m *arp.ProxyArpAddDel) int32 {
	t := v.tables[v4][m.Proxy.TableID]
	if t == nil {
		return noSuchFIB
	}
	r := proxyRange{t.at, addrOfIP4(m.Proxy.Low), addrOfIP4(m.Proxy.Hi)}
	at := slices.Index(v.proxies, r)
	switch {
	case m.IsAdd && at < 0:
		v.proxies = append(v.proxies, r)
	case m.IsAdd:
	case at < 0:
		return noSuchEntry
	default:
		v.proxies = slices.Delete(v.proxies, at, at+1)
	}
	return ok
}

// proxyARPEnable remembers by index and forgets nothing when the interface goes: VPP then believes that the next owner
// of the index has proxy ARP on (src/vnet/arp/arp_proxy.c).
func (v *VPP) proxyARPEnable(m *arp.ProxyArpIntfcEnableDisable) int32 {
	if v.at(uint32(m.SwIfIndex)) == nil {
		return invalidIndex
	}
	if m.Enable {
		v.proxied[uint32(m.SwIfIndex)] = true
	} else {
		delete(v.proxied, uint32(m.SwIfIndex))
	}
	return ok
}

// proxyARPDump names a table that is gone by the ID that it had.
func (v *VPP) proxyARPDump(*arp.ProxyArpDump) []api.Message {
	var out []api.Message
	for _, r := range v.proxies {
		low, hi := r.low.bytes(v4), r.high.bytes(v4)
		out = append(out, &arp.ProxyArpDetails{Proxy: arp.ProxyArp{TableID: v.placed[r.place], Low: [4]byte(low[:4]), Hi: [4]byte(hi[:4])}})
	}
	return out
}

func (v *VPP) proxyARPInterfaceDump(*arp.ProxyArpIntfcDump) []api.Message {
	var out []api.Message
	for _, at := range slices.Sorted(maps.Keys(v.proxied)) {
		out = append(out, &arp.ProxyArpIntfcDetails{SwIfIndex: at})
	}
	return out
}
