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
	// Foreign blocks are for something else than hosts: they give none addresses, and nobody here changes them.
	Foreign bool
	// Hosts are those that have the addresses, by index, "" for a free one.
	Hosts []string
	// Uses are what for, by index; a Block without any knows of none.
	Uses []Use
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

// Use is what the address of an index is for.
func (b Block) Use(i int) Use {
	if i >= len(b.Uses) {
		return Use{}
	}
	return b.Uses[i]
}

// WithUse is the block with another use of an address.
func (b Block) WithUse(i int, u Use) Block {
	if b = b.clone(); len(b.Uses) == 0 {
		b.Uses = make([]Use, len(b.Hosts))
	}
	b.Uses[i] = u
	return b
}

// Counts is how many addresses of the block are by each handle.
func (b Block) Counts() map[string]int {
	counts := make(map[string]int)
	for i := range b.Hosts {
		if h := b.Use(i).Handle; h != "" && b.Hosts[i] != "" {
			counts[h]++
		}
	}
	return counts
}

// String is one line: whose the block is, and who has which of its addresses by index.
func (b Block) String() string {
	text := "affinity=" + b.Affinity
	for i := 0; i < len(b.Hosts); {
		first := i
		for i++; i < len(b.Hosts) && b.Hosts[i] == b.Hosts[first] && b.Use(i) == b.Use(first); i++ {
		}
		h := b.Hosts[first]
		if u := b.Use(first); h != "" && u.Handle != "" {
			h += "(" + u.Handle + ")"
		}
		if h != "" && i-first == 1 {
			text += fmt.Sprintf(" %d=%s", first, h)
		} else if h != "" {
			text += fmt.Sprintf(" %d-%d=%s", first, i-1, h)
		}
	}
	return text
}

func (b Block) clone() Block {
	b.Hosts, b.Uses, b.Free = slices.Clone(b.Hosts), slices.Clone(b.Uses), slices.Clone(b.Free)
	return b
}

// assign gives host an address for each use, as far as there are any.
func (b Block) assign(host string, uses []Use) Block {
	b = b.clone()
	for k, i := range slices.Clone(b.Free[:min(len(uses), len(b.Free))]) {
		b.give(i, host, uses[k])
	}
	return b
}

// assignOne gives host the address of an index, which is free.
func (b Block) assignOne(i int, host string, u Use) Block {
	b = b.clone()
	b.give(i, host, u)
	return b
}

// give gives host the address of an index, which is free, of a Block that is the caller's own.
func (b *Block) give(i int, host string, u Use) {
	b.Hosts[i] = host
	b.Free = slices.DeleteFunc(b.Free, func(n int) bool { return n == i })
	if u != b.Use(i) {
		*b = b.WithUse(i, u)
	}
}

// Release takes addresses from a host and tells how many it had.
func (b Block) Release(host string, addrs ...netip.Addr) (Block, int) {
	b = b.clone()
	n := 0
	for _, a := range addrs {
		if i, ok := space.Index(b.CIDR, a); ok && b.Hosts[i] == host {
			b.free(int(i))
			n++
		}
	}
	return b, n
}

// free takes an address back, of a Block that is the caller's own.
func (b *Block) free(i int) {
	b.Hosts[i] = ""
	if len(b.Uses) > 0 {
		b.Uses[i] = Use{}
	}
	b.Free = append(b.Free, i)
}
