package agent

import (
	"fmt"
	"regexp"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// socketPathMax is how long the path of a memif's socket may be, in bytes (25.10, src/vppinfra/socket.c).
const socketPathMax = 106

// memifFolderMax leaves room for a pod's UID and an interface's name of the usual lengths.
const memifFolderMax = socketPathMax - len("/01234567-89ab-cdef-0123-456789abcdef/interfaceofpods/") - len(vppwire.MemifFile)

// folderName is what a pod's UID must look like to name a folder: what Kubernetes gives, and nothing that leads out.
var folderName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_.-]*$`)

// unsocketed says why a sandbox cannot have the memif that it asks for; empty where it can, or asks for none.
func (p *pods) unsocketed(s Sandbox) string {
	if s.Memif == 0 {
		return ""
	}
	folder := p.wiring.MemifFolder
	switch file := mode.MemifPath(folder, s.PodUID, s.Owner.IfName) + "/" + vppwire.MemifFile; {
	case folder == "":
		return fmt.Sprintf("the pod asks for a %s, and the agent has no MemifFolder", s.Memif)
	case !folderName.MatchString(s.PodUID):
		return fmt.Sprintf("the pod asks for a %s, and %q is no UID that could name its folder", s.Memif, s.PodUID)
	case len(file) > socketPathMax:
		return fmt.Sprintf("the pod asks for a %s, and %s has more than %d bytes", s.Memif, file, socketPathMax)
	}
	return ""
}
