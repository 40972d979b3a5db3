package scenarios

import (
	"reflect"
	"time"
)

// Action is one thing that a timeline does. Each is one of the types in action_*.go; each prints as one line
// ("restart-vpp node=node-2") that ParseAction reads back. Actions are values: compare their types in a switch.
//
// To add one: declare its struct with a yaml tag for each argument, its two methods, and its line in actionKinds.
type Action interface {
	// Verb is the action's name in scenario files.
	Verb() string
	String() string
}

// Lasting is an action that goes on until its time is over or everything is healed.
type Lasting interface {
	Action
	// Lasts is how long it goes on; 0 means until Heal.
	Lasts() time.Duration
}

// NodeRef names the nodes that an action is for: a node's name, AllNodes or AnyNode.
type NodeRef string

const (
	// AllNodes are all nodes for which the action makes sense, in name order.
	AllNodes NodeRef = "all"
	// AnyNode is one node for which the action makes sense, chosen by the run's chooser.
	AnyNode NodeRef = "any"
)

// Endpoint is one end of a connection: a node's name, "any", APIServer or Store.
type Endpoint string

const (
	// APIServer is the cluster's API server: nodes, pods and configuration come from it.
	APIServer Endpoint = "api"
	// Store is the key-value store in which agents agree on node IDs.
	Store Endpoint = "store"
)

// actionKind is one verb: its action with every argument at its default, and what it does.
type actionKind struct {
	proto Action
	doc   string
}

