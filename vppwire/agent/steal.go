package agent

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// stealPatience is how long the host may be without a VPP that hands it its packets before it gets its NIC back: longer
// than a VPP takes to start again and an agent to wire it, and shorter than most who speak with the host wait for it (the watchdog of contiv/vpp 2.0 took 3 s at the most).
const stealPatience = 5 * time.Second

// steal is the NIC that VPP has of the host's. What the host had on it is in the journal before anything of it is
// changed: whatever dies, either the NIC has the host's addresses and routes or the interconnect has.
type steal struct {
	// of is what was on the NIC, saved: that the journal has it.
	of    mode.Stolen
	saved bool
	// none is why there is nothing to steal; empty where there is, or where nothing has been told.
	none string
	// told: the host's links have been told; state is what they were last, for as long as nothing is stolen.
	told  bool
	state vppwire.LinuxState
	// leaving: the agent is about to go, and does nothing but give the NIC back.
	leaving bool
	// back are the objects that are left to undo, in order, until the host has its NIC back; forGood: it keeps it.
	back    []vppwire.Object
	forGood bool
	// returned: the host has it back, until VPP comes.
	returned bool
	// changing: a ChangeLinux is outstanding, the seq-th.
	changing bool
	seq      uint64
	tries    int
	// at is when the host gets its NIC back, or when a refused change of it is tried again.
	at time.Time
	// life is the PID of the VPP that is connected, or was last; wired that of the last one that had all it needs for the host.
	life, wired uint32
}

// stealing says what the configuration wants stolen: a link by name, or the first.
type stealing struct {
	link  string
	first bool
}

func (s stealing) any() bool { return s.link != "" || s.first }

// InSTNMode reports whether the node's NIC is, or is to be, taken from the host's Linux.
func (a *Agent) InSTNMode() bool { return a.own.steal.any() }

// Steals reports whether an agent of this configuration has to hear HostLinks.
func (cfg *Config) Steals() bool { return cfg.ownSpec().steal.any() }

// hostLinks takes what the host's Linux has, where nothing is stolen yet.
func (a *Agent) hostLinks(state vppwire.LinuxState) {
	s := &a.steal
	s.told, s.state = true, state
	if !a.InSTNMode() || s.of.Has() || s.leaving {
		return
	}
	of, none := a.own.steal.pick(state)
	if s.none = none; none != "" {
		a.emit(Log{Level: levelWarn, Reason: ReasonNotStolen, Message: none})
		return
	}
	a.log(levelInfo, "link %s is to be VPP's: %s", of.Link, stolenText(of))
	s.of, s.state = of, vppwire.LinuxState{}
	a.journal.persist(stolenRecords(of), journalWaiter{what: stepSteal})
}

// stealWritten: the journal knows what the host has had, and VPP may take it.
func (a *Agent) stealWritten() {
	if a.steal.of.Has() {
		a.steal.saved = true
		a.todo |= todoNode | todoIdentity
	}
}

// restoreSteal takes what the journal says was stolen. Where the configuration wants another link or none, the host
// gets it back first.
func (a *Agent) restoreSteal(of mode.Stolen) {
	if !of.Has() {
		return
	}
	s, want := &a.steal, a.own.steal
	s.of, s.saved = of, true
	for _, k := range [...]vppwire.Kind{vppwire.KindSTN, vppwire.KindProxyARP, vppwire.KindProxyARPOn} {
		a.wire.Expect(k)
	}
	if !want.first && want.link != of.Link {
		a.giveBack(true)
	} else if !a.vppUp {
		s.at = a.now.Add(stealPatience)
	}
}

// giveBack begins to give the host its NIC back.
func (a *Agent) giveBack(forGood bool) {
	s := &a.steal
	s.at, s.tries = time.Time{}, 0
	s.forGood = s.forGood || forGood
	if len(s.back) == 0 {
		s.back = s.of.Undo()
	}
}

// returning: the host gets its NIC back, and nothing else is changed meanwhile.
func (a *Agent) returning() bool { return a.steal.changing || len(a.steal.back) > 0 }

// returnNIC asks for the next change.
func (a *Agent) returnNIC() {
	s := &a.steal
	if a.calling || s.changing || len(s.back) == 0 || a.now.Before(s.at) {
		return
	}
	s.changing, s.at = true, time.Time{}
	s.seq++
	a.emit(ChangeLinux{Seq: s.seq, Undo: s.back[0]})
}

