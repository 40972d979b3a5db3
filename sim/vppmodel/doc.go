// Package vppmodel is one VPP 25.10 in memory: a govpp api.Connection with interfaces, tables, neighbors and bridges
// behind it.
//
// It decides what VPP answers to each request of the binary API and what its tables hold afterwards: return codes,
// reuse of indices, and what an interface leaves behind when it goes. It says what a real VPP would die of
// (PredictCrash). It forwards no packet and learns no address: scenarios/walk follows packets through its tables. It
// never reads a clock, and it holds no opinion on what a client should want. It shares no type, constant or belief with
// vppwire, the code that it judges, and never imports it.
//
// Start at VPP, then Invoke for requests, NewStream for dumps, Interfaces, Route and their like for tables, Text for
// goldens. The package view shows a VPP to laws and packet walkers.
//
// Every call is answered at once and in order; nothing here is safe for concurrent use. A request that VPP refuses is a
// retval in the reply, as on the wire; an error means that there was no reply: the message is unknown, or VPP was
// killed. A restart is a new VPP with another PID. Behaviour is taken from VPP's own source, release 25.10; files are
// named where they matter. The real counterpart is found by lab/vppproc; the driver of either is vppwire/host.
//
// To add a message, write its handler, and what a real VPP would die of, in its object's file, and its row in
// messages.go. A difference of the model belongs into the row, or into gaps.go where no single message is concerned.
package vppmodel
