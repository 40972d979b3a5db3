package vppmodel

import (
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/vpe"
)

// Version is what show_version answers: the release whose behaviour is modelled.
const Version = "25.10-release"

// buildDate is that of the release's last commit.
const buildDate = "2025-10-27"

func (v *VPP) controlPing(_ *memclnt.ControlPing, r *memclnt.ControlPingReply) int32 {
	*r = memclnt.ControlPingReply{VpePID: v.pid}
	return ok
}

func (v *VPP) showVersion(_ *vpe.ShowVersion, r *vpe.ShowVersionReply) int32 {
	*r = vpe.ShowVersionReply{Program: "vpe", Version: Version, BuildDate: buildDate, BuildDirectory: "vppmodel"}
	return ok
}
