package socket

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// commandLine answers VPP's command line where the model has something to say: VPP's text, and -1 for what it does not know. Words may be
// cut short as on VPP's own.
func (s *Server) commandLine(command string) (text string, retval int32) {
	words := strings.Fields(command)
	unknown := func(prefix string, rest []string) (string, int32) {
		return prefix + "unknown input `" + strings.Join(rest, " ") + "'\n", -1
	}
	if len(words) == 0 || !strings.HasPrefix("show", words[0]) {
		return unknown("", words)
	}
	if len(words) == 1 {
		return unknown("show: ", nil)
	}
	switch verb, rest := words[1], words[2:]; {
	case strings.HasPrefix("version", verb):
		text = "vpp v" + vppmodel.Version + " (modelled by vppdrill)\n"
		if len(rest) > 0 {
			refused, retval := unknown("", rest)
			return text + refused, retval
		}
		return text, 0
	case strings.HasPrefix("interface", verb):
		return s.showInterface(rest)
	case verb == "state" && len(rest) == 0: // no command of VPP's
		return s.vpp.Text(), 0
	}
	return unknown("show: ", words[1:])
}

// showInterface is "show interface", of all or of those that are named (src/vnet/interface_cli.c, format_vnet_sw_interface). There are no
// counters, as the model forwards no packets.
func (s *Server) showInterface(names []string) (string, int32) {
	all := slices.Collect(s.vpp.Interfaces())
	if len(names) == 0 {
		slices.SortFunc(all, func(a, b vppmodel.Interface) int { return strings.Compare(a.Name, b.Name) })
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s%s%s%s%s\n", centred("Name", 32), centred("Idx", 5), centred("State", 10), centred("MTU (L3/IP4/IP6/MPLS)", 21), centred("Counter", 16), centred("Count", 16))
	row := func(i vppmodel.Interface) {
		state := "down"
		if i.Up {
			state = "up"
		}
		fmt.Fprintf(&b, "%-32s%s%s%s\n", i.Name, centred(fmt.Sprint(i.Index), 5), centred(state, 10), centred(fmt.Sprintf("%d/%d/%d/0", i.MTU, i.MTU4, i.MTU6), 21))
	}
	if len(names) == 0 {
		for _, i := range all {
			row(i)
		}
		return b.String(), 0
	}
	for n, name := range names {
		at := slices.IndexFunc(all, func(i vppmodel.Interface) bool { return i.Name == name })
		if at < 0 {
			return "show interface: unknown input `" + strings.Join(names[n:], " ") + "'\n", -1
		}
		row(all[at])
	}
	return b.String(), 0
}

// centred puts a word into the middle of a column, a space more before it than behind it where they cannot be equal.
func centred(word string, width int) string {
	free := max(width-len(word), 0)
	return strings.Repeat(" ", free-free/2) + word + strings.Repeat(" ", free/2)
}
