package lab

import (
	"bufio"
	"encoding/json"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// tellAddresses tells by which addresses the node is reached, where they have changed. n.mu is held.
func (n *node) tellAddresses(s *state) {
	var addrs []netip.Addr
	if s.ID != 0 && s.Address.IsValid() {
		addrs = append(addrs, s.Address.Addr())
		for _, a := range [...]netip.Addr{s.VXLAN, s.HostVPP, s.HostLinux} {
			if a.IsValid() {
				addrs = append(addrs, a)
			}
		}
		if f := s.Second; f != nil {
			for _, a := range [...]netip.Addr{f.Address.Addr(), f.VXLAN, f.HostVPP, f.HostLinux} {
				if a.IsValid() {
					addrs = append(addrs, a)
				}
			}
		}
		addrs = append(addrs, n.management...)
	}
	if slices.Equal(addrs, n.addressed) {
		return
	}
	n.addressed = addrs
	n.w.Record.Tell(fact.Fact{Node: n.name, What: fact.Addressed{Addrs: addrs}}, "")
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
