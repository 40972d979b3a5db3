package fact

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Asked says that a CNI request has reached the agent, or with AskedAddress the IPAM plugin, which is called first.
type Asked struct {
	// Command is AskedAdd, Del, Check, GC or AskedAddress.
	Command string
	Owner   ipam.Owner
	// Pod is "namespace/name"; PodUID its UID.
	Pod, PodUID string
	// Netns is the namespace of an ADD's sandbox, if known.
	Netns string
	// Addr is the address that an ADD requests; zero if the agent chooses one.
	Addr netip.Addr
	// Wanted are the addresses that an ADD's pod asks for, one of a family.
	Wanted []netip.Addr
}

// Values of Asked.Command besides Del, Check and GC.
const (
	// AskedAdd is an ADD: its sandbox exists from now on.
	AskedAdd = "Add"
	// AskedAddress is a request that the agent has not seen yet.
	AskedAddress = "Address"
)

// Answered says that an ADD was answered with an address.
type Answered struct {
	Owner       ipam.Owner
	Addr        netip.Addr
	Pod, PodUID string
	// Netns is the sandbox' namespace.
	Netns string
}

// Refused says that an ADD was answered with an error.
type Refused struct {
	Owner       ipam.Owner
	Pod, PodUID string
	Why         string
	// Code is the CNI error code.
	Code uint32
	// Exhausted: no address was free.
	Exhausted bool
	// Wait is how long an ADD is configured to wait for its wiring; 0 if the refusal may have another cause.
	Wait time.Duration
}

// Deleted says that a DEL was answered with success.
type Deleted struct {
	Owner ipam.Owner
	Pod   string
}

// DelRefused says that a repeated DEL for a fully removed sandbox failed without an injected fault.
type DelRefused struct {
	Owner ipam.Owner
	Why   string
}

// Checked is the answer to a CHECK. It is reported only if it is certain: nothing was in progress at the request, nor,
// if nothing is wrong, at the answer.
type Checked struct {
	Owner       ipam.Owner
	Pod, PodUID string
	Addr        netip.Addr
	// Code is the CNI error code, 0 for success, Answer the error's text.
	Code   uint32
	Answer string
	// Broken says what is wrong with the pod's wiring, if anything.
	Broken string
}

// Status is the answer to a STATUS. Like Checked it is reported only if it is certain.
type Status struct {
	// Code is the CNI error code, 0 for success, Answer the error's text.
	Code   uint32
	Answer string
	// Broken says why the node accepts no ADD; empty if it does.
	Broken string
}

// Abandoned says that the runtime timed out on a request, although the node could have answered all the time: its
// programs ran, no fault was injected, and it had an ID and blocks.
type Abandoned struct {
	// Command is as Asked's.
	Command string
	Owner   ipam.Owner
	Pod     string
	// Took is how long the runtime waited.
	Took time.Duration
}

// Slow says that the agent took 0.1 s or more to answer, although the node was able to and no fault was injected, then
// and for some seconds before.
type Slow struct {
	// Command is as Asked's.
	Command string
	Owner   ipam.Owner
	Pod     string
	Took    time.Duration
}

// Pinged says what became of real packets from a pod to another, while both live and nothing is under way. Only pairs are
// asked that reached each other while nothing disturbed them.
type Pinged struct {
	// From and To are the pods as "namespace/name", On is To's node, Addr its address.
	From, To, On string
	Addr         netip.Addr
	// Failed says why none was answered, "" where one was.
	Failed string
}

// SandboxGone says that the container runtime removed a sandbox; its processes are dead.
type SandboxGone struct {
	Owner ipam.Owner
	Pod   string
}

// PodChanged says that the API server's object of a pod was created, bound to Fact.Node or marked for deletion.
type PodChanged struct {
	Pod, PodUID string
	// Change is PodCreated, PodBound or PodDeleted. A pod that is created on a node is bound too.
	Change string
}

// Changes of pods.
const (
	PodCreated = "created"
	PodBound   = "bound"
	PodDeleted = "deleted"
)

// Hooked says that a hook of the program that embeds the agent has run.
type Hooked struct {
	Pod string
	// Phase is HookedAfter the pod's addition or HookedBefore its removal.
	Phase string
}

// Phases of hooks.
const (
	HookedAfter  = "after"
	HookedBefore = "before"
)

// OfSandbox is a fact about one sandbox, present or past.
type OfSandbox interface {
	// Sandbox is its owner, and its pod as "namespace/name" where the fact says it.
	Sandbox() (o ipam.Owner, pod string)
}

// OwnerOf is the owner of a fact's sandbox, or zero.
func OwnerOf(w What) (o ipam.Owner) {
	if s, ok := w.(OfSandbox); ok {
		o, _ = s.Sandbox()
	}
	return o
}

// Sandbox implements OfSandbox.
func (x Asked) Sandbox() (ipam.Owner, string) { return x.Owner, x.Pod }

// Sandbox implements OfSandbox.
func (x Answered) Sandbox() (ipam.Owner, string) { return x.Owner, x.Pod }

// Sandbox implements OfSandbox.
func (x Refused) Sandbox() (ipam.Owner, string) { return x.Owner, x.Pod }

// Sandbox implements OfSandbox.
func (x Deleted) Sandbox() (ipam.Owner, string) { return x.Owner, x.Pod }

// Sandbox implements OfSandbox.
func (x DelRefused) Sandbox() (ipam.Owner, string) { return x.Owner, "" }

// Sandbox implements OfSandbox.
func (x Checked) Sandbox() (ipam.Owner, string) { return x.Owner, x.Pod }

// Sandbox implements OfSandbox.
func (x Abandoned) Sandbox() (ipam.Owner, string) { return x.Owner, x.Pod }

// Sandbox implements OfSandbox.
func (x Slow) Sandbox() (ipam.Owner, string) { return x.Owner, x.Pod }

// Sandbox implements OfSandbox.
func (x SandboxGone) Sandbox() (ipam.Owner, string) { return x.Owner, x.Pod }

func (Asked) what()       {}
func (Answered) what()    {}
func (Refused) what()     {}
func (Deleted) what()     {}
func (DelRefused) what()  {}
func (Checked) what()     {}
func (Status) what()      {}
func (Abandoned) what()   {}
func (Slow) what()        {}
func (Pinged) what()      {}
func (SandboxGone) what() {}
func (PodChanged) what()  {}
func (Hooked) what()      {}
