package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// VPPDirOf is where the files of a node's VPP are.
func (w *World) VPPDirOf(node string) string { return w.nodes[node].machine.VPPDir() }

// PIDOfVPP is the process of a node's VPP, 0 while it is down.
func (w *World) PIDOfVPP(node string) int {
	if vpp, _ := w.nodes[node].running(); vpp != nil {
		return vpp.PID()
	}
	return 0
}

// PIDOfAgent is the process of a node's agent, 0 while it is down.
func (w *World) PIDOfAgent(node string) int {
	if _, agent := w.nodes[node].running(); agent != nil {
		return agent.PID()
	}
	return 0
}

// Scrape is what a node's agent shows at /metrics, the control plane for the node "".
func (w *World) Scrape(node string) (string, error) {
	socket := filepath.Join(w.control.dir, figuresSocket)
	if node != "" {
		socket = filepath.Join(w.nodes[node].dir, watchSocket)
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	resp, err := c.Get("http://lab/metrics")
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(resp.Body)
	return string(text), errors.Join(err, resp.Body.Close())
}

// Asked is how often the lab's EC2 was asked for an action.
func (w *World) Asked(action string) int { return w.cloud.Asked()[action] }

// Blocks are the IPAMBlocks of the API server.
func (w *World) Blocks() int { return len(w.source.server.All("ipamblocks")) }

// NetnsOf is the path of a pod's namespace.
func (w *World) NetnsOf(node string, p fact.PodState) string {
	return w.nodes[node].machine.Netns(p.Netns)
}

// InHost runs a command on a node.
func (w *World) InHost(node string, argv ...string) error {
	return w.InPod(node, fact.PodState{}, argv...)
}

// InPod runs a command in the namespace of a pod of a node.
func (w *World) InPod(node string, p fact.PodState, argv ...string) error {
	return spawn.Inside(w.nodes[node].machine.Netns(p.Netns), func() error {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", argv, err, out)
		}
		return nil
	})
}

// Starve has every program of labs seem to wait for a processor all the time, until the returned function is called.
func Starve() func() {
	began, before := time.Now(), delayOf
	delayOf = func(int) func(time.Time) time.Duration {
		return func(now time.Time) time.Duration { return now.Sub(began) }
	}
	return func() { delayOf = before }
}

// Forgive lets a world go on that a listener has stopped.
func (w *World) Forgive() { w.stopped = nil }
