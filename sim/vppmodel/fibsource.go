package vppmodel

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/fib"
)

// fibSourceLabels are the sources as fib_source_dump names them, by number, with VPP's priorities
// (src/vnet/fib/fib_source.h). Plugins register more, from 22 on.
var fibSourceLabels = [...]fib.FibSource{
	{Priority: 0xff, Name: "invalid"}, {Priority: 0x00, Name: "special"}, {Priority: 0x01, Name: "classify"}, {Priority: 0x02, Name: "proxy"},
	{Priority: 0x03, Name: "interface"}, {Priority: 0x10, Name: "SR"}, {Priority: 0x20, Name: "BIER"}, {Priority: 0x30, Name: "6RD"},
	{Priority: 0x80, Name: "API"}, {Priority: 0x81, Name: "CLI"}, {Priority: 0x90, Name: "LISP"}, {Priority: 0xa0, Name: "MAP"},
	{Priority: 0xb0, Name: "DHCP"}, {Priority: 0xc0, Name: "IPv6-proxy-nd"}, {Priority: 0xc1, Name: "IPv6-nd"}, {Priority: 0xd0, Name: "adjacency"},
	{Priority: 0xe0, Name: "mpls"}, {Priority: 0xf0, Name: "attached_export"}, {Priority: 0xfb, Name: "recursive-resolution"},
	{Priority: 0xfc, Name: "urpf-exempt"}, {Priority: 0xfd, Name: "default-route"}, {Priority: 0xfe, Name: "interpose"},
}

// fibSourceDump lists VPP's own sources, by number; the model uses a few of them.
func (v *VPP) fibSourceDump(*fib.FibSourceDump) []api.Message {
	out := make([]api.Message, len(fibSourceLabels))
	for id, s := range fibSourceLabels {
		s.ID = uint8(id)
		out[id] = &fib.FibSourceDetails{Src: s}
	}
	return out
}
