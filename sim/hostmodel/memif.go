package hostmodel

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire"
)

// memifFolder is a folder below /run with one memif socket in it, at most. Everything there is ours.
type memifFolder struct {
	// listening: VPP listens at the socket.
	listening bool
	// settings are what the file beside it tells the pod's program.
	settings string
	// netns and link are where the program that has joined is: see MemifJoin.
	netns, link string
}

func (h *Host) memifFolderAdd(op vppwire.MemifFolderAdd) error {
	f := h.memifFolders[op.Path]
	f.settings = op.Settings
	h.memifFolders[op.Path] = f
	return nil
}

// memifFolderDel takes the socket from under the program, which ends.
func (h *Host) memifFolderDel(op vppwire.MemifFolderDel) {
	if l := h.program(h.memifFolders[op.Path]); l != nil {
		h.unlink(l)
	}
	delete(h.memifFolders, op.Path)
}

// MemifListen has VPP listen at a socket in its folder.
func (h *Host) MemifListen(file string) error {
	f, exists := h.memifFolders[path.Dir(file)]
	if !exists || f.listening {
		return errors.New("cannot listen at " + file)
	}
	f.listening = true
	h.memifFolders[path.Dir(file)] = f
	return nil
}

// MemifClose ends it. A folder that is gone is nothing to do.
func (h *Host) MemifClose(file string) {
	if f, exists := h.memifFolders[path.Dir(file)]; exists {
		f.listening = false
		h.memifFolders[path.Dir(file)] = f
	}
}

// MemifPeer reports whether a program takes part at the other end, slave or master as its settings have it: it connects again by itself
// whenever VPP has been away.
func (h *Host) MemifPeer(file string, _ uint32, _ bool) bool {
	return h.program(h.memifFolders[path.Dir(file)]) != nil
}

// MemifEnd is the program at the other end as MemifJoin shows it, empty for none.
func (h *Host) MemifEnd(file string) (link, netns string) {
	if l := h.program(h.memifFolders[path.Dir(file)]); l != nil {
		return l.name, l.ns.path
	}
	return "", ""
}

// program is the link that stands for a folder's program, nil for none.
func (h *Host) program(f memifFolder) *link {
	ns := h.namespaces[f.netns]
	if ns == nil {
		return nil
	}
	if i, ok := ns.find(f.link); ok && ns.links[i].kind == kindProgram {
		return ns.links[i]
	}
	return nil
}

// MemifJoin starts a pod's program at the socket in a folder. It brings a network stack of its own, with the addresses and the gateway
// that the folder's settings name: views show that stack as a link of the pod's namespace, as no other program there has the name, and
// Dump does not, as Linux knows nothing of it. A program that is there already stays. The error says what of the settings is wrong.
func (h *Host) MemifJoin(netns, ifName, folder string) error {
	f, exists := h.memifFolders[folder]
	ns := h.namespaces[netns]
	switch {
	case !exists:
		return fmt.Errorf("memif folder %s: %w", folder, vppwire.ErrLinuxMissing)
	case ns == nil:
		return fmt.Errorf("namespace %s: %w", netns, vppwire.ErrNoNamespace)
	case h.program(f) != nil:
		return nil
	}
	if err := ns.free(ifName); err != nil {
		return fmt.Errorf("program %s in %s: %w", ifName, ns, err)
	}
	f.netns, f.link = netns, ifName
	h.memifFolders[folder] = f
	l := &link{name: ifName, kind: kindProgram, mtu: mtuDefault}
	h.insert(ns, l)
	if err := h.linkSet(vppwire.LinkSet{Netns: netns, Name: ifName, Up: true}); err != nil {
		return err
	}
	return h.configure(l, f.settings)
}

func parseMAC(text string) (vppwire.MAC, error) {
	hw, err := net.ParseMAC(text)
	if err == nil && len(hw) != len(vppwire.MAC{}) {
		err = fmt.Errorf("%s is no MAC of Ethernet", text)
	}
	if err != nil {
		return vppwire.MAC{}, err
	}
	return vppwire.MAC(hw), nil
}

// configure gives a program what its settings say, a line each: see vppwire.MemifSettings.
func (h *Host) configure(l *link, settings string) error {
	netns := l.ns.path
	var gatewayMAC vppwire.MAC
	for line := range strings.Lines(settings) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		var err error
		switch name {
		case "mac":
			l.mac, err = parseMAC(value)
		case "gateway-mac":
			gatewayMAC, err = parseMAC(value)
		case "mtu":
			var mtu uint64
			mtu, err = strconv.ParseUint(value, 10, 32)
			l.mtu = uint32(mtu)
		case "address":
			var a netip.Prefix
			if a, err = netip.ParsePrefix(value); err == nil {
				err = h.addrAdd(vppwire.AddrAdd{Netns: netns, Link: l.name, Addr: a})
			}
		case "gateway":
			var a netip.Addr
			if a, err = netip.ParseAddr(value); err != nil {
				break
			}
			err = errors.Join(h.routeSet(vppwire.HostRoute{Netns: netns, Dst: netip.PrefixFrom(a, a.BitLen()), Link: l.name}),
				h.routeSet(vppwire.HostRoute{Netns: netns, Dst: netip.PrefixFrom(a, 0).Masked(), Via: a, Link: l.name}),
				h.neighSet(vppwire.NeighSet{Netns: netns, Link: l.name, Addr: a, MAC: gatewayMAC}))
		}
		if err != nil {
			return fmt.Errorf("setting %q of a memif: %w", strings.TrimSpace(line), err)
		}
	}
	return nil
}
