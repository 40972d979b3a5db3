package sim

import (
	"errors"
	"slices"
	"strings"

	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/tapv2"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// looking is what an agent has to look for in VPP and Linux, as far as who sees its calls knows, and what it was shown. A look is its dumps up
// to the next call that writes: an agent looks first, and at all that it doubts.
type looking struct {
	// caused: something is in doubt; whole: everything is, or who knows what. Otherwise about names the interfaces and namespaces that are, with
	// those of anyNetns where a call has taken a link away whose other end it did not name.
	caused, whole, anyNetns bool
	about                   map[string]bool
	// shown are the dumps of the present look that were answered, by their text. asking: a call has no answer yet; mixed: the look began in the
	// midst of another, of which some dumps are still to be made.
	shown         map[string]bool
	asking, mixed bool
	// made are interfaces whose creation was answered, asked what was asked about one by itself, and netns the namespaces that were dumped, all
	// of the present VPP.
	made, netns map[string]bool
	asked       map[string]map[string]bool
}

// heard notes what gives the agent a cause to look, before it hears of it.
func (l *looking) heard(p *process, ev agent.Event) {
	switch ev := ev.(type) {
	case agent.VPPUp:
		*l = looking{caused: true, whole: true, about: map[string]bool{}, shown: map[string]bool{}, made: map[string]bool{}, netns: map[string]bool{},
			asked: map[string]map[string]bool{}}
	case agent.PodCheck:
		l.doubt()
		l.whole, l.mixed = true, l.mixed || l.asking
	case agent.Called:
		l.asking = false
		l.answered(p.call.call, ev.Result)
	}
}

// doubt begins another look.
func (l *looking) doubt() {
	l.caused = true
	clear(l.shown)
}

// answered notes what became of a call.
func (l *looking) answered(c vppwire.Call, r vppwire.Result) {
	good := r.Err == nil
	switch {
	case !c.Writes() && good:
		text := string(c.AppendText(nil))
		l.shown[text] = true
		if netns, is := dumpedNetns(text); is {
			l.netns[netns] = true
		}
	case !c.Writes():
		l.caused = true // once more
	case good && c.Verb() == vppwire.VerbCreate && c.Key().Kind <= vppwire.KindVXLAN:
		l.made[c.Key().Name] = true
		l.caused = true // what names the index of an interface that is gone is of this one now
	case good:
		if op, is := c.LinuxOp().(vppwire.AddrDel); is { // which takes routes along
			l.caused, l.about[op.Netns] = true, true
		}
	case c.Verb() == vppwire.VerbDelete && (errors.Is(r.Err, vppwire.ErrNoNamespace) || errors.Is(r.Err, vppwire.ErrLinuxMissing)): // gone is gone
	case !good:
		l.doubt()
		k := c.Key()
		l.about[k.Name], l.about[k.Netns] = true, true
		switch op := c.LinuxOp().(type) {
		case vppwire.VethAdd:
			l.about[op.Netns], l.about[op.PeerNetns] = true, true
		case vppwire.LinkDel:
			l.anyNetns = true
		}
		if t, is := c.Request().(*tapv2.TapCreateV3); is {
			l.about[t.HostNamespace] = true
		}
		l.anyNetns = l.anyNetns || k.Kind == vppwire.KindTap || k.Kind == vppwire.KindVeth || c.LinuxOp() != nil && r.Err != nil // and what it needs
	}
}

// writes notes that the agent writes, which it does when it has seen what it had to: its look is over.
func (l *looking) writes(c vppwire.Call) {
	l.over()
	if k := c.Key(); k.Kind <= vppwire.KindVXLAN {
		delete(l.made, k.Name)
		delete(l.asked, k.Name)
	}
}

// looked ends the look of an agent that has nothing left to do or to ask.
func (p *process) looked(ev agent.Event, effects []agent.Effect) {
	called, is := ev.(agent.Called)
	if is && called.Result.Err == nil && p.looking.caused && !slices.ContainsFunc(effects, isCall) && p.agent.Idle() {
		p.looking.over()
	}
}

func (l *looking) over() {
	l.caused, l.whole, l.anyNetns, l.mixed = false, false, false, false
	clear(l.about)
	clear(l.shown)
}

// dumpedNetns is the namespace that a dump of Linux is of; false for a dump of VPP.
func dumpedNetns(text string) (string, bool) {
	rest, is := strings.CutPrefix(text, "linux_dump dump")
	return strings.TrimPrefix(rest, " "), is
}

// looks judges a dump that the agent asks for, and tells of one that can show it nothing.
func (p *process) looks(c vppwire.Call) {
	l, m := &p.looking, p.m
	l.asking = true
	if c.Writes() {
		l.writes(c)
		return
	}
	if m.vpp == nil || l.shown == nil {
		return
	}
	text := string(c.AppendText(nil))
	if why := l.needless(m, c, text); why != "" {
		m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: text, Broken: why})
	}
}

// needless says why a dump can show nothing new, "" where it may. Leases of DHCP clients are looked at when it is time.
func (l *looking) needless(m *machine, c vppwire.Call, text string) string {
	if c.Name() == leaseDump {
		if m.w.dhcp == nil && !l.caused && !m.crowded() {
			return "asks what DHCP clients have leased, and none is configured"
		}
		return ""
	}
	if l.shown[text] && !l.mixed && !m.crowded() { // one that is short of room looks whether there is some now
		return "was answered already in the same look, and nothing has happened since"
	}
	if i, is := m.dumpedInterface(c); is {
		return l.needlessInterface(m, i, text)
	}
	if netns, is := dumpedNetns(text); is && netns != "" {
		if l.netns[netns] && !l.whole && !l.anyNetns && !l.about[netns] && !m.crowded() {
			return "is of a namespace that was looked at before and that no call has failed in"
		}
		return ""
	}
	if !l.caused && !m.crowded() {
		return "begins a look that nothing has given cause for: VPP has not come, no call has failed and no CHECK was asked"
	}
	return ""
}

// needlessInterface is needless for what is asked about one interface by itself.
func (l *looking) needlessInterface(m *machine, i vppmodel.Interface, text string) string {
	name := i.Name
	switch {
	case name == "":
		return "is of an interface that VPP does not have"
	case i.Kind == vppmodel.KindLocal || i.Kind == vppmodel.KindVXLAN:
		return "is of an interface that nobody sets anything on"
	case (l.made[name] || l.asked[name][text]) && !l.whole && !l.about[name] && !m.crowded():
		return "is of an interface that the agent made or looked at before and that no call has failed on"
	}
	if l.asked[name] == nil {
		l.asked[name] = map[string]bool{}
	}
	l.asked[name][text] = true
	return ""
}

// dumpedInterface is the interface by itself that a dump asks about, without a name one that is not there; false for other dumps.
func (m *machine) dumpedInterface(c vppwire.Call) (i vppmodel.Interface, is bool) {
	var index uint32
	switch req := c.Request().(type) {
	case *interfaces.SwInterfaceGetTable:
		index = uint32(req.SwIfIndex)
	case *ip.IPAddressDump:
		index = uint32(req.SwIfIndex)
	default:
		return i, false
	}
	i, _ = m.vpp.Interface(index)
	return i, true
}
