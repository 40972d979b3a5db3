package agent

import "net/netip"

// What tests of promises look at and nobody else may.

// JournalSeq is the number of the last Persist; JournalVerified reports whether what the disk holds is certain.
func (a *Agent) JournalSeq() uint64    { return a.journal.seq }
func (a *Agent) JournalVerified() bool { return !a.journal.unverified }

// Snapshot is the shortest journal that gives this state again.
func (a *Agent) Snapshot() []Record { return a.snapshot() }

// ActiveBlocks are the blocks that addresses are given out from; Usable reports whether any are.
func (a *Agent) ActiveBlocks() []netip.Prefix { return a.activeBlocks() }
func (a *Agent) Usable() bool                 { return a.ids.Usable() }

// PlanOf is the plan that ranges amount to.
var PlanOf = planOf

// OwnSpecOf is what a configuration says of its own node.
func OwnSpecOf(c *Config) (nic string, address netip.Prefix, gateway netip.Addr, dhcp bool) {
	s := c.ownSpec()
	return s.nic, s.address, s.gateway, s.dhcp
}
