package cniworld

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	current "github.com/containernetworking/cni/pkg/types/100"
	"github.com/vishvananda/netlink"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// goneMost is how many sandboxes that are gone are remembered by name.
const goneMost = 500

// remains finds what sandboxes leave on their node.
type remains struct {
	// own is what was there when no pod was there any more that had been, undisturbed: it belongs to the node.
	own map[string]bool
	// links are the node's ends of sandboxes' links, as their answers named them.
	links map[ipam.Owner][]string
	addrs map[ipam.Owner][]netip.Addr
	// gone are sandboxes that are gone, oldest first; count all that ever were.
	gone  []ipam.Owner
	count int
	// asked are containers and pods for which an ADD was ever sent here: what the cluster's API server has of them is the node's.
	asked map[string]bool
}

func (r *remains) init() {
	r.own, r.links, r.addrs, r.asked = map[string]bool{}, map[ipam.Owner][]string{}, map[ipam.Owner][]netip.Addr{}, map[string]bool{}
}

// adding: a sandbox is the runtime's again, whatever became of one of its name.
func (n *node) adding(o ipam.Owner) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone = slices.DeleteFunc(n.gone, func(x ipam.Owner) bool { return x == o })
}

// answered keeps what an answer names that is outside of the sandbox.
func (n *node) answered(s *sandbox, res *current.Result) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, i := range res.Interfaces {
		if i.Sandbox == "" && !n.own["link "+i.Name] {
			n.links[s.owner] = append(n.links[s.owner], i.Name)
		}
	}
	for _, a := range s.addrs {
		n.addrs[s.owner] = append(n.addrs[s.owner], a.Addr())
	}
}

// forgotten: a sandbox is gone, and nothing of it should be there.
func (n *node) forgotten(o ipam.Owner) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.count++
	if n.gone = append(n.gone, o); len(n.gone) > goneMost {
		delete(n.links, n.gone[0])
		delete(n.addrs, n.gone[0])
		n.gone = n.gone[1:]
	}
}

// trace is something on a node. Kind says what it is without a name; body is what is in a file.
type trace struct{ kind, text, body string }

// left is what sandboxes have left that are gone. Where others live, only what names a gone one is told from theirs.
func (n *node) left(ctx context.Context) (count int, list []fact.Remain, err error) {
	traces, err := n.traces(ctx)
	if err != nil {
		return 0, nil, err
	}
	live := n.kubelet.known()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range traces {
		if n.own[t.text] {
			continue
		}
		if len(live) == 0 && !n.changed || n.names(t, live) {
			list = append(list, fact.Remain{Kind: t.kind, What: t.text})
		}
	}
	return n.count, list, nil
}

// names reports whether a trace is of a sandbox that is gone: it has its ID, the link that its answer named, or its
// address while no other has it. n.mu is held.
func (n *node) names(t trace, live []sandbox) bool {
	for _, o := range n.gone {
		if strings.Contains(t.text, o.ContainerID) || strings.Contains(t.body, o.ContainerID) {
			return true
		}
		for _, l := range n.links[o] {
			if word(t.text, l) {
				return true
			}
		}
		for _, a := range n.addrs[o] {
			if word(t.text, a.String()) && !slices.ContainsFunc(live, func(s sandbox) bool { return s.addr(0) == a || s.addr(1) == a }) {
				return true
			}
		}
	}
	return false
}

// word reports whether a text has something that is no part of a longer name or number.
func word(text, what string) bool {
	for rest := text; ; {
		i := strings.Index(rest, what)
		if i < 0 {
			return false
		}
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = rest[i-1]
		}
		if end := i + len(what); end < len(rest) {
			after = rest[end]
		}
		if !named(before) && !named(after) {
			return true
		}
		rest = rest[i+1:]
	}
}

func named(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '.' || b == ':'
}