// actionKinds lists every verb once, in the order of documentation.
var actionKinds = []actionKind{
	{CreatePods{Count: 1}, "Creates pods on a node, or where the scheduler puts them."},
	{DeletePods{}, "Deletes pods: some, all, or one by name."},
	{ReplaceSandbox{Count: 1}, "The container runtime replaces pods' sandboxes: DEL for the old container, ADD for a new one."},
	{LoseSandboxes{Count: 1}, "The container runtime forgets sandboxes: no DEL comes for them, but a GC a minute later, unless it never sends one."},
	{RepeatDel{Count: 1}, "The container runtime repeats DEL for sandboxes that are long gone."},
	{CheckPods{}, "The container runtime sends CHECK for every pod of a node."},
	{PollStatus{}, "The container runtime sends STATUS."},
	{GC{}, "The container runtime sends GC with the attachments that are still valid."},
	{BreakWiring{Count: 1}, "Somebody changes pods' wiring by hand, behind the agent's back."},

	{KillPlugin{}, "The plugins of the next CNI command are killed before a system call that others could see (--cni)."},
	{KillRuntime{}, "Container runtime and kubelet are killed and start again later; plugins that they have started go on meanwhile (--cni)."},
	{FillDisk{}, "The disk with the state of a node's plugins is full (--cni)."},
	{LoseState{What: AllState}, "What plugins and runtime keep below /var/lib/cni is lost (--cni)."},

	{AddNode{Count: 1}, "Nodes join."},
	{RemoveNode{}, "A node leaves: its object is deleted and its machine is gone."},
	{UnregisterNode{}, "A Node object is deleted while its machine lives; later its kubelet registers it anew, with another UID."},
	{RenameNode{}, "A machine reboots and comes back under another name, with its disk: as a Node object of its own, beside what is left of its former one."},
	{CrashNode{}, "A machine loses power; it comes back with its disk and without VPP's state and pods."},
	{CrashDisk{}, "A machine loses power, and perhaps the last writes that were not synced, and boots again."},
	{RebootNode{}, "A machine reboots in order: agents stop, unsynced writes reach the disk, pods die."},
	{RecreateNode{}, "A node leaves and a new machine joins under the same name with an empty disk."},
	{RollNodes{Every: time.Minute, Count: 1}, "Every node is re-created, one batch after the other."},
	{CordonNode{}, "The scheduler gives a node no pods any more, as after kubectl cordon."},
	{UncordonNode{}, "The scheduler gives a cordoned node pods again, as after kubectl uncordon."},
	{DrainNode{}, "A node is cordoned and its pods are evicted, as kubectl drain --ignore-daemonsets does; their workload makes them again elsewhere."},

	{KillAgent{}, "The agent's process is killed; it starts again later."},
	{RestartAgent{}, "The agent's process is killed and started again."},
	{ChangeVersion{Version: Present}, "The agent is ended, and another version of it is started: upgrade and downgrade."},
	{KillVPP{}, "VPP's process is killed; it starts again, empty, later."},
	{RestartVPP{}, "VPP's process is killed and started again, empty."},
	{RestartBoth{}, "Agent and VPP are killed and started again."},
	{PauseAgent{}, "The agent's process stands still and goes on later, as after SIGSTOP and SIGCONT."},
	{PauseVPP{}, "VPP's process stands still and goes on later."},
	{PauseKubelet{}, "The kubelet's process stands still and goes on later; plugins that it has started go on meanwhile."},
	{SetClock{}, "The wall clock of a node's machine is set ahead or back."},

	{StopStore{}, "The store answers nothing."},
	{StopDHCP{}, "The DHCP server of the nodes' network answers nothing."},
	{WipeStore{}, "The store loses all its data."},
	{CompactStore{}, "The store forgets its history; watches that are behind are lost."},
	{StopAPI{}, "The API server answers nothing; behind it, as its cache for watches is empty, everybody lists anew."},
	{StaleWatch{}, "A node's watches deliver nothing new and then all that was missed, in order."},
	{GapWatch{}, "A node's watches lose their place (revision compacted); the node lists again."},
	{DuplicateWatch{Count: 1}, "A node's watches deliver the last changes again."},

	{ChangeCIDR{}, "The administrator changes the cluster's address plan."},
	{AddRange{}, "The controller of nodes' pod ranges gets another range (cilium, nodeipam, datastore)."},
	{RemoveRange{}, "The controller of nodes' pod ranges loses a range; nodes keep what they have of it."},
	{RestartController{}, "The leading controller of nodes' pod ranges ends, and is started again, with other ranges or another block length where given."},
	{LoseLeader{Pause: 30 * time.Second}, "The leading controller of nodes' pod ranges is cut off, and another one takes over."},
	{SetPodCIDR{}, "A Node object gets another pod range (external IPAM)."},
	{ChangeNodeAddress{}, "A node's interconnect address changes (DHCP, operator)."},
	{ChangeManagement{}, "A node's management addresses change."},

	{ChangeService{}, "A service is created or changed."},
	{RemoveService{}, "A service is deleted."},
	{SetReady{}, "Pods pass or fail their readiness probes from now on."},

	{ChangePolicy{}, "A network policy is created or changed."},
	{RemovePolicy{}, "A network policy is deleted."},
	{LabelPods{}, "Pods get other labels."},
	{LabelNamespace{}, "The pods' namespace gets other labels."},

	{ClaimAddress{}, "A stranger on the wire between the nodes says each second that a node's address has its MAC; what VPPs learn of it stays when it is gone, until they probe their neighbors (config.wiring.neighborAge)."},
	{Partition{}, "Two ends do not reach each other."},
	{SlowLink{}, "Messages between two ends take longer, get lost or come twice."},

	{Inject{}, "Injects a fault given as an s-expression."},
	{Settle{}, "Waits until the cluster is quiet."},
	{Heal{}, "Ends every fault now."},
}

// Verbs lists every verb in the order of documentation.
func Verbs() []string {
	verbs := make([]string, len(actionKinds))
	for i, kind := range actionKinds {
		verbs[i] = kind.proto.Verb()
	}
	return verbs
}

// findAction returns the kind of a verb.
func findAction(verb string) (actionKind, bool) {
	for _, kind := range actionKinds {
		if kind.proto.Verb() == verb {
			return kind, true
		}
	}
	return actionKind{}, false
}

// blank returns an addressable copy of the kind's prototype.
func (k actionKind) blank() reflect.Value {
	v := reflect.New(reflect.TypeOf(k.proto)).Elem()
	v.Set(reflect.ValueOf(k.proto))
	return v
}
