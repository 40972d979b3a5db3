package clustertest

import (
	"iter"
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Linux is one machine's namespaces by path; the empty path is the host's own. It needs no Freeze.
type Linux struct {
	Spaces map[string]*vppwire.LinuxState
}

var _ fact.Linux = (*Linux)(nil)

func (l *Linux) space(netns string) *vppwire.LinuxState {
	if s := l.Spaces[netns]; s != nil {
		return s
	}
	return &nowhere
}

var nowhere vppwire.LinuxState

// Link implements fact.Linux.
func (l *Linux) Link(netns, name string) (vppwire.LinuxLink, bool) {
	s := l.space(netns)
	for i := range s.Links {
		if s.Links[i].Name == name {
			return s.Links[i], true
		}
	}
	return vppwire.LinuxLink{}, false
}

// Links implements fact.Linux.
func (l *Linux) Links(netns string) iter.Seq[vppwire.LinuxLink] {
	return slices.Values(l.space(netns).Links)
}

// Route implements fact.Linux.
func (l *Linux) Route(netns string, dst netip.Addr) (vppwire.HostRoute, bool) {
	s := l.space(netns)
	best, bits := vppwire.HostRoute{}, -1
	for i := range s.Links {
		for _, a := range s.Links[i].Addrs {
			if a.Contains(dst) && a.Bits() > bits {
				best, bits = vppwire.HostRoute{Netns: netns, Dst: a.Masked(), Link: s.Links[i].Name}, a.Bits()
			}
		}
	}
	for _, r := range s.Routes {
		if r.Dst.Contains(dst) && r.Dst.Bits() > bits {
			best, bits = r, r.Dst.Bits()
		}
	}
	return best, bits >= 0
}

// Routes yields a namespace's own routes; connected ones are not among them.
func (l *Linux) Routes(netns string) iter.Seq[vppwire.HostRoute] {
	return slices.Values(l.space(netns).Routes)
}

// Neighbor implements fact.Linux.
func (l *Linux) Neighbor(netns, link string, addr netip.Addr) (vppwire.MAC, bool) {
	for _, n := range l.space(netns).Neighbors {
		if n.Link == link && n.Addr == addr {
			return n.MAC, true
		}
	}
	return vppwire.MAC{}, false
}

// Local implements fact.Linux.
func (l *Linux) Local(netns string, addr netip.Addr) (string, bool) {
	s := l.space(netns)
	for i := range s.Links {
		for _, a := range s.Links[i].Addrs {
			if a.Addr() == addr {
				return s.Links[i].Name, true
			}
		}
	}
	return "", false
}

// Namespaces implements fact.Linux.
func (l *Linux) Namespaces() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range slices.Sorted(maps.Keys(l.Spaces)) {
			if name != "" && !yield(name) {
				return
			}
		}
	}
}

// MemifFolders implements fact.Linux.
func (l *Linux) MemifFolders() []string { return l.space("").MemifFolders }