// traces are everything that a pod of a node could leave: files, links, addresses, routes, rules, objects of the cluster.
func (n *node) traces(ctx context.Context) (list []trace, err error) {
	n.mu.Lock()
	on, space := n.on, n.space
	asked := maps.Clone(n.asked)
	n.mu.Unlock()
	if list, err = n.files(); err != nil || !on {
		return list, err
	}
	for _, r := range n.w.server.reservations() {
		if asked[r.owner.ContainerID] || asked[r.pod] {
			list = append(list, trace{kind: r.kind, text: r.text(), body: r.owner.ContainerID})
		}
	}
	links, err := space.LinkList()
	if err != nil {
		return nil, err
	}
	names := map[int]string{}
	for _, l := range links {
		names[l.Attrs().Index] = l.Attrs().Name
		list = append(list, trace{kind: "link of type " + l.Type(), text: "link " + l.Attrs().Name})
		addrs, err := space.AddrList(l, netlink.FAMILY_ALL)
		if err != nil {
			continue // it goes this moment
		}
		for _, a := range addrs {
			if !a.IP.IsLinkLocalUnicast() {
				list = append(list, trace{kind: "address", text: fmt.Sprintf("address %s on %s", a.IPNet, l.Attrs().Name)})
			}
		}
	}
	for _, family := range [...]int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		routes, err := space.RouteListFiltered(family, &netlink.Route{}, 0)
		if err != nil {
			return nil, err
		}
		for _, r := range routes {
			text := fmt.Sprintf("route %s of table %d", r.Dst, r.Table)
			if r.LinkIndex != 0 {
				text += " by " + names[r.LinkIndex]
			}
			list = append(list, trace{kind: "route", text: text})
		}
		rules, err := space.RuleList(family)
		if err != nil {
			continue // a kernel without them
		}
		for _, r := range rules {
			list = append(list, trace{kind: "routing rule", text: "routing rule " + r.String()})
		}
	}
	return append(list, n.filters(ctx)...), nil
}

// files are those on the disk and below /run.
func (n *node) files() (list []trace, err error) {
	for _, of := range [...]struct{ folder, at string }{{diskFolder, diskAt}, {runFolder, "/run"}} {
		err = filepath.WalkDir(n.dir(of.folder), func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // it goes this moment
			}
			below, _ := filepath.Rel(n.dir(of.folder), file) // it is below
			switch {
			case below == "netns":
				return fs.SkipDir
			case d.IsDir() || below == "filler" || below == "xtables.lock":
				return nil
			}
			body, _ := os.ReadFile(file) // sockets have none
			at := filepath.Join(of.at, below)
			list = append(list, trace{kind: "file in " + filepath.Dir(at), text: "file " + at, body: string(body)})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// hash ends chains' names that plugins make of containers' IDs.
var hash = regexp.MustCompile(`[0-9a-f]{16,}`)

// filters are iptables' chains and rules; none where the machine has no iptables, which plugins use as well.
func (n *node) filters(ctx context.Context) (list []trace) {
	for _, tool := range [...]string{"iptables-save", "ip6tables-save"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			continue
		}
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, path)
		cmd.Stdout = &out
		if err := spawn.Inside(n.netns(), cmd.Run); err != nil {
			continue // a kernel without tables
		}
		table := ""
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSpace(line)
			switch {
			case strings.HasPrefix(line, "*"):
				table = line[1:]
			case strings.HasPrefix(line, ":"):
				name, _, _ := strings.Cut(line[1:], " ")
				list = append(list, trace{kind: "iptables chain of " + table, text: "iptables chain " + name + " of " + table})
			case strings.HasPrefix(line, "-A "):
				chain, _, _ := strings.Cut(line[3:], " ")
				list = append(list, trace{kind: "iptables rule of " + table + " " + hash.ReplaceAllString(chain, "*"), text: "iptables rule of " + table + ": " + line})
			}
		}
	}
	return list
}

// ipNet is a prefix as netlink wants it.
func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
