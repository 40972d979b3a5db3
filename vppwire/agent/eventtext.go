package agent

import "strconv"

// The canonical line of each event: its name, then what it carries. Lines are one-way; what has to be read back
// (records, node infos) has a parser of its own.

// AppendText implements Event.
func (e PodAdd) AppendText(b []byte) []byte {
	l := line(b).word("pod-add").uint("request", e.Request).sandbox(e.Sandbox).addr("addr", e.External).addr("second", e.ExternalSecond)
	return l.addrs("wants", e.Wanted)
}

// AppendText implements Event.
func (e PodDel) AppendText(b []byte) []byte {
	return line(b).word("pod-del").uint("request", e.Request).owner(e.Owner)
}

// AppendText implements Event.
func (e PodCheck) AppendText(b []byte) []byte {
	return line(b).word("pod-check").uint("request", e.Request).owner(e.Owner).addr("addr", e.Addr)
}

// AppendText implements Event.
func (e PodGC) AppendText(b []byte) []byte {
	l := line(b).word("pod-gc").uint("request", e.Request).text("network", e.Network)
	for _, o := range e.Valid {
		l = l.owner(o)
	}
	return l
}

// AppendText implements Event.
func (e PodStatus) AppendText(b []byte) []byte {
	return line(b).word("pod-status").uint("request", e.Request)
}

// AppendText implements Event.
func (e Withdrawn) AppendText(b []byte) []byte {
	return line(b).word("withdrawn").uint("request", e.Request)
}

// AppendText implements Event.
func (e NodeSeen) AppendText(b []byte) []byte {
	l := line(b).word("node-seen").word(e.Name).word(e.UID).prefixes("pod-cidrs", e.PodCIDRs).addrs("addrs", e.Addresses)
	if e.Zone != "" {
		l = l.text("zone", e.Zone)
	}
	return l
}

// AppendText implements Event.
func (e NodeGone) AppendText(b []byte) []byte {
	return line(b).word("node-gone").word(e.Name).word(e.UID)
}

// AppendText implements Event.
func (e PodsListed) AppendText(b []byte) []byte {
	l := line(b).word("pods-listed").uint("count", uint64(len(e.UIDs)))
	for _, uid := range e.UIDs {
		l = l.word(uid)
	}
	return l
}

// AppendText implements Event.
func (NodesListed) AppendText(b []byte) []byte { return line(b).word("nodes-listed") }

// AppendText implements Event.
func (e ServiceSeen) AppendText(b []byte) []byte {
	s := &e.Service
	l := line(b).word("service-seen").word(s.Name.String()).addrs("cluster", s.ClusterIPs).addrs("external", s.ExternalIPs)
	for _, p := range s.Ports {
		l = l.text("port", p.Name).word(p.Proto.String()).uint("at", uint64(p.Port))
		if p.NodePort != 0 {
			l = l.uint("node-port", uint64(p.NodePort))
		}
	}
	if s.Affinity != 0 {
		l = l.uint("affinity", uint64(s.Affinity))
	}
	return l.flag("external-local", s.ExternalLocal).flag("internal-local", s.InternalLocal)
}

// AppendText implements Event.
func (e ServiceGone) AppendText(b []byte) []byte {
	return line(b).word("service-gone").word(e.Name.String())
}

// AppendText implements Event.
func (e EndpointsSeen) AppendText(b []byte) []byte {
	s := &e.Slice
	l := line(b).word("endpoints-seen").word(s.Name.String()).text("of", s.Service)
	for _, p := range s.Ports {
		l = l.text("port", p.Name).word(p.Proto.String()).uint("at", uint64(p.Port))
	}
	for _, p := range s.Endpoints {
		l = l.addr("endpoint", p.Addr).text("node", p.Node).flag("ready", p.Ready).flag("serving", p.Serving).flag("terminating", p.Terminating)
	}
	return l
}

// AppendText implements Event.
func (e EndpointsGone) AppendText(b []byte) []byte {
	return line(b).word("endpoints-gone").word(e.Name.String())
}

// AppendText implements Event.
func (e ServicesListed) AppendText(b []byte) []byte {
	return line(b).word("services-listed").names(e.Names)
}

// AppendText implements Event.
func (e EndpointsListed) AppendText(b []byte) []byte {
	return line(b).word("endpoints-listed").names(e.Names)
}

// AppendText implements Event.
func (e PolicySeen) AppendText(b []byte) []byte {
	return e.Policy.AppendText(append(line(b).word("policy-seen"), ' '))
}

// AppendText implements Event.
func (e PeerSeen) AppendText(b []byte) []byte {
	l := line(b).word("peer-seen").word(e.Pod.Name.String()).addrs("addrs", e.Pod.Addrs).labels(e.Pod.Labels)
	for _, p := range e.Pod.Ports {
		l = l.text("port", p.Name).word(p.Proto.String()).uint("at", uint64(p.Port))
	}
	return l
}

// AppendText implements Event.
func (e NamespaceSeen) AppendText(b []byte) []byte {
	return line(b).word("namespace-seen").word(e.Namespace.Name).labels(e.Namespace.Labels)
}

