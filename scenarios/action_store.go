package scenarios

import "time"

// StopStore makes the store answer nothing for For, or until Heal. Requests that reached it before may have been done.
type StopStore struct {
	For time.Duration `yaml:"for" doc:"How long; until everything is healed when absent."`
}

// StopDHCP makes the DHCP server of the nodes' network answer nothing for For, or until Heal: leases are not renewed, and who needs one
// gets none.
type StopDHCP struct {
	For time.Duration `yaml:"for" doc:"How long; until everything is healed when absent."`
}

// WipeStore makes the store lose all its data, as when etcd's volume is deleted. Watches end.
type WipeStore struct{}

// CompactStore makes the store forget its history: watches that are behind end, and one from before is refused.
type CompactStore struct{}

// StopAPI makes the API server answer nothing for For, or until Heal.
type StopAPI struct {
	For time.Duration `yaml:"for" doc:"How long; until everything is healed when absent."`
}

// StaleWatch holds everything that Node's watches would deliver for For, then delivers it in order.
type StaleWatch struct {
	Node NodeRef       `yaml:"node" required:"true" doc:"The node."`
	For  time.Duration `yaml:"for" doc:"How long; until everything is healed when absent."`
}

// GapWatch ends Node's watches with "revision compacted": what happened meanwhile is seen only by listing again.
type GapWatch struct {
	Node NodeRef `yaml:"node" required:"true" doc:"The node."`
}

// DuplicateWatch delivers the last Count changes to Node once more.
type DuplicateWatch struct {
	Node  NodeRef `yaml:"node" required:"true" doc:"The node."`
	Count int     `yaml:"count" min:"1" max:"1000" doc:"How many changes."`
}

func (StopStore) Verb() string      { return "stop-store" }
func (StopDHCP) Verb() string       { return "stop-dhcp" }
func (WipeStore) Verb() string      { return "wipe-store" }
func (CompactStore) Verb() string   { return "compact-store" }
func (StopAPI) Verb() string        { return "stop-api" }
func (StaleWatch) Verb() string     { return "stale-watch" }
func (GapWatch) Verb() string       { return "gap-watch" }
func (DuplicateWatch) Verb() string { return "duplicate-watch" }

func (a StopStore) String() string      { return actionLine(a) }
func (a StopDHCP) String() string       { return actionLine(a) }
func (a WipeStore) String() string      { return actionLine(a) }
func (a CompactStore) String() string   { return actionLine(a) }
func (a StopAPI) String() string        { return actionLine(a) }
func (a StaleWatch) String() string     { return actionLine(a) }
func (a GapWatch) String() string       { return actionLine(a) }
func (a DuplicateWatch) String() string { return actionLine(a) }

// Lasts is how long the store is silent, 0 until Heal.
func (a StopStore) Lasts() time.Duration { return a.For }

// Lasts is how long the API server is silent, 0 until Heal.
func (a StopAPI) Lasts() time.Duration { return a.For }

// Lasts is how long deliveries are held, 0 until Heal.
func (a StaleWatch) Lasts() time.Duration { return a.For }
