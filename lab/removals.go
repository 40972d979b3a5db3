package lab

import (
	"bufio"
	"encoding/json"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// tellAddresses tells by which addresses the node is reached, where they have changed, at a time or now for 0. n.mu is held.
func (n *node) tellAddresses(at time.Duration, own []netip.Addr) {
	var addrs []netip.Addr
	if len(own) > 0 {
		addrs = append(slices.Clone(own), n.management...)
	}
	if slices.Equal(addrs, n.addressed) {
		return
	}
	n.addressed = addrs
	n.w.Record.Tell(fact.Fact{At: at, Node: n.name, What: fact.Addressed{Addrs: addrs}}, "")
}

// tellRemovals tells what every node's agents have taken away since it was told last. Causes of other nodes are heard
// of at another time than these, so it is told when the lab is quiet, with the times at which it happened: by then
// every cause is known.
func (w *World) tellRemovals() {
	for _, n := range w.inOrder() {
		f, err := os.Open(filepath.Join(n.dir, removalsFile))
		if err != nil {
			continue // no agent has run there yet
		}
		n.mu.Lock()
		if _, err = f.Seek(n.removals, io.SeekStart); err == nil {
			n.removals += w.readRemovals(n.name, f)
		}
		n.mu.Unlock()
		_ = f.Close() // it is only read
	}
}

// readRemovals tells what a file says from here on and returns how many bytes that were; a line that is being written
// waits.
func (w *World) readRemovals(node string, f io.Reader) (read int64) {
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return read
		}
		read += int64(len(line))
		var r nodeagent.Removed
		if json.Unmarshal(line, &r) == nil {
			w.Record.Tell(fact.Fact{At: w.at(r.At), Node: node, What: fact.Removed{Removal: &r.Removal, Ago: 0}}, "")
		}
	}
}
