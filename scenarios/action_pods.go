package scenarios

import (
	"net/netip"
	"time"
)

// CreatePods creates Count pods on Node, or where the scheduler puts them when Node is empty.
type CreatePods struct {
	Count int     `yaml:"count" min:"1" max:"100000" doc:"How many; with node all, on each."`
	Node  NodeRef `yaml:"node" doc:"Where; the scheduler decides when absent."`
	App   string  `yaml:"app" pattern:"word" doc:"The application that the pods belong to."`
	Pool  string  `yaml:"pool" pattern:"word" doc:"The pool that their annotation names, Cilium's ipam.cilium.io/ip-pool or Calico's cni.projectcalico.org/ipv4pools or ipv6pools; with Cilium that of their namespace when absent."`
	// Addresses are what Multus' annotation, or IP of CNI_ARGS, ask for.
	Addresses []netip.Addr `yaml:"addresses" doc:"The address that each of them asks for, one of a family; any when absent."`
	// Interface is a word of the pod's annotation vppdrill.github.io/pod-interface.
	Interface PodInterface `yaml:"interface" enum:"memif,memif-master" doc:"They bring a program with a network stack of its own, which connects to VPP by a memif as its slave or as its master; as config.wiring.pod says when absent. Needs config.wiring.memif."`
	// Static pods come from a node's own files: their sandboxes carry a UID that the API server does not know.
	Static bool `yaml:"static" doc:"Static pods, which the API server knows under another UID; they need a node."`
}

// PodInterface is how a pod asks to be connected; the zero one is as the node's wiring has it.
type PodInterface string

// DeletePods deletes Count pods, or all of them, or the one named Pod. Which ones is the chooser's decision.
type DeletePods struct {
	Count int     `yaml:"count" min:"0" max:"100000" doc:"How many; with node all, of each."`
	All   bool    `yaml:"all" doc:"All of them."`
	Node  NodeRef `yaml:"node" doc:"Only pods of this node."`
	App   string  `yaml:"app" pattern:"word" doc:"Only pods of this application."`
	Pod   string  `yaml:"pod" pattern:"pod" doc:"This pod, as namespace/name."`
	// Force is kubectl delete --force --grace-period=0; Again is what a StatefulSet's controller does next.
	Force bool `yaml:"force" doc:"Their objects go at once; the kubelets tear the sandboxes down afterwards."`
	Again bool `yaml:"again" doc:"With force: pods of the same names are created at once, on the same nodes."`
}

// ReplaceSandbox makes the container runtime replace the sandbox of Pod, or of Count pods of Node: DEL for the old
// container and ADD for a new one with the same pod UID, in no order that the agent could rely on.
type ReplaceSandbox struct {
	Pod   string  `yaml:"pod" pattern:"pod" doc:"This pod, as namespace/name."`
	Node  NodeRef `yaml:"node" doc:"Pods of this node."`
	Count int     `yaml:"count" min:"1" max:"100000" doc:"How many pods of the node."`
}

// LoseSandboxes makes the container runtime forget Count sandboxes of Node, as one that has lost its database does: their processes and
// namespaces are gone, and no DEL ever comes for them. With Gone their pods' objects go as well, else the pods get new sandboxes. A runtime
// sends GC a minute later, which is the first that an agent hears of it; with SameID the new sandbox's ADD is.
type LoseSandboxes struct {
	Node  NodeRef `yaml:"node" required:"true" doc:"The node."`
	Count int     `yaml:"count" min:"1" max:"100000" doc:"How many sandboxes."`
	Gone  bool    `yaml:"gone" doc:"Their pods' objects are gone as well."`
	// SameID is how nerdctl and podman start a container again.
	SameID bool `yaml:"sameID" doc:"The pods' new sandboxes have the IDs of the lost ones, and namespaces of their own."`
	// GC is NoGarbage for runtimes such as containerd before 2.0: then what the agent has of pods that are gone is a leak, which books-agree tells.
	GC Garbage `yaml:"gc" enum:"later,never" doc:"Whether the runtime sends GC afterwards; a minute later when absent."`
}

