package calico

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Block is one block of a pool: which host assigns from it first, and which host has which of its addresses. All of its
// addresses are for pods, the first and the last among them.
type Block struct {
	CIDR netip.Prefix
	// Affinity is the host that assigns from the block first, "" for none.
	Affinity string
	// Hosts are those that have the addresses, by index, "" for a free one.
	Hosts []string
	// Free are the indices of the free addresses, the longest free first.
	Free []int
}

// NewBlock returns a block whose addresses are all free.
func NewBlock(cidr netip.Prefix, affinity string) Block {
	cidr = space.Normal(cidr)
	b := Block{CIDR: cidr, Affinity: affinity, Hosts: make([]string, space.Count(cidr))}
	for i := range b.Hosts {
		b.Free = append(b.Free, i)
	}
	return b
}

// Empty reports whether nobody has an address of the block.
func (b Block) Empty() bool { return len(b.Free) == len(b.Hosts) }

// Of lists what a host has of the block, ascending.
func (b Block) Of(host string) (list []netip.Addr) {
	for i, h := range b.Hosts {
		if h == host {
			list = append(list, b.Addr(i))
		}
	}
	return list
}

// Borrowed is how many addresses of the block others than the host with its affinity have.
func (b Block) Borrowed() (n int) {
	for _, h := range b.Hosts {
		if h != "" && h != b.Affinity {
			n++
		}
	}
	return n
}

// Addr is the address of an index, 0 to len(Hosts)-1.
func (b Block) Addr(i int) netip.Addr {
	a, err := space.Nth(b.CIDR, uint64(i))
	if err != nil {
		panic(fmt.Sprintf("calico: block %s with %d addresses: %v", b.CIDR, len(b.Hosts), err))
	}
	return a
}

// String is one line: whose the block is, and who has which of its addresses by index.
func (b Block) String() string {
	text := "affinity=" + b.Affinity
	for i := 0; i < len(b.Hosts); {
		first := i
		for i++; i < len(b.Hosts) && b.Hosts[i] == b.Hosts[first]; i++ {
		}
		if h := b.Hosts[first]; h != "" && i-first == 1 {
			text += fmt.Sprintf(" %d=%s", first, h)
		} else if h != "" {
			text += fmt.Sprintf(" %d-%d=%s", first, i-1, h)
		}
	}
	return text
}

func (b Block) clone() Block {
	b.Hosts, b.Free = slices.Clone(b.Hosts), slices.Clone(b.Free)
	return b
}

// assign gives host up to n addresses.
func (b Block) assign(host string, n int) Block {
	b = b.clone()
	n = min(n, len(b.Free))
	for _, i := range b.Free[:n] {
		b.Hosts[i] = host
	}
	b.Free = b.Free[n:]
	return b
}

// Release takes addresses from a host and tells how many it had.
func (b Block) Release(host string, addrs ...netip.Addr) (Block, int) {
	b = b.clone()
	n := 0
	for _, a := range addrs {
		if i, ok := space.Index(b.CIDR, a); ok && b.Hosts[i] == host {
			b.Hosts[i] = ""
			b.Free = append(b.Free, int(i))
			n++
		}
	}
	return b, n
}
