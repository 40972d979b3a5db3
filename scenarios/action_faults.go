package scenarios

import "time"

// Inject adds a fault for For, or until Heal.
type Inject struct {
	// Fault is an s-expression of the fault language, such as (Nth 1 (Request tap_create_v3 Mute)). The world reads it.
	Fault string        `yaml:"fault" required:"true" pattern:"fault" doc:"The fault as an s-expression, such as (Nth 1 (Request tap_create_v3 Mute))."`
	Node  NodeRef       `yaml:"node" doc:"Only on this node; everywhere when absent."`
	For   time.Duration `yaml:"for" doc:"How long; until everything is healed when absent."`
}

// Settle waits until the cluster is quiet, at most Limits.Settle. Run does it with World.Settle; worlds never see it.
type Settle struct{}

// Heal ends every fault now. Run does it with World.Heal; worlds never see it.
type Heal struct{}

func (Inject) Verb() string { return "inject" }
func (Settle) Verb() string { return "settle" }
func (Heal) Verb() string   { return "heal" }

func (a Inject) String() string { return actionLine(a) }
func (a Settle) String() string { return actionLine(a) }
func (a Heal) String() string   { return actionLine(a) }

// Lasts is how long the fault is active, 0 until Heal.
func (a Inject) Lasts() time.Duration { return a.For }
