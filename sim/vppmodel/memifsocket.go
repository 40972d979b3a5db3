package vppmodel

import (
	"maps"
	"slices"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memif"
)

const (
	// memifFile is the socket that every VPP has, as number 0, below its runtime directory (src/plugins/memif/private.h).
	memifFile = "memif.sock"
	// runtimeDir is VPP's own unless a Config says otherwise (src/vlib/unix/main.c).
	runtimeDir = "/run/vpp"
	// socketNameMax is what a reply's field, and the older request's, holds beside its terminating zero, in bytes.
	socketNameMax = 107
	// socketPathMax is how long a socket's path may be for VPP to bind it, in bytes (src/vppinfra/socket.c).
	socketPathMax = 106
)

// memifSocket is one entry of the plugin's table of files.
type memifSocket struct {
	file string
	// refs counts interfaces, one too few for each time that VPP could not listen.
	refs   int
	master bool // its interfaces are masters; else slaves
	// listening: VPP has a listener on the file.
	listening bool
	ids       map[uint32]uint32 // interface indices by memif ID
}

// MemifHost is a Host with the files that memif sockets are, and the programs at their other ends. Without one VPP can
// listen on every file and nothing is ever connected.
type MemifHost interface {
	// MemifListen makes a socket file, instead of one that nobody listens on. Any error refuses the interface with -14.
	MemifListen(file string) error
	// MemifClose ends listening; the file stays.
	MemifClose(file string)
	// MemifPeer reports whether a program takes part at the other end: it has connected as a slave to VPP's listener, or
	// listens as a master where VPP's end is a slave.
	MemifPeer(file string, id uint32, slave bool) bool
	// MemifEnd is where that program is, as Interface.Host and HostNetns; empty where there is none, or nobody knows.
	MemifEnd(file string) (link, netns string)
}

// listenMemif reports whether VPP listens on a socket's file now.
func (v *VPP) listenMemif(s *memifSocket) bool {
	if len(s.file) > socketPathMax && strings.HasPrefix(s.file, "/") {
		return false
	}
	if host, able := v.host.(MemifHost); able && host.MemifListen(s.file) != nil {
		return false
	}
	s.listening = true
	return true
}

func (v *VPP) hangUpMemif(s *memifSocket) {
	if host, able := v.host.(MemifHost); able && s.listening {
		host.MemifClose(s.file)
	}
	s.listening, s.ids = false, nil
}

// memifSocket2 takes ^0 for any number, and answers with the number whatever becomes of the request.
func (v *VPP) memifSocket2(m *memif.MemifSocketFilenameAddDelV2, r *memif.MemifSocketFilenameAddDelV2Reply) int32 {
	id := m.SocketID
	*r = memif.MemifSocketFilenameAddDelV2Reply{Retval: invalidArgument, SocketID: id}
	if id == 0 {
		return r.Retval
	}
	if m.IsAdd && id == none {
		id = v.memifNumber()
	}
	*r = memif.MemifSocketFilenameAddDelV2Reply{Retval: v.changeMemifSocket(m.IsAdd, id, m.SocketFilename), SocketID: id}
	return r.Retval
}

func (v *VPP) memifSocket1(m *memif.MemifSocketFilenameAddDel) int32 {
	if m.SocketID == 0 || m.SocketID == none {
		return invalidArgument
	}
	return v.changeMemifSocket(m.IsAdd, m.SocketID, truncate(m.SocketFilename, socketNameMax))
}

// memifNumber is a free number: VPP's generator begins at the same place in every process.
func (v *VPP) memifNumber() uint32 {
	const tries = 1 << 10
	for range tries {
		v.memifSeed = 1664525*v.memifSeed + 1013904223 // src/vppinfra/random.h, random_u32
		for i := range uint32(tries) {
			if i%2 == 0 {
				v.memifSeed -= i
			} else {
				v.memifSeed += i
			}
			if _, taken := v.memifs[v.memifSeed]; !taken && v.memifSeed != none {
				return v.memifSeed
			}
		}
	}
	return none
}

func (v *VPP) changeMemifSocket(add bool, id uint32, file string) int32 {
	s, exists := v.memifs[id]
	if !add {
		switch {
		case !exists || id == none:
			return invalidArgument
		case s.refs > 0:
			return unexpectedState
		}
		delete(v.memifs, id)
		return ok
	}
	switch {
	case id == none || file == "":
		return invalidArgument
	case !strings.HasPrefix(file, "/") && !namedByKind(file):
		file = v.runtimeDir + "/" + file
	}
	switch {
	case !exists:
		v.memifs[id] = &memifSocket{file: file}
	case s.file != file:
		return entryExists
	}
	return ok
}

// namedByKind reports whether a socket's name begins with its kind (src/vppinfra/socket.c): VPP takes it as it is.
func namedByKind(file string) bool {
	return slices.ContainsFunc([]string{"unix:", "tcp:", "abstract:"}, func(kind string) bool { return strings.HasPrefix(file, kind) })
}

// memifSocketCrash: the socket's interfaces, which VPP has not counted, have lost it.
func (v *VPP) memifSocketCrash(m *memif.MemifSocketFilenameAddDelV2) CrashTrigger {
	if s, exists := v.memifs[m.SocketID]; exists && !m.IsAdd && m.SocketID != 0 && s.refs <= 0 && len(s.ids) > 0 {
		return CrashMemifMiscounted
	}
	return ""
}

func (v *VPP) memifSocket1Crash(m *memif.MemifSocketFilenameAddDel) CrashTrigger {
	return v.memifSocketCrash(&memif.MemifSocketFilenameAddDelV2{IsAdd: m.IsAdd, SocketID: m.SocketID})
}

func (v *VPP) memifSocketDump(*memif.MemifSocketFilenameDump) []api.Message {
	var out []api.Message
	for _, id := range slices.Sorted(maps.Keys(v.memifs)) {
		out = append(out, &memif.MemifSocketFilenameDetails{SocketID: id, SocketFilename: truncate(v.memifs[id].file, socketNameMax)})
	}
	return out
}

// appendMemifs leaves the socket out that every VPP has.
func (v *VPP) appendMemifs(b []byte) []byte {
	for _, id := range slices.Sorted(maps.Keys(v.memifs)) {
		if id != 0 {
			b = append(append(appendNumber(b, "memif socket ", id, ' '), v.memifs[id].file...), '\n')
		}
	}
	return b
}