// Garbage is whether a runtime collects garbage.
type Garbage string

// The values of Garbage; the zero one is LaterGarbage.
const (
	LaterGarbage Garbage = "later"
	NoGarbage    Garbage = "never"
)

// RepeatDel makes the container runtime send DEL again for Count sandboxes of Node that were deleted before.
type RepeatDel struct {
	Node  NodeRef `yaml:"node" required:"true" doc:"The node."`
	Count int     `yaml:"count" min:"1" max:"100000" doc:"How many sandboxes."`
}

// CheckPods makes the container runtime send CHECK for every pod of Node.
type CheckPods struct {
	Node NodeRef `yaml:"node" required:"true" doc:"The node."`
}

// PollStatus makes the container runtime send STATUS to Node's agent.
type PollStatus struct {
	Node NodeRef `yaml:"node" required:"true" doc:"The node."`
}

// GC makes the container runtime send GC with the attachments that are valid on Node when it makes its list, Age before it sends it.
type GC struct {
	Node NodeRef       `yaml:"node" required:"true" doc:"The node."`
	Age  time.Duration `yaml:"age" doc:"How old the list is when it is sent."`
	// Other is what a runtime with a second network configuration sends for that one, as libcni's GC does: each network has a list of its own.
	Other bool `yaml:"other" doc:"For another network, which has no attachment on the node: nothing may go."`
}

func (CreatePods) Verb() string     { return "create-pods" }
func (DeletePods) Verb() string     { return "delete-pods" }
func (ReplaceSandbox) Verb() string { return "replace-sandbox" }
func (LoseSandboxes) Verb() string  { return "lose-sandboxes" }
func (RepeatDel) Verb() string      { return "repeat-del" }
func (CheckPods) Verb() string      { return "check-pods" }
func (PollStatus) Verb() string     { return "poll-status" }
func (GC) Verb() string             { return "gc" }

func (a CreatePods) String() string     { return actionLine(a) }
func (a DeletePods) String() string     { return actionLine(a) }
func (a ReplaceSandbox) String() string { return actionLine(a) }
func (a LoseSandboxes) String() string  { return actionLine(a) }
func (a RepeatDel) String() string      { return actionLine(a) }
func (a CheckPods) String() string      { return actionLine(a) }
func (a PollStatus) String() string     { return actionLine(a) }
func (a GC) String() string             { return actionLine(a) }

func (a DeletePods) problem() (field, message string) {
	chosen := 0
	for _, set := range [...]bool{a.Count > 0, a.All, a.Pod != ""} {
		if set {
			chosen++
		}
	}
	switch {
	case chosen != 1:
		return "", "wants exactly one of count, all and pod"
	case a.Pod != "" && (a.Node != "" || a.App != ""):
		return "pod", "cannot be combined with node or app"
	case a.Again && !a.Force:
		return "again", "needs force: while an object is there, nobody can create another of its name"
	}
	return "", ""
}

func (a LoseSandboxes) problem() (field, message string) {
	if a.SameID && a.Gone {
		return "sameID", "cannot be combined with gone: those pods get no new sandbox"
	}
	return "", ""
}

func (a CreatePods) problem() (field, message string) {
	switch {
	case a.Static && a.Node == "":
		return "static", "needs a node: no scheduler places static pods"
	case len(a.Addresses) > 2 || len(a.Addresses) == 2 && a.Addresses[0].Is4() == a.Addresses[1].Is4():
		return "addresses", "wants one address of a family: a pod's interface has no more"
	}
	return "", ""
}

func (a ReplaceSandbox) problem() (field, message string) {
	switch {
	case (a.Pod != "") == (a.Node != ""):
		return "", "wants exactly one of pod and node"
	case a.Pod != "" && a.Count != 1:
		return "count", "cannot be combined with pod"
	}
	return "", ""
}
