package parity

// Packets are the probes of a model.
func Packets(s Subject) []Packet { return packets(s.(model).VPP) }

// CrashReport is what VPP's output says of its end.
var CrashReport = crashReport
