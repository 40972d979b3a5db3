package systemtest

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Setup is what a story begins with.
type Setup struct {
	System, Mode string
	// Range is what blocks of length Block are cut from.
	Range netip.Prefix
	Block int
	// PreAllocate is how many addresses a node keeps ready.
	PreAllocate int
	// Counted: it is open which blocks a node gets, and a state says how many they are.
	Counted bool
}

// Cluster is a cluster whose nodes get their blocks from one system. A leader of the system's controller leads from the
// start.
type Cluster interface {
	// Join makes a Node object and starts the node's agent; Leave takes both away.
	Join(node string)
	Leave(node string)
	// Restart begins another life of a node's agent, Replace one of the leader.
	Restart(node string)
	Replace()
	// Pods is how many pods of a node want an address from now on.
	Pods(node string, n int)
	// Extend adds a range.
	Extend(r netip.Prefix)
	// State is how each node is that has joined, by name.
	State() map[string]Node
	// Await lets the cluster go on until done, or for so long that it is not to be expected any more.
	Await(done func() bool)
}

// Node is how one node is.
type Node struct {
	// Shown are the blocks that the API server says it has, Held those that its agent has.
	Shown, Held []netip.Prefix
	// Pods is how many pods have an address.
	Pods int
}

func (n Node) String() string {
	return fmt.Sprintf("shows %s, holds %s, %d pods", ascending(n.Shown), ascending(n.Held), n.Pods)
}

// counted is a node's line where it is open which blocks it has.
func (n Node) counted() string {
	if ascending(n.Shown) != ascending(n.Held) {
		return n.String()
	}
	return fmt.Sprintf("shows and holds %d, %d pods", len(n.Held), n.Pods)
}

func ascending(list []netip.Prefix) string {
	list = slices.SortedFunc(slices.Values(list), netip.Prefix.Compare)
	var texts []string
	for _, p := range list {
		texts = append(texts, p.String())
	}
	return "[" + strings.Join(texts, " ") + "]"
}
