package kindcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/yaml"

	"github.com/vppdrill/vppdrill/lab"
)

// Names and labels of kind's containers, which its own commands go by.
const (
	labelRole   = "io.x-k8s.kind.role"
	workerRole  = "worker"
	kindNetwork = "kind"
	// kubeadmFile is where kind writes what kubeadm was told, in each node.
	kubeadmFile = "/kind/kubeadm.conf"
)

// Times that a machine is given. drainTime is what pods get to end; what does not end goes with its machine.
const (
	bootTime  = time.Minute
	drainTime = 30 * time.Second
	bootPause = 200 * time.Millisecond
)

// workerName is the container of a cluster's n-th worker, counted from 1, as kind names them.
func workerName(cluster string, n int) string {
	if n == 1 {
		return cluster + "-worker"
	}
	return cluster + "-worker" + strconv.Itoa(n)
}

// resize makes workers until there are as many nodes as wanted, or removes those that came last. there are the
// containers.
func (m *maker) resize(ctx context.Context, there []string) error {
	if err := m.find(); err != nil {
		return err
	}
	var names []string
	for n := 1; len(there)+len(names) < m.Nodes; n++ {
		if name := workerName(Name(m.ID), n); !slices.Contains(there, name) {
			names = append(names, name)
		}
	}
	errs := make(chan error)
	for _, name := range names {
		m.say("making node %s", name)
		go func() { errs <- m.join(ctx, name, name, nil) }()
	}
	var err error
	for range names {
		err = errors.Join(err, <-errs)
	}
	if err != nil {
		return err
	}
	// The control plane is the first of all; of workers, worker2 comes before worker10.
	slices.SortFunc(there, func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) })
	there = slices.DeleteFunc(there, func(name string) bool { return name == m.control.String() })
	for i := len(there) - 1; i >= 0 && i+1 >= m.Nodes; i-- {
		m.say("draining and removing node %s", there[i])
		if err := m.leave(ctx, there[i], there[i]); err != nil {
			return err
		}
	}
	return nil
}

// join makes a worker: a container like the control plane's, whose kubelet joins under a name of its own. Its kubelet
// makes its Node object a moment after join has returned. A container of that name is an error.
func (m *maker) join(ctx context.Context, container, node string, labels map[string]string) error {
	like, err := m.engine.ContainerInspect(ctx, m.control.String(), client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("look at node %s: %w", m.control, err)
	}
	config, host := *like.Container.Config, *like.Container.HostConfig
	config.Hostname = container
	config.Labels = maps.Clone(config.Labels)
	config.Labels[labelRole] = workerRole
	config.Env = slices.DeleteFunc(slices.Clone(config.Env), func(e string) bool { return strings.HasPrefix(e, "KUBECONFIG=") })
	config.ExposedPorts, host.PortBindings = nil, nil
	host.NetworkMode = kindNetwork
	made, err := m.engine.ContainerCreate(ctx, client.ContainerCreateOptions{Name: container, Config: &config, HostConfig: &host,
		NetworkingConfig: &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{kindNetwork: {}}}})
	if err != nil {
		return fmt.Errorf("make node %s: %w", container, err)
	}
	if _, err := m.engine.ContainerStart(ctx, made.ID, client.ContainerStartOptions{}); err != nil {
		return fmt.Errorf("start node %s: %w", container, err)
	}
	n, err := m.booted(ctx, container)
	if err != nil {
		return err
	}
	if err := errors.Join(m.connectNode(ctx, n), m.loadNode(ctx, n)); err != nil {
		return err
	}
	text, err := m.joinConfig(ctx, container, node, labels)
	if err != nil {
		return err
	}
	if err := n.CommandContext(ctx, "cp", "/dev/stdin", kubeadmFile).SetStdin(bytes.NewReader(text)).Run(); err != nil {
		return fmt.Errorf("write %s of %s: %w", kubeadmFile, container, oneLine(err))
	}
	var said bytes.Buffer
	if err := n.CommandContext(ctx, "kubeadm", "join", "--config", kubeadmFile).SetStdout(&said).SetStderr(&said).Run(); err != nil {
		return fmt.Errorf("kubeadm join of %s: %s", container, lastLine(said.String(), err))
	}
	return nil
}

