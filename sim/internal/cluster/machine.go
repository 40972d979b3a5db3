package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Machine is what kubelets need from the machines that they run on. Node names the machine.
type Machine interface {
	// CreateNetns makes an empty network namespace, RemoveNetns removes one with everything in it.
	CreateNetns(node, path string)
	RemoveNetns(node, path string)
	// Add and Del run the CNI plugin. Done is called once, inside the event loop, at once or later, or never when the
	// plugin hangs; after the kubelet's timeout it has no effect.
	Add(node string, req CNIAdd, done func(CNIResult))
	Del(node string, req CNIDel, done func(CNIResult))
}

// Withdrawer is a Machine that wants to know when a kubelet kills a plugin that took too long.
type Withdrawer interface {
	Withdraw(node string, owner ipam.Owner)
}

// CNIAdd is one ADD: a sandbox and the pod that it is for.
type CNIAdd struct {
	Owner ipam.Owner
	// Netns is an absolute path.
	Netns                         string
	PodNamespace, PodName, PodUID string
	// Wanted are the addresses that the pod asks for.
	Wanted []netip.Addr
	// Interface is how it asks to be connected.
	Interface string
}

// CNIDel is one DEL. Netns may be a path that no longer exists.
type CNIDel struct {
	Owner ipam.Owner
	// Pod is the pod of the sandbox.
	Pod   Key
	Netns string
}

// CNIResult is what the plugin printed.
type CNIResult struct {
	// Code is 0 for success, else the CNI error code (spec 1.1 section "Error"): 11 is "try again later".
	Code    uint32
	Message string
	// Exhausted says that an ADD was refused for want of a free address.
	Exhausted bool
	// Crowded says that it was refused for want of room in VPP or in the cluster's address ranges, or of a node ID: others
	// have to go first there too, or people have to do something.
	Crowded bool
	// Unmet says that it was refused for want of the very address that the pod asks for.
	Unmet bool
	// Addr and Gateway are a successful ADD's.
	Addr    netip.Prefix
	Gateway netip.Addr
	// Second and SecondGateway are those of the second family; zero in clusters of one.
	Second        netip.Prefix
	SecondGateway netip.Addr
}

// Sandbox is one pod sandbox as the container runtime sees it.
type Sandbox struct {
	Owner ipam.Owner
	// Pod and UID are the pod's.
	Pod Key
	UID string
	// Netns is the absolute path of its namespace.
	Netns string
	// Attempt counts the pod's sandboxes from 1.
	Attempt int
	// Created is when the sandbox was made, by the wall clock of its machine.
	Created time.Duration
	// Addr and Gateway are what a successful ADD answered; zero before.
	Addr    netip.Prefix
	Gateway netip.Addr
	// Second and SecondGateway are those of the second family; zero in clusters of one.
	Second        netip.Prefix
	SecondGateway netip.Addr

	exists bool // its processes do
	netns  bool // its namespace does
	again  bool // it is gone, and another one is to have its ID
}

// Exists reports that the sandbox's processes may run: it was made, and neither removed nor lost with its machine.
func (s *Sandbox) Exists() bool { return s.exists }

// StartsAgain reports that a sandbox which is gone gives its ID to the next one of its pod.
func (s *Sandbox) StartsAgain() bool { return s.again }

// netnsFolder is where containerd puts the namespaces that it makes.
const netnsFolder = "/var/run/netns/cni-"

// newSandbox names the attempt-th sandbox of a pod. The container ID has 64 hex digits, as containerd's. It and the
// namespace's UUID follow from the pod's UID, the attempt, and life, which distinguishes the machines and workers that
// may serve the same pod one after the other.
func newSandbox(p *Pod, life [2]int, attempt int, network, ifName string) *Sandbox {
	var seed [96]byte
	b := append(seed[:0], p.UID...)
	for _, n := range [...]int{life[0], life[1], attempt} {
		b = append(b, '/')
		b = strconv.AppendInt(b, int64(n), 10)
	}
	sum := sha256.Sum256(b)
	var id [64]byte
	hex.Encode(id[:], sum[:])
	path := append(make([]byte, 0, len(netnsFolder)+36), netnsFolder...)
	path = appendUUID(path, [16]byte(sum[:16]))
	return &Sandbox{
		Owner: ipam.Owner{Network: network, ContainerID: string(id[:]), IfName: ifName},
		Pod:   p.Key(), UID: p.SandboxUID(), Netns: string(path), Attempt: attempt,
	}
}

// staticPrefix is what the UIDs of static pods begin with that container runtimes know.
const staticPrefix = "static-"

// SandboxUID is the pod's UID as container runtimes know it.
func (p *Pod) SandboxUID() string {
	if p.Static {
		return staticPrefix + p.UID
	}
	return p.UID
}

// Hooks report to the World what a container runtime does; each may be nil. They are called inside the event loop and
// must not call the kubelet back.
type Hooks struct {
	// Created: the namespace exists and its ADD comes next.
	Created func(node string, s *Sandbox)
	// Answered: an ADD succeeded; s.Addr and s.Gateway are set.
	Answered func(node string, s *Sandbox)
	// Refused: an ADD failed, or (Message "timeout") was given up.
	Refused func(node string, s *Sandbox, r CNIResult)
	// Deleted: a DEL succeeded; repeated DELs are reported too.
	Deleted func(node string, s *Sandbox)
	// Gone: the sandbox's processes and namespace do not exist any more.
	Gone func(node string, s *Sandbox)
}
