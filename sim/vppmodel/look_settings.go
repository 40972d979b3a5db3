package vppmodel

// NATSettings are after how many seconds without a packet sessions of NAT44-ED end, and how many there may be.
type NATSettings struct {
	UDP, TCPEstablished, TCPTransitory, ICMP uint32
	Sessions                                 uint32
}

// NATSettings returns them; false while the plugin is off.
func (v *VPP) NATSettings() (NATSettings, bool) {
	t := v.nat.timeouts
	return NATSettings{UDP: t.UDP, TCPEstablished: t.TCPEstablished, TCPTransitory: t.TCPTransitory, ICMP: t.ICMP, Sessions: v.nat.sessions}, v.nat.on
}

// NeighborSettings are after how many seconds dynamic neighbors of a family are probed, 0 for never, and how many there
// may be.
func (v *VPP) NeighborSettings(ip6 bool) (age, most uint32) {
	l := v.neighborLimits[familyOf(ip6)]
	return l.age, l.number
}

// Rings are the sizes of a tap's rings; false for what is no tap.
func (v *VPP) Rings(at uint32) (rx, tx uint16, isTap bool) {
	i := v.at(at)
	if i == nil {
		return 0, 0, false
	}
	t, isTap := i.device.(*tap)
	if !isTap {
		return 0, 0, false
	}
	return ringSize(t.rx), ringSize(t.tx), true
}

// LeaseHostname is what an interface's DHCP client calls its host; false where there is no client.
func (v *VPP) LeaseHostname(at uint32) (string, bool) {
	c := v.dhcp[at]
	if c == nil {
		return "", false
	}
	return c.config.Hostname, true
}