// booted waits until a container that has started runs a container runtime.
func (m *maker) booted(ctx context.Context, container string) (nodes.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	for {
		// kind's list looks at each container by a command of its own, and fails for one that is made or removed meanwhile.
		list, err := m.provider.ListInternalNodes(Name(m.ID))
		for _, n := range list {
			if n.String() == container && n.CommandContext(ctx, "ctr", "version").Run() == nil {
				m.booting.Store(container, n)
				return n, nil
			}
		}
		select {
		case <-ctx.Done():
			if err != nil {
				err = oneLine(err)
			}
			return nil, errors.Join(fmt.Errorf("node %s has not booted within %s", container, bootTime), err)
		case <-time.After(bootPause):
		}
	}
}

// joinConfig is what kubeadm of a new node is told: what kind told the control plane's, with a token of its own.
func (m *maker) joinConfig(ctx context.Context, container, node string, labels map[string]string) ([]byte, error) {
	var said, token bytes.Buffer
	if err := m.control.CommandContext(ctx, "cat", kubeadmFile).SetStdout(&said).Run(); err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", kubeadmFile, m.control, oneLine(err))
	}
	if err := m.control.CommandContext(ctx, "kubeadm", "token", "create", "--ttl", "1h").SetStdout(&token).Run(); err != nil {
		return nil, fmt.Errorf("kubeadm token create: %w", oneLine(err))
	}
	there, err := m.engine.ContainerInspect(ctx, container, client.ContainerInspectOptions{})
	if err != nil {
		return nil, fmt.Errorf("look at node %s: %w", container, err)
	}
	own := there.Container.NetworkSettings.Networks[kindNetwork]
	if own == nil {
		return nil, fmt.Errorf("node %s is not in network %s", container, kindNetwork)
	}
	address, err := m.Families.nodeIP(own.IPAddress, own.GlobalIPv6Address)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", container, err)
	}
	return joinConfig(said.Bytes(), joining{cluster: Name(m.ID), control: m.control.String(), container: container, node: node,
		nodeIP: address, token: strings.TrimSpace(token.String()), labels: labels})
}

// joining is who joins whom.
type joining struct {
	cluster, control, container, node string
	nodeIP, token                     string
	labels                            map[string]string
}

// joinConfig makes kubeadm's file of a new worker out of the control plane's: its JoinConfiguration in whatever version
// kind has written.
func joinConfig(control []byte, j joining) ([]byte, error) {
	var out [][]byte
	for doc := range bytes.SplitSeq(control, []byte("\n---")) {
		o := map[string]any{}
		if err := yaml.Unmarshal(doc, &o); err != nil {
			return nil, fmt.Errorf("%s: %w", kubeadmFile, err)
		}
		switch o["kind"] {
		case "JoinConfiguration":
			delete(o, "controlPlane")
			registration, ok := o["nodeRegistration"].(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%s: its JoinConfiguration has no nodeRegistration", kubeadmFile)
			}
			registration["name"] = j.node
			var labels []string
			for _, key := range slices.Sorted(maps.Keys(j.labels)) {
				labels = append(labels, key+"="+j.labels[key])
			}
			setArgs(registration, map[string]string{"node-ip": j.nodeIP, "provider-id": "kind://docker/" + j.cluster + "/" + j.container,
				"node-labels": strings.Join(labels, ",")})
			o["discovery"] = map[string]any{"bootstrapToken": map[string]any{"apiServerEndpoint": j.control + ":6443", "token": j.token, "unsafeSkipCAVerification": true}}
		case "KubeletConfiguration":
		default:
			continue
		}
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no JoinConfiguration", kubeadmFile)
	}
	return bytes.Join(out, []byte("---\n")), nil
}

// setArgs sets arguments of a kubelet: a map up to kubeadm's v1beta3, a list of names and values since.
func setArgs(registration map[string]any, values map[string]string) {
	if list, ok := registration["kubeletExtraArgs"].([]any); ok {
		list = slices.DeleteFunc(list, func(a any) bool {
			arg, _ := a.(map[string]any)
			name, _ := arg["name"].(string)
			_, set := values[name]
			return set
		})
		for _, name := range slices.Sorted(maps.Keys(values)) {
			list = append(list, map[string]any{"name": name, "value": values[name]})
		}
		registration["kubeletExtraArgs"] = list
		return
	}
	args, ok := registration["kubeletExtraArgs"].(map[string]any)
	if !ok {
		args = map[string]any{}
	}
	for name, value := range values { // in any order: they are keys of a map
		args[name] = value
	}
	registration["kubeletExtraArgs"] = args
}

// leave drains a node, deletes its object and removes its machine. What does not drain in time goes with the machine.
func (m *maker) leave(ctx context.Context, container, node string) error {
	if _, err := m.kubectl(ctx, "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout="+drainTime.String()); err != nil {
		m.say("not drained: %s", err)
	}
	if _, err := m.kubectl(ctx, "delete", "node", node, "--ignore-not-found", "--wait=false"); err != nil {
		return err
	}
	return m.engine.remove(ctx, container)
}

