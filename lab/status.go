package lab

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Status is a lab as `vppdrill lab status` shows it.
type Status struct {
	ID, Backend, Scenario, Dir string
	// Pending says why the lab is not quiet; empty: it is.
	Pending string
	Nodes   []NodeStatus
}

// NodeStatus is one node of a Status.
type NodeStatus struct {
	Name string
	ID   uint32
	// Address is the interconnect's, Blocks the pod ranges.
	Address string
	Blocks  []string
	// Up: the machine has power. VPP and Agent are nil where they do not run.
	Up         bool
	VPP, Agent *ProcessStatus
	Pods       []PodStatus
}

// ProcessStatus is one program on a node.
type ProcessStatus struct {
	PID int
	// RSSBytes is what it holds; CPUSeconds what it has used.
	RSSBytes   int64
	CPUSeconds float64
}

// PodStatus is one pod of a node.
type PodStatus struct{ Name, Addr, Netns string }

// Status is how the lab is now.
func (w *World) Status(ctx context.Context) Status {
	s := Status{ID: w.state.ID, Backend: w.state.Backend, Scenario: w.scenario().Name, Dir: w.state.dir, Pending: w.quiet(ctx)}
	nodes := w.inOrder()
	s.Nodes = make([]NodeStatus, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { s.Nodes[i] = n.status() })
	}
	wg.Wait()
	return s
}

func (n *node) status() NodeStatus {
	vpp, agent := n.running()
	n.mu.Lock()
	out := NodeStatus{Name: n.name, ID: n.last.ID, Up: n.up}
	if n.last.Address.IsValid() {
		out.Address = n.last.Address.String()
	}
	for _, p := range prefixes(n.last.Blocks) {
		out.Blocks = append(out.Blocks, p.String())
	}
	n.mu.Unlock()
	out.VPP, out.Agent = processStatus(vpp), processStatus(agent)
	for _, p := range n.kubelet.sandboxes() {
		pod := PodStatus{Name: strings.TrimPrefix(p.Pod, "default/"), Netns: n.machine.Netns(p.Netns)}
		if p.Addr.IsValid() {
			pod.Addr = p.Addr.String()
		}
		out.Pods = append(out.Pods, pod)
	}
	return out
}

func processStatus(p Process) *ProcessStatus {
	if p == nil {
		return nil
	}
	out := &ProcessStatus{PID: p.PID()}
	base := "/proc/" + strconv.Itoa(p.PID())
	if text, err := os.ReadFile(base + "/status"); err == nil {
		if _, after, ok := strings.Cut(string(text), "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(after)[0], 10, 64) // the kernel writes numbers
			out.RSSBytes = kb << 10
		}
	}
	if text, err := os.ReadFile(base + "/stat"); err == nil {
		f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		user, _ := strconv.ParseInt(f[11], 10, 64)
		system, _ := strconv.ParseInt(f[12], 10, 64)
		out.CPUSeconds = float64(user+system) / 100 // USER_HZ on every platform of VPP's
	}
	return out
}
