package parity

// Packets are the probes of a model.
func Packets(s Subject) []Packet { return packets(s.(model).VPP) }

// Epitaph is what VPP's output says of its end.
var Epitaph = epitaph
