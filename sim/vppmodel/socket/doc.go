// Package socket serves a modelled VPP on a unix socket, in VPP's own binary API, so that govpp's client, VPP's own
// clients in C and Python, and any program built on them talk to the model as to a VPP.
//
// It decides how bytes become messages: framing, the handshake with its table of names and CRCs, message numbers,
// clients and their events. What a message means is decided by sim/vppmodel alone, except for what belongs to a process
// and not to a dataplane: its clock, its log and its command line (process.go). It never forwards a packet.
//
// Start at Listen. Requests of all clients are performed one at a time in the order of their arrival; the answers of
// one client come in the order of its requests, an event after the answer to the request that caused it. What VPP drops
// with a line in its log (an unknown number, a message that is cut short) is dropped here too and reported to
// Config.Log. Messages have VPP's own numbers (numbers.txt), as some clients know them without asking; a number of VPP's
// that is of no modelled message is refused as unimplemented where its reply can say so. A frame longer than any message ends its connection. Nothing is kept when the server closes: the next one
// is another VPP. The counterpart is govpp's adapter/socketclient; VPP's own side is src/vlibmemory/socket_api.c.
//
// To let it answer another message of the dataplane, teach sim/vppmodel; one of the process, add it to process.go.
package socket
