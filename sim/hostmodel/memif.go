package hostmodel

import (
	"errors"
	"path"

	"github.com/vppdrill/vppdrill/vppwire"
)

// memifFolder is a folder below /run with one memif socket in it, at most. Everything there is ours.
type memifFolder struct {
	// listening: VPP listens at the socket.
	listening bool
}

func (h *Host) memifFolderAdd(op vppwire.MemifFolderAdd) error {
	if _, exists := h.memifFolders[op.Path]; !exists {
		h.memifFolders[op.Path] = memifFolder{}
	}
	return nil
}

// MemifListen has VPP listen at a socket in its folder.
func (h *Host) MemifListen(file string) error {
	if f, exists := h.memifFolders[path.Dir(file)]; !exists || f.listening {
		return errors.New("cannot listen at " + file)
	}
	h.memifFolders[path.Dir(file)] = memifFolder{listening: true}
	return nil
}

// MemifClose ends it. A folder that is gone is nothing to do.
func (h *Host) MemifClose(file string) {
	if _, exists := h.memifFolders[path.Dir(file)]; exists {
		h.memifFolders[path.Dir(file)] = memifFolder{}
	}
}

// MemifPeer reports whether a program takes part at the other end: none does here.
func (h *Host) MemifPeer(string, uint32, bool) bool { return false }
