package mode

// Around is what is known of nodes before there is one. A fact that nobody knows is true: the node may have it.
type Around struct {
	// NIC: some node's VPP has a physical interface. Gateway: some node is given a default gateway, be it its own.
	NIC, Gateway bool
}

// Idle is a field of Config that is set and changes nothing beside the other ones.
type Idle struct {
	// Field is its name in Config; External is NAT's.
	Field string
	// Why ends a sentence that begins with the setting's name.
	Why string
}

// Idle lists the fields that are set and change nothing, in the order of Config: what reads settings refuses them by
// name. The pods' and hosts' ways of wiring say themselves what they use.
func (c Config) Idle(at Around) (list []Idle) {
	add := func(field string, idle bool, why string) {
		if idle {
			list = append(list, Idle{field, why})
		}
	}
	const noTap = "is of taps, and neither pods nor host have one"
	taps := c.Pod == PodTap || c.Host == HostTap
	add("RxRing", c.RxRing != 0 && !taps && c.MemifFolder == "", noTap)
	add("TxRing", c.TxRing != 0 && !taps, noTap)
	add("KeepOffload", c.KeepOffload && !c.hasVeth(), "is of veths, and neither pods nor host have one")
	add("StaleMinutes", c.StaleMinutes != 0 && !c.ScanNeighbors, "counts only where neighbors are scanned")
	switch {
	case !c.NAT.On || !c.NAT.External:
	case !c.Overlay():
		add("External", true, "hides nothing where nodes share a layer 2 segment: pods of other nodes are outside too")
	case !at.NIC:
		add("External", true, "hides nothing: without a physical interface nothing leaves VPP for the outside")
	case !at.Gateway:
		add("External", true, "hides nothing: no default gateway is given, and a leased one does not count")
	}
	return list
}

// hasVeth reports whether anything that VPP is joined to Linux by has checksum offload that AF_PACKET does not finish.
func (c Config) hasVeth() bool {
	return c.Pod != PodTap || c.Interconnected() && hostModes[c.Host].offload()
}
