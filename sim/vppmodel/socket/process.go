package socket

import (
	"time"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/mactime"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/vlib"
	"go.fd.io/govpp/binapi/vpe"
	"go.fd.io/govpp/binapi/vpe_types"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// processExchanges are answered here: they are about the process and its clock, not about the dataplane.
var processExchanges = []vppmodel.Exchange{
	{Request: &memclnt.MemclntKeepalive{}, Reply: &memclnt.MemclntKeepaliveReply{}},
	{Request: &memclnt.GetFirstMsgID{}, Reply: &memclnt.GetFirstMsgIDReply{}},
	{Request: &memclnt.APIVersions{}, Reply: &memclnt.APIVersionsReply{}},
	{Request: &memclnt.GetAPIJSON{}, Reply: &memclnt.GetAPIJSONReply{}},
	{Request: &vpe.ShowVpeSystemTime{}, Reply: &vpe.ShowVpeSystemTimeReply{}},
	{Request: &vpe.LogDump{}, Details: &vpe.LogDetails{}},
	{Request: &vlib.CliInband{}, Reply: &vlib.CliInbandReply{}},
	{Request: &vlib.Cli{}, Reply: &vlib.CliReply{}},
	{Request: &vlib.ShowThreads{}, Reply: &vlib.ShowThreadsReply{}},
	{Request: &vlib.GetNodeIndex{}, Reply: &vlib.GetNodeIndexReply{}},
	{Request: &vlib.GetNextIndex{}, Reply: &vlib.GetNextIndexReply{}},
	{Request: &vlib.AddNodeNext{}, Reply: &vlib.AddNodeNextReply{}},
	{Request: &vlib.GetNodeGraph{}, Reply: &vlib.GetNodeGraphReply{}},
	{Request: &vlib.GetF64EndianValue{}, Reply: &vlib.GetF64EndianValueReply{}},
	{Request: &vlib.GetF64IncrementByOne{}, Reply: &vlib.GetF64IncrementByOneReply{}},
	{Request: &mactime.MactimeDump{}, Details: &mactime.MactimeDetails{}, Reply: &mactime.MactimeDumpReply{}},
}

// process performs a request that is about the process; false for any other.
func (s *Server) process(m api.Message) ([]api.Message, bool) {
	switch m := m.(type) {
	case *memclnt.MemclntKeepalive:
		return []api.Message{&memclnt.MemclntKeepaliveReply{}}, true
	case *memclnt.GetFirstMsgID:
		first, known := s.table.first[m.Name]
		if !known {
			return []api.Message{&memclnt.GetFirstMsgIDReply{Retval: int32(api.INVALID_VALUE), FirstMsgID: 1<<16 - 1}}, true
		}
		return []api.Message{&memclnt.GetFirstMsgIDReply{FirstMsgID: first}}, true
	case *memclnt.APIVersions:
		return []api.Message{&memclnt.APIVersionsReply{}}, true // VPP 25.10 fills its list no longer
	case *memclnt.GetAPIJSON:
		return []api.Message{&memclnt.GetAPIJSONReply{Retval: int32(api.UNIMPLEMENTED)}}, true // two megabytes of VPP's own files
	case *vpe.ShowVpeSystemTime:
		now := time.Since(s.started).Seconds()
		return []api.Message{&vpe.ShowVpeSystemTimeReply{VpeSystemTime: vpe_types.Timestamp(now)}}, true
	case *vpe.LogDump:
		return nil, true
	case *vlib.CliInband:
		r := &vlib.CliInbandReply{}
		r.Reply, r.Retval = s.commandLine(m.Cmd)
		return []api.Message{r}, true
	case *mactime.MactimeDump:
		// A table without devices, and that of the epoch that the client has already (src/plugins/mactime/mactime.c).
		return []api.Message{&mactime.MactimeDumpReply{Retval: int32(api.NO_CHANGE)}}, true
	}
	return s.worker(m)
}

// worker answers what is about the graph of nodes, of which the model has none: it is one thread that looks nothing up.
func (s *Server) worker(m api.Message) ([]api.Message, bool) {
	const none = ^uint32(0)
	switch m := m.(type) {
	case *vlib.Cli:
		return []api.Message{&vlib.CliReply{}}, true // its text would be in memory that both share
	case *vlib.ShowThreads:
		main := vlib.ThreadData{Name: "vpp_main", PID: s.vpp.PID()}
		return []api.Message{&vlib.ShowThreadsReply{Count: 1, ThreadData: []vlib.ThreadData{main}}}, true
	case *vlib.GetNodeIndex:
		return []api.Message{&vlib.GetNodeIndexReply{Retval: int32(api.NO_SUCH_NODE), NodeIndex: none}}, true
	case *vlib.GetNextIndex:
		return []api.Message{&vlib.GetNextIndexReply{Retval: int32(api.NO_SUCH_NODE), NextIndex: none}}, true
	case *vlib.AddNodeNext:
		return []api.Message{&vlib.AddNodeNextReply{Retval: int32(api.NO_SUCH_NODE), NextIndex: none}}, true
	case *vlib.GetNodeGraph:
		return []api.Message{&vlib.GetNodeGraphReply{Retval: int32(api.UNIMPLEMENTED)}}, true
	case *vlib.GetF64EndianValue:
		r := &vlib.GetF64EndianValueReply{F64OneResult: 1}
		if m.F64One != 1 {
			refused := api.API_ENDIAN_FAILED
			r.Retval = uint32(refused)
		}
		return []api.Message{r}, true
	case *vlib.GetF64IncrementByOne:
		return []api.Message{&vlib.GetF64IncrementByOneReply{F64Value: m.F64Value + 1}}, true
	}
	return nil, false
}