// linuxChanged goes on with what is left.
func (a *Agent) linuxChanged(e LinuxChanged) {
	s := &a.steal
	if e.Seq != s.seq || !s.changing {
		return
	}
	s.changing = false
	switch {
	case len(s.back) == 0: // VPP has come meanwhile
		return
	case e.Err != nil && !undone(s.back[0], e.Err):
		s.at = a.now.Add(backOff(journalRetryFirst, journalRetryMost, s.tries))
		s.tries++
		a.log(levelError, "%s: the host does not get it back: %v", s.back[0].Key(), e.Err)
		a.setAlarm()
		return
	}
	s.tries = 0
	if s.back = s.back[1:]; len(s.back) > 0 {
		return
	}
	a.log(levelInfo, "link %s is the host's again: %s", s.of.Link, stolenText(s.of))
	s.returned = true
	a.wire.Look(groupNode) // a VPP that is connected takes it again
	if s.forGood {
		s.of, s.saved, s.forGood = mode.Stolen{}, false, false
		a.journal.persist([]Record{stolenRecord(mode.Stolen{})}, journalWaiter{what: stepReturn})
		a.todo |= todoNode | todoIdentity
	}
}

// returnForGood gives the host its NIC back because the agent is about to go.
func (a *Agent) returnForGood() {
	s := &a.steal
	s.leaving = true
	if s.of.Has() {
		a.giveBack(true)
		return
	}
	a.emit(NICReturned{})
}

// returnWritten: the journal knows that the host has its NIC back.
func (a *Agent) returnWritten() {
	switch s := &a.steal; {
	case s.of.Has():
	case s.leaving:
		a.emit(NICReturned{})
	case s.told:
		a.hostLinks(s.state)
	}
}

// undone reports whether a refusal says that there is nothing to undo.
func undone(o vppwire.Object, err error) bool {
	if _, is := o.(vppwire.Stolen); is {
		return errors.Is(err, vppwire.ErrLinuxExists)
	}
	_, route := o.(vppwire.LinuxRoute)
	return !route && errors.Is(err, vppwire.ErrLinuxMissing)
}

// vppAway sets the time at which the host gets its NIC back unless VPP comes.
func (a *Agent) vppAway() {
	if s := &a.steal; s.saved && !s.returned && !a.returning() && a.node.Stolen.Has() && s.at.IsZero() {
		s.at = a.now.Add(stealPatience)
		a.setAlarm()
	}
}

// vppHere: VPP takes the NIC again. One that had all for the host before, and only its connection was lost, hands it its packets; for
// another one the host waits until it is wired, as long as it would for one that is away: answers may be lost over and over.
func (a *Agent) vppHere(pid uint32) {
	s := &a.steal
	s.life = pid
	if !s.of.Has() || s.forGood {
		return
	}
	a.todo |= todoNode
	switch {
	case a.returning() && s.tries == 0:
		return // one half of it at each place is worse than to begin again
	case s.returned || a.returning() || pid == s.wired || !a.node.Stolen.Has():
		s.at = time.Time{}
	}
	s.back, s.returned = nil, false
}

// stealStands: VPP has all that it needs for the host.
func (a *Agent) stealStands() {
	if s := &a.steal; a.vppUp && a.node.Stolen.Has() && !a.returning() && a.wire.Looked() {
		s.wired, s.returned, s.at = s.life, false, time.Time{}
	}
}

// watchSteal does what is due.
func (a *Agent) watchSteal() {
	s := &a.steal
	if !due(s.at, a.now) || !s.saved || s.returned || a.returning() {
		return
	}
	why := fmt.Sprintf("VPP is away for %s: the host gets link %s back until VPP comes", stealPatience, s.of.Link)
	if a.vppUp {
		why = fmt.Sprintf("VPP does not hand the host its packets for %s: the host gets link %s back until VPP does", stealPatience, s.of.Link)
	}
	a.emit(Log{Level: levelWarn, Reason: ReasonNICReturned, Message: why})
	a.giveBack(false)
}

// unstolen says what the node's address waits for where it is the host's; empty when it has come.
func (a *Agent) unstolen() string {
	s := &a.steal
	switch {
	case !a.InSTNMode():
		return ""
	case s.none != "":
		return s.none
	case !s.told && !s.of.Has():
		return "the host's links have not been told"
	case !s.saved:
		return "what link " + s.of.Link + " has is being written to the journal"
	case a.returning():
		return "the host gets link " + s.of.Link + " back"
	case a.mainNIC() == "":
		return "link " + s.of.Link + " is to be VPP's, and VPP has no interface on it"
	}
	return ""
}

