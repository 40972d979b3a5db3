package cniworld

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/invoke"
	"github.com/containernetworking/cni/pkg/types"
	current "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/version"

	"github.com/vppdrill/vppdrill/lab/internal/plugin"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Commands of the CNI specification, as actions name them.
const (
	cmdAdd    = "ADD"
	cmdDel    = "DEL"
	cmdCheck  = "CHECK"
	cmdGC     = "GC"
	cmdStatus = "STATUS"
)

// attachment is what a runtime says of a sandbox.
type attachment struct {
	container, ifName, netns, args string
	// pod is namespace/name, where it is known.
	pod string
	// number tells pods apart by what a capability gives each of them.
	number int
}

// capabilities are what the runtime says of a pod to plugins that ask for it.
func (a attachment) capabilities() map[string]any {
	return map[string]any{
		"portMappings": []map[string]any{{"hostPort": 20000 + a.number%10000, "containerPort": 80, "protocol": "tcp"}},
		"bandwidth":    map[string]any{"ingressRate": 1 << 30, "ingressBurst": 1 << 24, "egressRate": 1 << 30, "egressBurst": 1 << 24},
	}
}

// call asks the chain for one command, as containerd does by libcni. The result is an ADD's.
func (n *node) call(ctx context.Context, command, network string, a attachment, valid []types.GCAttachment) (*current.Result, error) {
	n.mu.Lock()
	if !n.on {
		n.mu.Unlock()
		return nil, errors.New("the machine is off")
	}
	if command == cmdAdd {
		n.asked[a.container], n.asked[a.pod] = true, true
	}
	list, life, down := n.list, n.life, n.down
	tracer := n.tracer(command)
	cidrs := n.cidrs
	n.mu.Unlock()
	if network != "" {
		var err error
		if list, err = n.w.o.Chain.list(network, cidrs); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(life, func() { cancel(errors.New("the machine lost power")) })()
	cni := libcni.NewCNIConfigWithCacheDir(n.w.o.Chain.Path, n.dir(diskFolder), &executor{n: n, tracer: tracer, down: down})
	rt := &libcni.RuntimeConf{ContainerID: a.container, NetNS: a.netns, IfName: a.ifName, Args: cniArgs(a.args), CapabilityArgs: a.capabilities()}
	var res *current.Result
	var err error
	switch command {
	case cmdAdd:
		var out types.Result
		if out, err = cni.AddNetworkList(ctx, list, rt); err == nil {
			res, err = current.NewResultFromResult(out)
		}
	case cmdDel:
		err = cni.DelNetworkList(ctx, list, rt)
	case cmdCheck:
		err = cni.CheckNetworkList(ctx, list, rt)
	case cmdGC:
		err = cni.GCNetworkList(ctx, list, &libcni.GCArgs{ValidAttachments: valid})
	case cmdStatus:
		err = cni.GetStatusNetworkList(ctx, list)
	}
	n.traced(command, tracer)
	n.readBook()
	return res, err
}

// tracer is what counts a command's system calls, where it is to be killed or surveyed. n.mu is held.
func (n *node) tracer(command string) *plugin.Tracer {
	if k := n.armed; k != nil && string(k.Command) == command {
		n.armed = nil
		return &plugin.Tracer{KillAt: k.Call, Alone: k.Alone}
	}
	if n.w.o.Seen != nil && n.warm {
		return &plugin.Tracer{}
	}
	return nil
}

// traced tells what a tracer saw and did.
func (n *node) traced(command string, t *plugin.Tracer) {
	if t == nil {
		return
	}
	if c, killed := t.Killed(); killed {
		n.tell(fact.Counted{Counts: fact.Counts{Faults: 1}}, fmt.Sprintf("%s plugins of %s killed before call %d, %s", n.name, command, t.KillAt, c))
	} else if t.KillAt > 0 {
		n.w.Note(fmt.Sprintf("%s %s made %d calls, so that it was not killed before call %d", n.name, command, len(t.Calls()), t.KillAt))
	}
	if n.w.o.Seen != nil {
		var lines []string
		for _, c := range t.Calls() {
			lines = append(lines, c.String())
		}
		n.w.seeing.Lock()
		defer n.w.seeing.Unlock()
		n.w.o.Seen(n.name, command, lines)
	}
}

// executor implements invoke.Exec on a node.
type executor struct {
	version.PluginDecoder
	n      *node
	tracer *plugin.Tracer
	down   context.Context
}

// FindInPath implements invoke.Exec.
func (*executor) FindInPath(name string, path []string) (string, error) {
	found, err := invoke.FindInPath(name, path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(found)
}

// ExecPlugin implements invoke.Exec. A runtime that is killed hears no answer; the plugin goes on.
func (x *executor) ExecPlugin(ctx context.Context, path string, stdin []byte, environ []string) ([]byte, error) {
	if x.down.Err() != nil {
		return nil, errRuntimeKilled
	}
	type ended struct {
		out plugin.Outcome
		err error
	}
	done := make(chan ended, 1)
	x.n.kubelet.running.Add(1)
	go func() {
		defer x.n.kubelet.running.Done()
		out, err := plugin.Run(ctx, plugin.Order{Path: path, Env: environ, Stdin: stdin, Netns: x.n.netns(), Binds: x.n.binds(), Tracer: x.tracer})
		done <- ended{out, err}
	}()
	select {
	case <-x.down.Done():
		return nil, errRuntimeKilled
	case e := <-done:
		if e.err == nil {
			return e.out.Stdout, nil
		}
		said := &types.Error{}
		if json.Unmarshal(e.out.Stdout, said) == nil && (said.Msg != "" || said.Code != 0) {
			return nil, said
		}
		why := string(e.out.Stderr)
		if len(why) > 300 {
			why = "…" + why[len(why)-300:]
		}
		return nil, fmt.Errorf("plugin %s: %w %s", filepath.Base(path), e.err, why)
	}
}
