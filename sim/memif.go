package sim

import (
	"errors"

	"github.com/vppdrill/vppdrill/scenarios/agentconfig"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// startProgram starts the program of a pod whose ADD has been answered, where it has the folder of a memif: containers start then.
func (m *machine) startProgram(s *cluster.Sandbox) {
	if !m.w.s.Config.Wiring.Memif {
		return
	}
	folder := mode.MemifPath(agentconfig.MemifFolder, s.UID, s.Owner.IfName)
	if err := m.host.MemifJoin(s.Netns, s.Owner.IfName, folder); err != nil && !errors.Is(err, vppwire.ErrLinuxMissing) {
		m.w.note(m, "program", "the program of "+s.Pod.String()+" does not start: "+err.Error())
	}
}
