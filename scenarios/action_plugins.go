package scenarios

import "time"

// CNICommand is a command of the CNI specification that a plugin can be killed under.
type CNICommand string

// PluginState is what a node keeps of its pods on its disk.
type PluginState string

// What is kept below /var/lib/cni.
const (
	// AllState is all of it, RuntimeState the results that the runtime's library keeps, PluginsState what plugins keep.
	AllState     PluginState = "all"
	RuntimeState PluginState = "results"
	PluginsState PluginState = "plugins"
)

// KillPlugin kills the CNI plugins of the next Command on Node before the Call-th system call that others could see.
type KillPlugin struct {
	Node    NodeRef    `yaml:"node" required:"true" doc:"The node."`
	Command CNICommand `yaml:"command" required:"true" enum:"ADD,DEL,CHECK,GC" doc:"The command under way."`
	Call    int        `yaml:"call" required:"true" min:"1" max:"1000000" doc:"The number of the call, counted through all plugins of the chain and all that they start."`
	// Alone is what the kernel does that is out of memory.
	Alone bool `yaml:"alone" doc:"Only the program that makes the call is killed, not those that it works for."`
}

// KillRuntime kills container runtime and kubelet: plugins go on, their answers are lost, the rest of their chain never
// runs. For later, or at Heal, both start again and disconnect what they do not know the end of.
type KillRuntime struct {
	Node NodeRef       `yaml:"node" required:"true" doc:"The node."`
	For  time.Duration `yaml:"for" doc:"How long it is down; until everything is healed when absent."`
}

// FillDisk leaves no byte on the disk where a node's plugins and runtime keep their state.
type FillDisk struct {
	Node NodeRef       `yaml:"node" required:"true" doc:"The node."`
	For  time.Duration `yaml:"for" doc:"How long it is full; until everything is healed when absent."`
}

// LoseState removes what plugins and runtime have written below /var/lib/cni.
type LoseState struct {
	Node NodeRef     `yaml:"node" required:"true" doc:"The node."`
	What PluginState `yaml:"what" enum:"all,results,plugins" doc:"All of it, the runtime's cached results, or what plugins keep."`
}

// Verb implements Action.
func (KillPlugin) Verb() string  { return "kill-plugin" }
func (KillRuntime) Verb() string { return "kill-runtime" }
func (FillDisk) Verb() string    { return "fill-disk" }
func (LoseState) Verb() string   { return "lose-state" }

func (a KillPlugin) String() string  { return actionLine(a) }
func (a KillRuntime) String() string { return actionLine(a) }
func (a FillDisk) String() string    { return actionLine(a) }
func (a LoseState) String() string   { return actionLine(a) }

// Lasts is how long the runtime is down, 0 until Heal.
func (a KillRuntime) Lasts() time.Duration { return a.For }

// Lasts is how long the disk is full, 0 until Heal.
func (a FillDisk) Lasts() time.Duration { return a.For }
