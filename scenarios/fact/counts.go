package fact

// Counts are what somebody asked of others. Counted carries how much was added to them.
type Counts struct {
	// VPPCalls and LinuxCalls are dataplane calls of agents, StoreOps requests to the store, JournalBytes what journals were given.
	VPPCalls, LinuxCalls, StoreOps, JournalBytes int64
	// Writes are those of the dataplane calls that change something.
	Writes int64
	// APIWrites are writes to what the address management keeps its state in, Faults operations that an injector changed.
	APIWrites, Faults int64
	// LostReplies are dataplane calls that were carried out and whose reply an injector lost.
	LostReplies int64
}

// Minus is what was added since before.
func (c Counts) Minus(before Counts) Counts {
	return Counts{c.VPPCalls - before.VPPCalls, c.LinuxCalls - before.LinuxCalls, c.StoreOps - before.StoreOps,
		c.JournalBytes - before.JournalBytes, c.Writes - before.Writes, c.APIWrites - before.APIWrites, c.Faults - before.Faults, c.LostReplies - before.LostReplies}
}