// pick finds the link to steal and what is on it, or says why there is none.
func (s stealing) pick(state vppwire.LinuxState) (of mode.Stolen, none string) {
	var names []string
	for _, l := range state.Links {
		if hostsOwn(l.Name) {
			names = append(names, l.Name)
		}
	}
	setting := "StealInterface " + s.link
	if s.link == "" {
		setting = "StealFirstNIC"
	}
	for _, l := range state.Links {
		if s.link != "" && l.Name != s.link || s.link == "" && software(l.Type) || !hostsOwn(l.Name) {
			continue
		}
		of = mode.Stolen{Link: l.Name, Addrs: ofFour(l.Addrs), Routes: routesOver(state.Routes, l.Name)}
		if len(of.Addrs) == 0 && s.link != "" {
			of = left(state, l.Name)
		}
		if len(of.Addrs) == 0 {
			if s.link != "" {
				return mode.Stolen{}, setting + ": the link has no IPv4 address that VPP could take over"
			}
			continue
		}
		for _, r := range state.Routes {
			if r.Link == l.Name && r.Dst.Addr().Is4() && !r.Via.IsValid() && !slices.ContainsFunc(of.Addrs, func(a netip.Prefix) bool { return a.Masked() == r.Dst }) {
				return mode.Stolen{}, fmt.Sprintf("%s: link %s has a route to %s without a gateway, for which VPP would not answer: the host would lose it; give it a gateway or remove it", setting, l.Name, r.Dst)
			}
		}
		return of, ""
	}
	if s.link != "" {
		return mode.Stolen{}, fmt.Sprintf("%s: the host has no such link; it has %s", setting, cmp.Or(strings.Join(names, ", "), "none"))
	}
	return mode.Stolen{}, fmt.Sprintf("%s: no link of the host's has an IPv4 address; it has %s", setting, cmp.Or(strings.Join(names, ", "), "none"))
}

// left is what an earlier life took off a link whose journal is lost: Linux' end of the interconnect has it.
func left(state vppwire.LinuxState, link string) (of mode.Stolen) {
	for _, l := range state.Links {
		if l.Name == vppwire.HostLinuxDevice && l.MAC == vppwire.STNMAC {
			of = mode.Stolen{Link: link, Addrs: ofFour(l.Addrs)}
		}
	}
	for _, r := range routesOver(state.Routes, vppwire.HostLinuxDevice) {
		if r.Dst.Bits() == 0 { // the others may be those to pods
			r.Link = link
			of.Routes = append(of.Routes, r)
		}
	}
	return of
}

// software reports whether a link of this kind is made by the kernel alone, such as the bridges of container runtimes: nothing leaves the
// machine by it, and a name is needed to have it taken.
func software(kind string) bool {
	switch kind {
	case "bridge", "dummy", "ifb", "tun", "tuntap", "macvlan", "ipvlan", "vrf", "vxlan", "geneve", "gre", "gretap", "ip6gre", "ip6gretap", "ipip", "ip6tnl", "sit",
		"wireguard":
		return true
	}
	return false
}

// hostsOwn reports whether a link may be the host's NIC: it is neither ours nor one of the names that contiv/vpp 2.0
// passes over.
func hostsOwn(name string) bool {
	for _, p := range [...]string{"lo", "vir", "docker", "vpp", vppwire.DevicePrefix} {
		if strings.HasPrefix(name, p) {
			return false
		}
	}
	return true
}

func ofFour(addrs []netip.Prefix) (list []netip.Prefix) {
	for _, a := range addrs {
		if a.Addr().Is4() {
			list = append(list, a)
		}
	}
	return list
}

// routesOver are a link's IPv4 routes that have a gateway, with nothing but what the journal keeps.
func routesOver(routes []vppwire.HostRoute, link string) (list []vppwire.HostRoute) {
	for _, r := range routes {
		if r.Link == link && r.Via.IsValid() && r.Dst.Addr().Is4() {
			list = append(list, vppwire.HostRoute{Dst: r.Dst, Via: r.Via, Link: link, Metric: r.Metric})
		}
	}
	return list
}

func stolenText(of mode.Stolen) string {
	var words []string
	for _, a := range of.Addrs {
		words = append(words, a.String())
	}
	for _, r := range of.Routes {
		words = append(words, fmt.Sprintf("%s via %s", r.Dst, r.Via))
	}
	return strings.Join(words, ", ")
}
