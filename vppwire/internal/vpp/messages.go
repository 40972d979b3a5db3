package vpp

import (
	"fmt"
	"slices"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/vpe"

	"github.com/vppdrill/vppdrill/vppwire"
)

// parts are the messages that vppwire and this package send and get.
func parts() []vppwire.Part {
	parts := vppwire.Parts()
	parts[0].Messages = append(parts[0].Messages,
		&memclnt.ControlPing{}, &memclnt.ControlPingReply{}, &vpe.ShowVersion{}, &vpe.ShowVersionReply{})
	return parts
}

// known tells which messages a VPP knows, by name and CRC.
type known interface {
	GetMessageID(api.Message) (uint16, error)
}

// lacks says in one line what a VPP lacks, nil for nothing, and which optional plugins it has not loaded. A plugin of
// which nothing is known is not loaded, which is fine for an optional one; a message that is missing among known ones
// has another CRC, or comes from another release.
func lacks(c known, version string) (without []string, err error) {
	for _, p := range parts() {
		var missing []string
		for _, m := range p.Messages {
			if _, err := c.GetMessageID(m); err != nil {
				missing = append(missing, nameOf(m))
			}
		}
		switch {
		case len(missing) == 0:
		case p.Optional && len(missing) == len(p.Messages):
			without = append(without, p.Plugin)
		case p.Plugin != "" && len(missing) == len(p.Messages):
			return nil, fmt.Errorf("%w: VPP %s runs without its %s plugin (%s_plugin.so): enable it in startup.conf", ErrIncompatible, version, p.Plugin, p.Plugin)
		default:
			slices.Sort(missing)
			more := ""
			if len(missing) > 3 {
				more = fmt.Sprintf(" and %d more", len(missing)-3)
			}
			return nil, fmt.Errorf("%w: VPP %s does not know %s%s: these are VPP 25.10's", ErrIncompatible, version, strings.Join(missing[:min(3, len(missing))], ", "), more)
		}
	}
	return without, nil
}

// nameOf is a message's name with its CRC, as VPP lists it.
func nameOf(m api.Message) string { return m.GetMessageName() + "_" + m.GetCrcString() }
