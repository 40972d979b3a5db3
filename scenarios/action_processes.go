package scenarios

import "time"

// KillAgent kills the agent's process; it starts again after For, or at Heal. With ReturnNIC it is asked to end instead, as by --return-nic.
type KillAgent struct {
	Node NodeRef       `yaml:"node" required:"true" doc:"The node."`
	For  time.Duration `yaml:"for" doc:"How long it is down; until everything is healed when absent."`
	// ReturnNIC is for clusters whose hosts' NICs VPP takes.
	ReturnNIC bool `yaml:"returnNIC" doc:"It is asked to end, and gives its host the NIC back first that VPP has taken (config.wiring.stealNIC), as vppdrill agent --return-nic."`
}

// RestartAgent kills the agent's process and starts it again.
type RestartAgent struct {
	Node NodeRef `yaml:"node" required:"true" doc:"The node."`
}

// KillVPP kills VPP's process; it starts again, empty, after For, or at Heal.
type KillVPP struct {
	Node NodeRef       `yaml:"node" required:"true" doc:"The node."`
	For  time.Duration `yaml:"for" doc:"How long it is down; until everything is healed when absent."`
}

// RestartVPP kills VPP's process and starts it again, empty.
type RestartVPP struct {
	Node NodeRef `yaml:"node" required:"true" doc:"The node."`
}

// RestartBoth kills agent and VPP and starts both again, in no order that the agent could rely on.
type RestartBoth struct {
	Node NodeRef `yaml:"node" required:"true" doc:"The node."`
}

// PauseAgent stops the agent's process as SIGSTOP does; it goes on where it was after For, or at Heal.
type PauseAgent struct {
	Node NodeRef       `yaml:"node" required:"true" doc:"The node."`
	For  time.Duration `yaml:"for" doc:"How long it stands still; until everything is healed when absent."`
}

// PauseVPP stops VPP's process as SIGSTOP does; it goes on where it was after For, or at Heal.
type PauseVPP struct {
	Node NodeRef       `yaml:"node" required:"true" doc:"The node."`
	For  time.Duration `yaml:"for" doc:"How long it stands still; until everything is healed when absent."`
}

// PauseKubelet stops the kubelet's process as SIGSTOP does; it goes on where it was after For, or at Heal. CNI plugins that it has started
// go on meanwhile.
type PauseKubelet struct {
	Node NodeRef       `yaml:"node" required:"true" doc:"The node."`
	For  time.Duration `yaml:"for" doc:"How long it stands still; until everything is healed when absent."`
}

func (PauseAgent) Verb() string   { return "pause-agent" }
func (PauseVPP) Verb() string     { return "pause-vpp" }
func (PauseKubelet) Verb() string { return "pause-kubelet" }

func (a PauseAgent) String() string   { return actionLine(a) }
func (a PauseVPP) String() string     { return actionLine(a) }
func (a PauseKubelet) String() string { return actionLine(a) }

// Lasts is how long the agent stands still, 0 until Heal.
func (a PauseAgent) Lasts() time.Duration { return a.For }

// Lasts is how long VPP stands still, 0 until Heal.
func (a PauseVPP) Lasts() time.Duration { return a.For }

// Lasts is how long the kubelet stands still, 0 until Heal.
func (a PauseKubelet) Lasts() time.Duration { return a.For }

// AgentVersion is which version of the agent a node runs, as seen from the one that is tested.
type AgentVersion string

// The versions.
const (
	// Present is the one that is tested.
	Present AgentVersion = "present"
	// Next writes what the present one does, and lines and fields that the present one may leave out.
	Next AgentVersion = "next"
	// Breaking writes journals that need a newer reader than the present one is.
	Breaking AgentVersion = "breaking"
)

// ChangeVersion ends a node's agent and starts another version of it on the same journal.
type ChangeVersion struct {
	Node    NodeRef       `yaml:"node" required:"true" doc:"The node."`
	Version AgentVersion  `yaml:"version" enum:"present,next,breaking" doc:"The version: the tested one, one whose additions the tested one may leave out, or one whose journals it must refuse."`
	Every   time.Duration `yaml:"every" doc:"Time between one node and the next; all at once when absent."`
}

// LoseLeader cuts the leader of the IPAM system's controllers off without its knowing: what it asks for from then on arrives
// only after Pause. Another one leads once the leader's lease has run out. Asleep, its process stands still instead, as of a machine that is suspended.
type LoseLeader struct {
	Pause time.Duration `yaml:"pause" doc:"How long the old leader's requests are on their way; 30s when absent."`
	// Within lets them arrive earlier, among the next leader's own.
	Within bool `yaml:"withinTakeover" doc:"The late requests arrive between the first requests of the next leader, one at each."`
	// Asleep is longer than the lease: a shorter one changes nobody.
	Asleep bool `yaml:"asleep" doc:"The old leader's process stands still for the pause, 20s or more, and goes on before it hears that it leads no more."`
}

// leaderSleepLeast is until another one leads, and a little more: a lease of 15 s, 2 s between two looks at it.
const leaderSleepLeast = 20 * time.Second

func (LoseLeader) Verb() string     { return "lose-leader" }
func (a LoseLeader) String() string { return actionLine(a) }

func (ChangeVersion) Verb() string     { return "change-version" }
func (a ChangeVersion) String() string { return actionLine(a) }

func (KillAgent) Verb() string    { return "kill-agent" }
func (RestartAgent) Verb() string { return "restart-agent" }
func (KillVPP) Verb() string      { return "kill-vpp" }
func (RestartVPP) Verb() string   { return "restart-vpp" }
func (RestartBoth) Verb() string  { return "restart-both" }

func (a KillAgent) String() string    { return actionLine(a) }
func (a RestartAgent) String() string { return actionLine(a) }
func (a KillVPP) String() string      { return actionLine(a) }
func (a RestartVPP) String() string   { return actionLine(a) }
func (a RestartBoth) String() string  { return actionLine(a) }

// Lasts is how long the agent is down, 0 until Heal.
func (a KillAgent) Lasts() time.Duration { return a.For }

// Lasts is how long VPP is down, 0 until Heal.
func (a KillVPP) Lasts() time.Duration { return a.For }