// AppendText implements Event.
func (e SelectableGone) AppendText(b []byte) []byte {
	return line(b).word(e.Kind.String() + "-gone").word(e.Name.String())
}

// AppendText implements Event.
func (e SelectablesListed) AppendText(b []byte) []byte {
	return line(b).word(e.Kind.String() + "-listed").names(e.Names)
}

// AppendText implements Event.
func (e PoolsChanged) AppendText(b []byte) []byte { return line(b).word("pools").pools(e.Pools) }

// AppendText implements Event.
func (e OwnAddress) AppendText(b []byte) []byte {
	return line(b).word("own-address").prefix("addr", e.Addr)
}

// AppendText implements Event.
func (e StoreReply) AppendText(b []byte) []byte {
	l := line(b).word("store-reply").uint("id", e.ID).word(e.Err.String()).int("revision", e.Revision)
	return l.items(e.Items)
}

// AppendText implements Event.
func (e StoreChanged) AppendText(b []byte) []byte {
	return line(b).word("store-changed").uint("watch", e.Watch).int("revision", e.Revision).items(e.Items)
}

// AppendText implements Event.
func (e StoreWatchLost) AppendText(b []byte) []byte {
	return line(b).word("store-watch-lost").uint("watch", e.Watch)
}

// AppendText implements Event.
func (e Persisted) AppendText(b []byte) []byte {
	return line(b).word("persisted").uint("seq", e.Seq).err(e.Err)
}

// AppendText implements Event.
func (e Called) AppendText(b []byte) []byte {
	l := line(b).word("called")
	if e.Result.Lost {
		return l.word("lost")
	}
	return l.err(e.Result.Err)
}

// AppendText implements Event.
func (e Hooked) AppendText(b []byte) []byte {
	return line(b).word("hooked").uint("id", e.ID).err(e.Err)
}

// AppendText implements Event.
func (Woke) AppendText(b []byte) []byte { return line(b).word("woke") }

// AppendText implements Event.
func (e VPPUp) AppendText(b []byte) []byte {
	l := line(b).word("vpp-up").uint("pid", uint64(e.PID)).text("version", e.Version)
	for _, nic := range e.NICs {
		l = l.text("nic", nic)
	}
	for _, plugin := range e.Without {
		l = l.text("without", plugin)
	}
	return l
}

// AppendText implements Event.
func (e VPPDown) AppendText(b []byte) []byte {
	l := line(b).word("vpp-down")
	if e.Silent {
		l = l.word("silent")
	}
	return l
}

// AppendText implements Event.
func (e Restored) AppendText(b []byte) []byte {
	return line(b).word("restored").text("boot", e.Boot).uint("records", uint64(len(e.Records)))
}

// AppendText implements Event.
func (e HostAddresses) AppendText(b []byte) []byte {
	return line(b).word("host-addresses").addrs("addrs", e.Addrs)
}

// items appends each item as "revision:key", or with its value where it has one.
func (l line) items(items []StoreItem) line {
	for _, i := range items {
		l = append(l, ' ')
		l = strconv.AppendInt(l, i.ModRevision, 10)
		l = append(l, ':')
		l = append(l, i.Key...)
		if i.Deleted {
			l = append(l, " deleted"...)
			continue
		}
		l = append(l, ' ')
		l = append(l, i.Value...)
	}
	return l
}

// AppendText implements Event.
func (e HostLinks) AppendText(b []byte) []byte {
	l := line(b).word("host-links")
	for _, k := range e.State.Links {
		l = l.prefixes(k.Name, k.Addrs)
	}
	return l
}

// AppendText implements Event.
func (ReturnNIC) AppendText(b []byte) []byte { return append(b, "return-nic"...) }

// AppendText implements Event.
func (e LinuxChanged) AppendText(b []byte) []byte {
	return line(b).word("linux-changed").uint("seq", e.Seq).err(e.Err)
}

func (PodAdd) event()            {}
func (PodDel) event()            {}
func (PodCheck) event()          {}
func (PodGC) event()             {}
func (PodStatus) event()         {}
func (Withdrawn) event()         {}
func (NodeSeen) event()          {}
func (NodeGone) event()          {}
func (PodsListed) event()        {}
func (NodesListed) event()       {}
func (ServiceSeen) event()       {}
func (ServiceGone) event()       {}
func (EndpointsSeen) event()     {}
func (EndpointsGone) event()     {}
func (ServicesListed) event()    {}
func (EndpointsListed) event()   {}
func (PolicySeen) event()        {}
func (PeerSeen) event()          {}
func (NamespaceSeen) event()     {}
func (SelectableGone) event()    {}
func (SelectablesListed) event() {}
func (PoolsChanged) event()      {}
func (OwnAddress) event()        {}
func (StoreReply) event()        {}
func (StoreChanged) event()      {}
func (StoreWatchLost) event()    {}
func (Persisted) event()         {}
func (Called) event()            {}
func (Hooked) event()            {}
func (Woke) event()              {}
func (VPPUp) event()             {}
func (VPPDown) event()           {}
func (Restored) event()          {}
func (HostAddresses) event()     {}
func (HostLinks) event()         {}
func (ReturnNIC) event()         {}
func (LinuxChanged) event()      {}
