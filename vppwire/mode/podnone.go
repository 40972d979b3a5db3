package mode

import "github.com/vppdrill/vppdrill/vppwire"

// podNone is no wiring: who asks is told what it would be called.
type podNone struct{ ownInterface }

func (podNone) name(Config, Pod) string { return "none" }

func (podNone) ends(Config, *objects, Pod, vppwire.MAC, vppwire.MAC) {}
