package hostmodel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/linkname"
)

// Errors beyond those of vppwire.Linux, after the kernel's EINVAL, ENETDOWN and EOPNOTSUPP.
var (
	ErrInvalid     = errors.New("invalid argument")
	ErrDown        = errors.New("link is down")
	ErrUnsupported = errors.New("operation not supported")
)

// namespace is one network namespace. Its links are in name order; most have one or two, the host's own has hundreds.
type namespace struct {
	path   string
	links  []*link
	locals []local
	routes routes
	lo     *link
}

const loopback = "lo"

// find returns the place of a link's name among links and whether it is there. The loopback is not among them.
func (ns *namespace) find(name string) (int, bool) {
	return slices.BinarySearchFunc(ns.links, name, func(l *link, name string) int { return strings.Compare(l.name, name) })
}

// link finds a link, nil for none. The loopback comes into being, down, with the first question for it.
func (ns *namespace) link(name string) *link {
	if name == loopback {
		if ns.lo == nil {
			ns.lo = &link{ns: ns, name: loopback, kind: kindLoopback, mtu: mtuLoopback}
		}
		return ns.lo
	}
	if i, ok := ns.find(name); ok {
		return ns.links[i]
	}
	return nil
}

// free reports why name cannot be given to a new link, nil if it can.
func (ns *namespace) free(name string) error {
	if !linkname.Valid(name) {
		return ErrInvalid
	}
	if _, taken := ns.find(name); taken || name == loopback {
		return vppwire.ErrLinuxExists
	}
	return nil
}

// insert puts a new link into a namespace.
func (h *Host) insert(ns *namespace, l *link) {
	i, _ := ns.find(l.name)
	ns.links = slices.Insert(ns.links, i, l)
	h.links++
	if ns == h.root {
		delete(h.wentWith, l.name)
	}
	l.ns, l.id = ns, h.links
}

func (ns *namespace) String() string {
	if ns.path == "" {
		return "the host's namespace"
	}
	return "namespace " + ns.path
}

// at finds a namespace and a link in it; its errors are complete.
func (h *Host) at(netns, name string) (*link, error) {
	ns := h.namespace(netns)
	if ns == nil {
		return nil, fmt.Errorf("namespace %s: %w", netns, vppwire.ErrNoNamespace)
	}
	l := ns.link(name)
	if l == nil {
		return nil, fmt.Errorf("link %s in %s: %w", name, ns, vppwire.ErrLinuxMissing)
	}
	return l, nil
}
