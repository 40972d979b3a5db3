package scenarios

// Breakage is how a pod's wiring is broken by hand.
type Breakage string

// Breakages: on the pod's side of Linux, and in VPP.
const (
	// BreakLink takes the pod's interface down, BreakAddress its address away, BreakRoute its default route.
	BreakLink    Breakage = "link"
	BreakAddress Breakage = "address"
	BreakRoute   Breakage = "route"
	// BreakNamespace takes the whole namespace away.
	BreakNamespace Breakage = "namespace"
	// BreakVPPInterface takes VPP's interface to the pod down, BreakVPPRoute its route to the pod away.
	BreakVPPInterface Breakage = "vpp-interface"
	BreakVPPRoute     Breakage = "vpp-route"
	// BreakTrunk deletes the link whose macvlans are the interfaces of all pods of the node, and those with it.
	BreakTrunk Breakage = "trunk"
)

// Breakages lists them all. The slice is the caller's.
func Breakages() []Breakage {
	return []Breakage{BreakLink, BreakAddress, BreakRoute, BreakNamespace, BreakVPPInterface, BreakVPPRoute, BreakTrunk}
}

// BreakWiring changes the wiring of Pod, or of Count pods of Node, behind the agent's back. When everything is healed the runtime
// sends CHECK for what is still broken, and replaces sandboxes without a namespace.
type BreakWiring struct {
	What  Breakage `yaml:"what" required:"true" enum:"link,address,route,namespace,vpp-interface,vpp-route,trunk" doc:"What is broken."`
	Pod   string   `yaml:"pod" pattern:"pod" doc:"This pod, as namespace/name."`
	Node  NodeRef  `yaml:"node" doc:"Pods of this node."`
	Count int      `yaml:"count" min:"1" max:"100000" doc:"How many pods of the node."`
}

// Verb implements Action.
func (BreakWiring) Verb() string { return "break-wiring" }

func (a BreakWiring) String() string { return actionLine(a) }

func (a BreakWiring) problem() (field, message string) {
	return ReplaceSandbox{Pod: a.Pod, Node: a.Node, Count: a.Count}.problem()
}
