package scenarios

// CordonNode makes a node unschedulable until it is uncordoned, leaves, or everything is healed. Its pods stay, and pods that name it come.
type CordonNode struct {
	Node NodeRef `yaml:"node" required:"true" doc:"The node, one that is not cordoned."`
}

// UncordonNode makes a cordoned node schedulable again.
type UncordonNode struct {
	Node NodeRef `yaml:"node" required:"true" doc:"The node, one that is cordoned."`
}

// DrainNode cordons a node and evicts its pods. The topology's pods stay, as those of a DaemonSet do, and static ones; of every other pod
// there is at once another one, of another name, for the scheduler to place. One that no schedulable node could take has no node and is nobody's:
// no law counts it as served or as wrong, the run's summary says that it never got a node, and a cluster may be quiet while it waits.
type DrainNode struct {
	Node NodeRef `yaml:"node" required:"true" doc:"The node, cordoned or not."`
}

func (CordonNode) Verb() string   { return "cordon-node" }
func (UncordonNode) Verb() string { return "uncordon-node" }
func (DrainNode) Verb() string    { return "drain-node" }

func (a CordonNode) String() string   { return actionLine(a) }
func (a UncordonNode) String() string { return actionLine(a) }
func (a DrainNode) String() string    { return actionLine(a) }
