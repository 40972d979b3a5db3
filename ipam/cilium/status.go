package cilium

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// Dump lists the allocated addresses of both families with their owners ("" for one that nobody named), and says in one
// line how full the allocators are.
func (ipam *IPAM) Dump() (allocv4, allocv6 map[string]string, status string) {
	defer ipam.lock()()
	var lines []string
	var dumps [2]map[string]string
	for _, f := range [...]Family{IPv4, IPv6} {
		a := ipam.allocator(f)
		if a == nil {
			continue
		}
		allocated, line := a.Dump()
		//vppdrill:unordered every element is set by itself
		for text := range allocated {
			if ip, err := netip.ParseAddr(text); err == nil {
				allocated[text] = ipam.owner[ip]
			}
		}
		dumps[f.at()] = allocated
		lines = append(lines, f.label()+": "+line)
	}
	if len(lines) == 0 {
		lines = []string{"Not running"}
	}
	return dumps[0], dumps[1], strings.Join(lines, ", ")
}

// DebugStatus is the owners, expiration timers and blacklist, one entry a line in ascending order.
func (ipam *IPAM) DebugStatus() string {
	defer ipam.lock()()
	var b strings.Builder
	b.WriteString("owners\n")
	for _, ip := range ipam.sortedOwners() {
		fmt.Fprintf(&b, "  %s %s\n", ip, ipam.owner[ip])
	}
	b.WriteString("expiration timers\n")
	for _, ip := range slices.SortedFunc(maps.Keys(ipam.expirations), netip.Addr.Compare) {
		fmt.Fprintf(&b, "  %s %s\n", ip, ipam.expirations[ip].uuid)
	}
	b.WriteString("blacklist\n")
	for _, ip := range slices.SortedFunc(maps.Keys(ipam.blacklist.ips), netip.Addr.Compare) {
		fmt.Fprintf(&b, "  %s %s\n", ip, ipam.blacklist.ips[ip])
	}
	for _, net := range slices.SortedFunc(maps.Keys(ipam.blacklist.nets), netip.Prefix.Compare) {
		fmt.Fprintf(&b, "  %s %s\n", net, ipam.blacklist.nets[net])
	}
	return b.String()
}
