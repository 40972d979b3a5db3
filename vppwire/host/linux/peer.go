package linux

import (
	"strings"

	"github.com/vishvananda/netlink"
)

// aliasMax is the kernel's IFALIASZ less its zero byte.
const aliasMax = 255

// noteWord begins the alias of a veth whose far end is in another namespace.
const noteWord = "peer "

// peerNote is "peer eth0 in /run/netns/cni-1".
func peerNote(name, netns string) string { return noteWord + name + " in " + netns }

func parseNote(alias string) (name, netns string, ok bool) {
	rest, ok := strings.CutPrefix(alias, noteWord)
	if !ok {
		return "", "", false
	}
	name, netns, ok = strings.Cut(rest, " in ")
	return name, netns, ok
}

// peer is a veth's far end. One in another namespace is only known where the note says so and the path still leads to
// the namespace that the kernel says; otherwise the far end is unknown, both names empty.
func (p *place) peer(a *netlink.LinkAttrs, names map[int]string) (name, path string) {
	if a.NetNsID < 0 {
		return names[a.ParentIndex], p.path
	}
	name, path, ok := parseNote(a.Alias)
	if !ok {
		return "", ""
	}
	there, err := openNamespace(path)
	if err != nil {
		return "", ""
	}
	defer func() { _ = there.Close() }() // nothing was written to it
	if id, err := p.GetNetNsIdByFd(int(there)); err != nil || id != a.NetNsID {
		return "", ""
	}
	return name, path
}

// parent is the name of the link that a macvlan sits on, where that is in the host's own namespace; otherwise empty.
func (h *Host) parent(p *place, a *netlink.LinkAttrs) string {
	if !p.own {
		if id, err := p.GetNetNsIdByFd(int(h.own)); err != nil || id != a.NetNsID {
			return ""
		}
	} else if a.NetNsID >= 0 {
		return ""
	}
	l, err := h.base.LinkByIndex(a.ParentIndex)
	if err != nil {
		return ""
	}
	return l.Attrs().Name
}
