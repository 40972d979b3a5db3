package vppmodel_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/memif"
)

// memifFiles are the sockets that VPP listens on, and those with a program at the other end.
type memifFiles struct{ listening, peers []string }

func (h *fakeHost) MemifListen(file string) error {
	if strings.Contains(file, "missing") || slices.Contains(h.listening, file) {
		return errors.New("cannot listen")
	}
	h.listening = append(h.listening, file)
	return nil
}

func (h *fakeHost) MemifClose(file string) {
	h.listening = slices.DeleteFunc(h.listening, func(f string) bool { return f == file })
}

func (h *fakeHost) MemifPeer(file string, _ uint32, _ bool) bool {
	return slices.Contains(h.peers, file)
}

func (h *fakeHost) MemifEnd(string) (link, netns string) { return "", "" }

// memif runs the lines of memif stories.
func (s *script) memif(f []string) (string, bool, error) {
	c := memif.NewServiceClient(s.vpp)
	switch f[0] {
	case "socket":
		m := &memif.MemifSocketFilenameAddDelV2{IsAdd: f[1] == "add", SocketID: number(f[2])}
		if m.IsAdd {
			m.SocketFilename = f[3]
		}
		_, err := c.MemifSocketFilenameAddDelV2(s.ctx, m)
		return "", true, err
	case "memif":
		m := &memif.MemifCreateV2{SocketID: number(f[1]), ID: number(f[2]), RingSize: number(arg(f, "ring", "0")), HwAddr: macOf("02:00:00:00:00:0d")}
		if slices.Contains(f, "slave") {
			m.Role = memif.MEMIF_ROLE_API_SLAVE
		}
		r, err := c.MemifCreateV2(s.ctx, m)
		return created(r.SwIfIndex), true, err
	case "memif-del":
		_, err := c.MemifDelete(s.ctx, &memif.MemifDelete{SwIfIndex: s.index(f[1])})
		return "", true, err
	case "peer":
		if f[1] == "comes" {
			s.host.peers = append(s.host.peers, f[2])
		} else {
			s.host.peers = slices.DeleteFunc(s.host.peers, func(file string) bool { return file == f[2] })
		}
		return "", true, nil
	case "memifs":
		dump, err := c.MemifDump(s.ctx, &memif.MemifDump{})
		if err != nil {
			return "", true, err
		}
		var all []string
		for d, err := dump.Recv(); err == nil; d, err = dump.Recv() {
			all = append(all, fmt.Sprintf("%s link %t ring %d buffer %d", d.IfName, d.Flags&interface_types.IF_STATUS_API_FLAG_LINK_UP != 0, d.RingSize, d.BufferSize))
		}
		return strings.Join(append(all, "listens "+strings.Join(s.host.listening, " ")), ", "), true, nil
	}
	return "", false, nil
}
