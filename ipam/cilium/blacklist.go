package cilium

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// IPNetWithOwner is a range that must not be allocated, and on whose behalf.
type IPNetWithOwner struct {
	net   netip.Prefix
	owner string
}

// IPBlacklist is the addresses and ranges that must not be allocated. A lookup costs one probe for each distinct prefix
// length, however many ranges there are. The zero IPBlacklist is empty.
type IPBlacklist struct {
	ips  map[netip.Addr]string
	nets map[netip.Prefix]string
	// lengths of each family's ranges, longest first.
	lengths [2][]int
}

// add notes a range; the last owner of the same range wins.
func (b *IPBlacklist) add(n IPNetWithOwner) {
	if b.nets == nil {
		b.nets = make(map[netip.Prefix]string)
	}
	b.nets[n.net] = n.owner
	lengths := &b.lengths[DeriveFamily(n.net.Addr()).at()]
	at, found := slices.BinarySearchFunc(*lengths, n.net.Bits(), func(have, want int) int { return want - have })
	if !found {
		*lengths = slices.Insert(*lengths, at, n.net.Bits())
	}
}

func (b *IPBlacklist) addIP(ip netip.Addr, owner string) {
	if b.ips == nil {
		b.ips = make(map[netip.Addr]string)
	}
	b.ips[ip] = owner
}

// Contains reports whether ip must not be allocated, and the owner of the narrowest entry that says so.
func (b *IPBlacklist) Contains(ip netip.Addr) (owner string, ok bool) {
	ip = space.NormalAddr(ip)
	if owner, ok = b.ips[ip]; ok || !ip.IsValid() {
		return owner, ok
	}
	for _, bits := range b.lengths[DeriveFamily(ip).at()] {
		if owner, ok = b.nets[netip.PrefixFrom(ip, bits).Masked()]; ok {
			return owner, true
		}
	}
	return "", false
}

// BlacklistIP keeps ip from being allocated from now on. An allocated ip stays allocated. The last owner wins.
func (ipam *IPAM) BlacklistIP(ip netip.Addr, owner string) {
	ip = space.NormalAddr(ip)
	if !ip.IsValid() {
		return
	}
	defer ipam.lock()()
	ipam.blacklist.addIP(ip, owner)
	ipam.exclude(netip.PrefixFrom(ip, ip.BitLen()))
}

// BlacklistIPNet keeps every address of ipNet from being allocated from now on, as BlacklistIP does.
func (ipam *IPAM) BlacklistIPNet(ipNet netip.Prefix, owner string) {
	defer ipam.lock()()
	ipam.blacklistNet(ipNet, owner)
}

func (ipam *IPAM) blacklistNet(ipNet netip.Prefix, owner string) {
	ipNet = space.Normal(ipNet)
	if !ipNet.IsValid() {
		return
	}
	ipam.blacklist.add(IPNetWithOwner{net: ipNet, owner: owner})
	ipam.exclude(ipNet)
}

// BlacklistContains reports whether ip must not be allocated, and on whose behalf.
func (ipam *IPAM) BlacklistContains(ip netip.Addr) (owner string, ok bool) {
	defer ipam.lock()()
	return ipam.blacklist.Contains(ip)
}

// exclude tells the allocator of p's family what not to pick.
func (ipam *IPAM) exclude(p netip.Prefix) {
	if x, ok := ipam.allocator(DeriveFamily(p.Addr())).(excluder); ok {
		x.Exclude(p)
	}
}
