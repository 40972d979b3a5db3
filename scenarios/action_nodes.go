package scenarios

import "time"

// AddNode makes Count new machines join; without a Name they take the next numbers that no node ever had.
type AddNode struct {
	Name  string `yaml:"name" pattern:"node" doc:"The new node's name; the next free node-N when absent."`
	Count int    `yaml:"count" min:"1" max:"5000" doc:"How many nodes join."`
}

// RemoveNode deletes the Node object; the machine and everything on it is gone. With Finalizer the object has a deletionTimestamp first and
// stays that long, as behind a finalizer of whoever owns the machine; machine and pods go on, and the node's pod CIDR is still its own.
type RemoveNode struct {
	Node      NodeRef       `yaml:"node" required:"true" doc:"The node."`
	Finalizer time.Duration `yaml:"finalizer" doc:"How long a finalizer keeps the deleted Node object, and machine and pods with it; not at all when absent."`
}

// UnregisterNode deletes the Node object alone, as kubectl delete node does; the machine, its VPP, agent, kubelet and pods go on. After For,
// or at Heal, its kubelet registers it anew: another UID, and where something assigns pod CIDRs to Node objects none yet.
type UnregisterNode struct {
	Node NodeRef       `yaml:"node" required:"true" doc:"The node."`
	For  time.Duration `yaml:"for" doc:"How long until the kubelet registers it anew; until everything is healed when absent. Kubernetes collects its pods after 40s without a Node object."`
}

// RenameNode takes the power from a machine, which boots again under another name, with its disk: a renamed host, or a kubelet with another
// --hostname-override. Its kubelet registers a Node object of that name, and knows no pod of the former one. The former object stays for
// Leaves, which is as long as nobody deletes it.
type RenameNode struct {
	Node   NodeRef       `yaml:"node" required:"true" doc:"The node."`
	As     string        `yaml:"as" required:"true" pattern:"node" doc:"The name under which it comes back; no node may have had it before."`
	Leaves time.Duration `yaml:"leaves" doc:"How long the Node object of the former name stays; until the machine has booted when absent."`
}

// CrashNode takes the power from a machine: pods and VPP's state are gone, what was synced to the disk stays. It starts
// again after For, or at Heal.
type CrashNode struct {
	Node NodeRef       `yaml:"node" required:"true" doc:"The node."`
	For  time.Duration `yaml:"for" doc:"How long it is down; until everything is healed when absent."`
}

// CrashDisk takes the power from a machine, which may lose any of the last writes that were not synced; it boots again.
type CrashDisk struct {
	Node NodeRef `yaml:"node" required:"true" doc:"The node."`
}

// RebootNode reboots a machine in order: pods and VPP's state are gone, every write reaches the disk.
type RebootNode struct {
	Node NodeRef `yaml:"node" required:"true" doc:"The node."`
}

// RecreateNode removes a node and joins a new machine under the same name: another UID, an empty disk.
type RecreateNode struct {
	Node NodeRef `yaml:"node" required:"true" doc:"The node."`
}

// RollNodes re-creates every node that exists when it starts, Count of them every Every, in name order.
type RollNodes struct {
	Every time.Duration `yaml:"every" doc:"Time between two batches."`
	Count int           `yaml:"count" min:"1" max:"5000" doc:"Nodes per batch."`
}

func (AddNode) Verb() string        { return "add-node" }
func (RemoveNode) Verb() string     { return "remove-node" }
func (UnregisterNode) Verb() string { return "unregister-node" }
func (RenameNode) Verb() string     { return "rename-node" }
func (CrashNode) Verb() string      { return "crash-node" }
func (CrashDisk) Verb() string      { return "crash-disk" }
func (RebootNode) Verb() string     { return "reboot-node" }
func (RecreateNode) Verb() string   { return "recreate-node" }
func (RollNodes) Verb() string      { return "roll-nodes" }

func (a AddNode) String() string        { return actionLine(a) }
func (a RemoveNode) String() string     { return actionLine(a) }
func (a UnregisterNode) String() string { return actionLine(a) }
func (a RenameNode) String() string     { return actionLine(a) }
func (a CrashNode) String() string      { return actionLine(a) }
func (a CrashDisk) String() string      { return actionLine(a) }
func (a RebootNode) String() string     { return actionLine(a) }
func (a RecreateNode) String() string   { return actionLine(a) }
func (a RollNodes) String() string      { return actionLine(a) }

// Lasts is how long there is no Node object, 0 until Heal.
func (a UnregisterNode) Lasts() time.Duration { return a.For }

// Lasts is how long the machine is down, 0 until Heal.
func (a CrashNode) Lasts() time.Duration { return a.For }

func (a AddNode) problem() (field, message string) {
	if a.Name != "" && a.Count != 1 {
		return "count", "cannot be combined with name"
	}
	return "", ""
}

func (a RenameNode) problem() (field, message string) {
	switch a.Node {
	case AllNodes:
		return "node", "wants one: as is one name"
	case NodeRef(a.As):
		return "as", "is the name that the node has"
	}
	return "", ""
}

func (a RollNodes) problem() (field, message string) {
	if a.Every == 0 {
		return "every", "must be longer than 0s"
	}
	return "", ""
}
