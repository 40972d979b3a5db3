// Package linkname says what a network interface of Linux may be called.
//
// It is the one place that does: the plugin and the agent's socket ask it before a name gets anywhere, the agent before
// it wires, and the modelled kernel in sim/hostmodel when a link is made. It knows no link: whether a name is free is
// the kernel's to say. Start at Check. It imports nothing of VPP, because the plugin is started for each pod and has to
// start fast.
package linkname

import (
	"errors"
	"fmt"
	"strings"
)

// Max is the longest name in bytes: the kernel's IFNAMSIZ without its zero byte.
const Max = 15

// Valid reports whether the kernel takes name for a link (dev_valid_name in net/core/dev.c, Linux 6.1).
func Valid(name string) bool {
	refused := func(r rune) bool {
		return r == '/' || r == ':' || r == ' ' || '\t' <= r && r <= '\r' || r == 0xa0
	}
	return name != "" && len(name) <= Max && name != "." && name != ".." && strings.IndexFunc(name, refused) < 0
}

// Check says why an interface of a pod cannot be called name, nil if it can: what the kernel refuses; what it gives a
// meaning ("%" makes a pattern, "lo" is there already, "all" and "default" are folders of net.ipv4.conf); and what
// would not print in one line.
func Check(name string) error {
	switch {
	case name == "":
		return errors.New("an interface needs a name")
	case len(name) > Max:
		return fmt.Errorf("%q has %d bytes; Linux takes at most %d", name, len(name), Max)
	case name == "." || name == ".." || name == "lo" || name == "all" || name == "default":
		return fmt.Errorf("no interface of a sandbox can be called %q", name)
	case !Valid(name) || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '%' }):
		return fmt.Errorf("%q has a character that no interface name may have", name)
	}
	return nil
}
