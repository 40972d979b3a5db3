package vppmodel

import (
	"maps"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/fib"
)

// fibSourceLabels are the sources as fib_source_dump names them, with VPP's priorities (src/vnet/fib/fib_source.h).
var fibSourceLabels = map[source]fib.FibSource{
	sourceSpecial:   {Priority: 0x00, Name: "special"},
	sourceInterface: {Priority: 0x03, Name: "interface"},
	sourceAPI:       {Priority: 0x80, Name: "API"},
	9:               {Priority: 0x81, Name: "CLI"},
	sourceDHCP:      {Priority: 0xb0, Name: "DHCP"},
	sourceAdjacency: {Priority: 0xd0, Name: "adjacency"},
	sourceDefault:   {Priority: 0xfd, Name: "default-route"},
}

// fibSourceDump lists the sources that the model has, by number. VPP has more.
func fibSourceDump() []api.Message {
	var out []api.Message
	for _, id := range slices.Sorted(maps.Keys(fibSourceLabels)) {
		s := fibSourceLabels[id]
		s.ID = uint8(id)
		out = append(out, &fib.FibSourceDetails{Src: s})
	}
	return out
}
