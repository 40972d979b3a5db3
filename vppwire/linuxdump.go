package vppwire

import (
	"errors"
	"strings"
)

// DevicePrefix begins the name of every Linux device that we create for a pod; HostVPPDevice and HostLinuxDevice are
// the two ends of the VPP-host interconnect, HostLinuxDevice being the one that Linux uses (upstream's names).
// TrunkVPPDevice and TrunkLinuxDevice are the ends of the pair that many pods share, TrunkLinuxDevice being the parent
// of their macvlans.
const (
	DevicePrefix     = "vd"
	HostVPPDevice    = "vpp2"
	HostLinuxDevice  = "vpp1"
	TrunkVPPDevice   = "vpptrunk"
	TrunkLinuxDevice = "vpppods"
)

// ownDevice reports whether a link of the host's namespace is ours by its name.
func ownDevice(name string) bool {
	switch name {
	case HostVPPDevice, HostLinuxDevice, TrunkVPPDevice, TrunkLinuxDevice:
		return true
	}
	return strings.HasPrefix(name, DevicePrefix)
}

// ownLink reports whether a link is ours: a pod's namespace is all ours.
func ownLink(netns, name string) bool { return netns != "" || ownDevice(name) }

// linuxDump shows one namespace of Linux; the empty name is the host's own, which is always looked at.
var linuxDump = &dump{whole: true, reader: linuxReader{}}

type linuxReader struct{}

func (linuxReader) void(*Session, dumpStep) bool { return false }

func (linuxReader) gone(err error) bool { return errors.Is(err, ErrNoNamespace) }

func (linuxReader) ask(_ *Session, st dumpStep, r *request) {
	r.name, r.netns, r.linux = "linux_dump", st.name, true
}

func (linuxReader) take(s *Session, st dumpStep, res Result) {
	var links []onLink
	var whole []onNetns
	for k := range kinds {
		if r, ok := kinds[k].object.(onLink); ok {
			links = append(links, r)
		}
		if r, ok := kinds[k].object.(onNetns); ok {
			whole = append(whole, r)
		}
	}
	state := &res.shown.linux
	for i := range state.Links {
		for _, r := range links {
			r.readLink(s, st.name, &state.Links[i])
		}
	}
	for _, r := range whole {
		r.readNetns(s, st.name, state)
	}
}

// needNetns makes sure that a namespace is dumped once before it is touched.
func (s *Session) needNetns(path string) {
	if !s.netns[path] {
		s.netns[path] = true
		s.dump.push(dumpStep{dump: linuxDump, name: path})
	}
}

// countNetns keeps inNetns.
func (s *Session) countNetns(e item, by int) {
	if !e.kind.inLinux() {
		return
	}
	if netns := e.id().num; netns != 0 {
		if s.inNetns[netns] += by; s.inNetns[netns] == 0 {
			delete(s.inNetns, netns)
		}
	}
}
