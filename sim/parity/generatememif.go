package parity

import (
	"strconv"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memif"
)

// memifOps are drawn beside ops in the chains that have neither NAT nor ACLs.
var memifOps = []op{{7, (*generator).memifSocket}, {9, (*generator).memifCreate}, {3, (*generator).memifDelete}}

// memifNumber is one of the sockets that calls name. Each has a file of its own, as a VPP whose slave finds its own master
// at the other end would be connected.
func (g *generator) memifNumber() uint32 { return pick[uint32](g, 1, 1, 2, 2, 3, 4, 77, 0) }

// memifSocket is about an abstract file more often than not: such a one is gone with its VPP.
func (g *generator) memifSocket() api.Message {
	id := g.memifNumber()
	name := "m" + strconv.FormatUint(uint64(id), 10)
	file := pick(g, "abstract:", "abstract:", "abstract:", "abstract:", "", missingFolder) + name
	switch n := g.rand.IntN(100); {
	case n < 8:
		file = ""
	case n < 12:
		return &memif.MemifSocketFilenameAddDelV2{IsAdd: true, SocketID: none, SocketFilename: "any"}
	case n < 40:
		return &memif.MemifSocketFilenameAddDel{IsAdd: g.chance(75), SocketID: id, SocketFilename: file}
	}
	return &memif.MemifSocketFilenameAddDelV2{IsAdd: g.chance(75), SocketID: id, SocketFilename: file}
}

func (g *generator) memifCreate() api.Message {
	m := &memif.MemifCreateV2{Role: pick[memif.MemifRole](g, 0, 0, 1), ID: pick[uint32](g, 0, 0, 1, 9), SocketID: g.memifNumber(), HwAddr: g.aMAC(),
		RingSize: pick[uint32](g, 0, 0, 256, 1024, 1000), BufferSize: pick[uint16](g, 0, 0, 4096), NoZeroCopy: g.chance(30)}
	if g.chance(10) {
		m.Secret = "hush"
	}
	if g.chance(20) {
		return &memif.MemifCreate{Role: m.Role, ID: m.ID, SocketID: m.SocketID, HwAddr: m.HwAddr, RingSize: m.RingSize, BufferSize: m.BufferSize,
			NoZeroCopy: m.NoZeroCopy}
	}
	return m
}

func (g *generator) memifDelete() api.Message { return &memif.MemifDelete{SwIfIndex: g.iface()} }
