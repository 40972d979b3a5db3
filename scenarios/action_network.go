package scenarios

import "time"

// Partition cuts the control-plane connection between two ends for For, or until Heal.
type Partition struct {
	Between [2]Endpoint `yaml:"between" required:"true" doc:"The two ends: a node, any, api or store."`
	// OneWay cuts only what goes from the first end to the second: requests arrive nowhere while deliveries still come.
	OneWay bool          `yaml:"oneWay" doc:"Only from the first end to the second."`
	For    time.Duration `yaml:"for" doc:"How long; until everything is healed when absent."`
}

// SlowLink makes messages between two ends late, lost or double for For, or until Heal.
type SlowLink struct {
	Between   [2]Endpoint   `yaml:"between" required:"true" doc:"The two ends: a node, any, api or store."`
	Delay     time.Duration `yaml:"delay" doc:"Each message takes up to this much longer."`
	Loss      float64       `yaml:"loss" min:"0" max:"1" doc:"Probability that a message is lost."`
	Duplicate float64       `yaml:"duplicate" min:"0" max:"1" doc:"Probability that a message comes twice."`
	For       time.Duration `yaml:"for" doc:"How long; until everything is healed when absent."`
}

// ClaimAddress puts somebody who is no node on the wire between the nodes, who says each second, by ARP requests to the other nodes, that
// Node's address has his MAC: a second machine with one address, a clone of a virtual machine, a spoofer.
type ClaimAddress struct {
	Node NodeRef       `yaml:"node" doc:"The node whose address is claimed."`
	For  time.Duration `yaml:"for" doc:"How long; until everything is healed when absent."`
}

func (ClaimAddress) Verb() string { return "claim-address" }

func (a ClaimAddress) String() string { return actionLine(a) }

// Lasts is how long the address is claimed, 0 until Heal.
func (a ClaimAddress) Lasts() time.Duration { return a.For }

func (Partition) Verb() string { return "partition" }
func (SlowLink) Verb() string  { return "slow-link" }

func (a Partition) String() string { return actionLine(a) }
func (a SlowLink) String() string  { return actionLine(a) }

// Lasts is how long the ends are apart, 0 until Heal.
func (a Partition) Lasts() time.Duration { return a.For }

// Lasts is how long the connection is bad, 0 until Heal.
func (a SlowLink) Lasts() time.Duration { return a.For }

func (a Partition) problem() (field, message string) { return endsProblem(a.Between) }

func (a SlowLink) problem() (field, message string) {
	if a.Delay == 0 && a.Loss == 0 && a.Duplicate == 0 {
		return "", "wants at least one of delay, loss and duplicate"
	}
	return endsProblem(a.Between)
}

func endsProblem(ends [2]Endpoint) (field, message string) {
	if ends[0] == ends[1] {
		return "between", "wants two different ends"
	}
	return "", ""
}
