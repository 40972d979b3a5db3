package fact

// Counts are numbers of requests of one program. Counted carries the increments.
type Counts struct {
	// VPPCalls and LinuxCalls are dataplane calls of agents, StoreOps requests to the store, JournalBytes bytes written to
	// journals.
	VPPCalls, LinuxCalls, StoreOps, JournalBytes int64
	// Writes are the dataplane calls that change something.
	Writes int64
	// APIWrites are writes to the IPAM system's state, Faults operations that an injector changed.
	APIWrites, Faults int64
	// LostReplies are executed dataplane calls whose reply an injector dropped.
	LostReplies int64
}

// Minus is the difference to before.
func (c Counts) Minus(before Counts) Counts {
	return Counts{c.VPPCalls - before.VPPCalls, c.LinuxCalls - before.LinuxCalls, c.StoreOps - before.StoreOps,
		c.JournalBytes - before.JournalBytes, c.Writes - before.Writes, c.APIWrites - before.APIWrites, c.Faults - before.Faults, c.LostReplies - before.LostReplies}
}
