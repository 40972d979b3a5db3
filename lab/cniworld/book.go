package cniworld

import (
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// book is what the node's IPAM has given: the container of each address, and its interface.
type book map[netip.Addr]ipam.Owner

// readFiles reads host-local's books: a file for each address.
func (n *node) readFiles(now book) {
	for _, dir := range n.w.o.Chain.dataDirs {
		below, err := filepath.Rel(diskAt, dir)
		if err != nil || strings.HasPrefix(below, "..") {
			continue // somewhere that is not the node's own
		}
		files, _ := filepath.Glob(filepath.Join(n.dir(diskFolder), below, "*", "*")) // the pattern is a good one
		for _, file := range files {
			addr, err := netip.ParseAddr(strings.ReplaceAll(filepath.Base(file), "_", ":"))
			text, bad := os.ReadFile(file)
			if err != nil || bad != nil {
				continue // a lock, the last address, or it goes this moment
			}
			container, ifName, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
			now[addr] = ipam.Owner{Network: timeline.NetworkName, ContainerID: strings.TrimSpace(container), IfName: strings.TrimSpace(ifName)}
		}
	}
}

// readBook reads what is booked now, and tells what has changed since.
func (n *node) readBook() {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := book{}
	n.readFiles(now)
	for _, r := range n.w.server.reservations() {
		if !n.asked[r.owner.ContainerID] || !r.pool {
			continue
		}
		switch slices.IndexFunc(n.w.o.Chain.ranges, func(p netip.Prefix) bool { return p.Contains(r.addr) }) {
		case 0:
			now[r.addr] = r.owner
		case 1:
			now[r.addr] = r.owner.Second()
		}
	}
	before := n.book
	n.book = now
	if !n.warm {
		return
	}
	for _, addr := range sortedAddrs(before) {
		if o := before[addr]; now[addr] != o {
			n.tell(fact.Released{Owner: o, Addr: addr, Block: n.block(addr), Rest: n.w.s.Config.IPAM.ReuseDelay, Left: nil}, "")
		}
	}
	for _, addr := range sortedAddrs(now) {
		if o := now[addr]; before[addr] != o {
			n.tell(fact.Leased{Owner: o, Addr: addr, Block: n.block(addr), Pool: "", Left: nil}, "")
		}
	}
}

// block is the range of the node that has an address, or the address alone. n.mu is held.
func (n *node) block(a netip.Addr) netip.Prefix {
	for _, p := range n.cidrs {
		if p.Contains(a) {
			return p
		}
	}
	return netip.PrefixFrom(a, a.BitLen())
}

// leases are what is booked, in address order.
func (n *node) leases() (list []ipam.Lease) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, addr := range sortedAddrs(n.book) {
		list = append(list, ipam.Lease{Owner: n.book[addr], Addr: addr})
	}
	return list
}

func sortedAddrs(b book) []netip.Addr {
	return slices.SortedFunc(maps.Keys(b), func(a, c netip.Addr) int { return a.Compare(c) })
}