// remove ends a container with its disk; one that is not there is fine.
func (e engine) remove(ctx context.Context, container string) error {
	_, err := e.ContainerRemove(ctx, container, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove node %s: %w", container, err)
	}
	return nil
}

// Machines are the nodes of a cluster that stands, one by one. Its methods may be called for different nodes at the
// same time.
type Machines struct{ m *maker }

// Attach returns the machines of a cluster that Up has made with these options.
func Attach(ctx context.Context, o Options) (*Machines, error) {
	e, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	m := newMaker(o, e)
	if err := errors.Join(m.find(), m.ranges(ctx)); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &Machines{m}, nil
}

// Close ends the connection to the engine; the cluster stands.
func (x *Machines) Close() error { return x.m.engine.Close() }

// Control is the container of the control plane.
func (x *Machines) Control() string { return x.m.control.String() }

// Container is what a node's container is called.
func (x *Machines) Container(node string) string { return Name(x.m.ID) + "-" + node }

// Join makes a machine whose Node object has this name; see maker.join.
func (x *Machines) Join(ctx context.Context, node string) error {
	return x.m.join(ctx, x.Container(node), node, nil)
}

// Off takes a container's power, On gives it back and returns when its container runtime runs.
func (x *Machines) Off(ctx context.Context, container string) error {
	if err := x.m.engine.ends(ctx, []string{container}, func() error {
		_, err := x.m.engine.ContainerKill(ctx, container, client.ContainerKillOptions{Signal: "KILL"})
		return err
	}); err != nil {
		return fmt.Errorf("switch off %s: %w", container, err)
	}
	// A node of kind that starts takes the address that its name has first for its own: that has to be the one it had, and
	// not the wire's.
	return x.m.engine.part(ctx, x.m.ID, container)
}

// On implements what Off says.
func (x *Machines) On(ctx context.Context, container string) error {
	if _, err := x.m.engine.ContainerStart(ctx, container, client.ContainerStartOptions{}); err != nil {
		return fmt.Errorf("switch on %s: %w", container, err)
	}
	n, err := x.m.booted(ctx, container)
	if err != nil {
		return err
	}
	return x.m.connectNode(ctx, n)
}

// Remove ends a container with its disk; one that is not there is fine.
func (x *Machines) Remove(ctx context.Context, container string) error {
	return x.m.engine.ends(ctx, []string{container}, func() error { return x.m.engine.remove(ctx, container) })
}

// PID is the process of this machine that is a container's first one, by whose /proc entry its files and namespaces are
// reached.
func (x *Machines) PID(ctx context.Context, container string) (pid int, id string, err error) {
	there, err := x.m.engine.ContainerInspect(ctx, container, client.ContainerInspectOptions{})
	if err != nil {
		return 0, "", fmt.Errorf("look at node %s: %w", container, err)
	}
	if there.Container.State == nil || !there.Container.State.Running {
		return 0, "", fmt.Errorf("node %s: %w", container, lab.ErrNotAlive)
	}
	return there.Container.State.Pid, there.Container.ID, nil
}

// Kubectl runs kubectl on the control plane and returns what it prints.
func (x *Machines) Kubectl(ctx context.Context, args ...string) (string, error) {
	return x.m.kubectl(ctx, args...)
}

// Define has the cluster take custom resources as a manifest of fixtures/kubernetes defines them.
func (x *Machines) Define(ctx context.Context, manifest string) error {
	_, err := x.m.kubectl(ctx, "apply", "-f", manifestsDir+"/"+manifest)
	return err
}

// Run runs a command in a container.
func (x *Machines) Run(ctx context.Context, container string, argv ...string) error {
	n, err := x.m.node(container)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	if err := n.CommandContext(ctx, argv[0], argv[1:]...).SetStdout(&said).SetStderr(&said).Run(); err != nil {
		return fmt.Errorf("%s on %s: %s", argv[0], container, lastLine(said.String(), err))
	}
	return nil
}

// node is one of the cluster by its container, which find or booted has seen. kind is not asked again: see booted.
func (m *maker) node(container string) (nodes.Node, error) {
	for _, n := range m.nodes {
		if n.String() == container {
			return n, nil
		}
	}
	if n, seen := m.booting.Load(container); seen {
		return n.(nodes.Node), nil
	}
	return nil, fmt.Errorf("%s: %w", container, errNoCluster)
}
