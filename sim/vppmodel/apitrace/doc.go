// Package apitrace writes what a modelled VPP was asked as a file that VPP's own `api trace replay` takes.
//
// It decides how requests become such a file, and what stands in for what another machine does not have: NICs, taps, memifs
// and AF_PACKET interfaces become loopbacks with their MACs and indices, and MACs that VPP would draw are set. Refused
// requests are left out. It never decides what a VPP answers; sim/vppmodel did. What came to a VPP without a request,
// such as the address of a DHCP lease, is not in it.
//
// Start at Trace: New when a VPP starts, Add for each of its requests, Bytes at any instant. The file's format is
// src/vlibapi/api_shared.c's (vl_msg_api_trace_save): a header, a table of the messages' names, so that any VPP with the
// same messages can read it, and the requests. Everything is in the order of Add; there is no error but a message that
// cannot be encoded. To let another interface have a stand-in, add it to standIn.
package apitrace
