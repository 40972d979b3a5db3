package kindcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"

	"github.com/vppdrill/vppdrill/lab"
)

// NodeImageEnvironment is the variable that names the image of nodes.
const NodeImageEnvironment = "VPPDRILL_NODE_IMAGE"

// Options are what a cluster is.
type Options struct {
	// ID names it: see lab.ValidID. Its kind cluster is "vppdrill-" and this.
	ID string
	// Nodes is how many there are, the control plane counted; it takes pods where it is alone. At least 1.
	Nodes int
	// Families are those of nodes, pods and services.
	Families Families
	// NodeImage is what nodes are made of; empty is what VPPDRILL_NODE_IMAGE names, else kind's own, which it pulls.
	NodeImage string
	// VPPImage holds VPP and this program: what lab image --from-host makes. It is here already.
	VPPImage string
	// Program is the file of the program that an image packed on this machine has to hold; empty: any.
	Program string
	// Dir is the folder of this machine's labs: the cluster's kubeconfig is in it.
	Dir string
	// Agents is how agents differ from what fixtures/kubernetes says; nil: not at all.
	Agents *Agents
	// Wait is how long all may take to become ready.
	Wait time.Duration
	// Say gets a line for each step; nil: nobody.
	Say func(line string)
}

// Cluster is one that stands.
type Cluster struct {
	ID         string        `json:"id"`
	Name       string        `json:"name"`
	Kubeconfig string        `json:"kubeconfig"`
	Nodes      []string      `json:"nodes"`
	Took       time.Duration `json:"took"`
}

// Name is the kind cluster of an ID.
func Name(id string) string { return "vppdrill-" + id }

// Kubeconfig is where a cluster's is.
func Kubeconfig(dir, id string) string { return filepath.Join(dir, "kind-"+id+".kubeconfig") }

// keptFile says of a run's cluster that it outlives its run.
func keptFile(dir, id string) string { return filepath.Join(dir, "kind-"+id+".kept") }

// Keep has a run's cluster outlive its run, until Down.
func Keep(dir, id string) error { return os.WriteFile(keptFile(dir, id), nil, 0o644) }

func (o Options) nodeImage() string {
	if o.NodeImage != "" {
		return o.NodeImage
	}
	return os.Getenv(NodeImageEnvironment)
}

func (o Options) say(format string, args ...any) {
	if o.Say != nil {
		o.Say(fmt.Sprintf(format, args...))
	}
}

// maker makes one cluster.
type maker struct {
	Options
	engine   engine
	provider *cluster.Provider
	nodes    []nodes.Node
	control  nodes.Node
	// booting are the nodes that booted has seen, by container: machines boot at the same time.
	booting sync.Map
	// pools are the ranges of a cluster without Agents.
	pools pools
	// stood: the cluster was there before. began: something of it may have been made.
	stood, began bool
}

func newMaker(o Options, e engine) *maker {
	return &maker{Options: o, engine: e, provider: cluster.NewProvider(cluster.ProviderWithDocker())}
}

// Up makes a cluster stand, or changes one that stands to what it should be, and returns when its nodes are ready and
// its pods have addresses. After an error what Up has made is still there where HalfMade says so, and Down removes it;
// ErrStands where the cluster was not made by this Up.
func Up(ctx context.Context, o Options) (Cluster, error) {
	began := time.Now()
	dir, err := filepath.Abs(o.Dir) // the network's label means it from any folder
	if err != nil {
		return Cluster{}, err
	}
	o.Dir = dir
	if err := Check(ctx, o); err != nil {
		return Cluster{}, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return Cluster{}, err
	}
	e, err := connect(ctx)
	if err != nil {
		return Cluster{}, err
	}
	defer func() { _ = e.Close() }() // all is done
	m := newMaker(o, e)
	for _, step := range []func(context.Context) error{m.create, m.connect, m.load, m.apply, m.ready} {
		err := step(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return Cluster{}, m.explain(ctx, err)
		}
	}
	c := Cluster{ID: o.ID, Name: Name(o.ID), Kubeconfig: Kubeconfig(o.Dir, o.ID), Took: time.Since(began)}
	for _, n := range m.nodes {
		c.Nodes = append(c.Nodes, n.String())
	}
	return c, nil
}

// config is the cluster in kind's words. What kube-proxy sends to pods has to come back the same way: it masquerades
// all.
func (o Options) config(p pools) *v1alpha4.Cluster {
	c := &v1alpha4.Cluster{TypeMeta: v1alpha4.TypeMeta{Kind: "Cluster", APIVersion: "kind.x-k8s.io/v1alpha4"}}
	for i := range o.Nodes {
		role := v1alpha4.WorkerRole
		if i == 0 {
			role = v1alpha4.ControlPlaneRole
		}
		c.Nodes = append(c.Nodes, v1alpha4.Node{Role: role, Image: o.nodeImage()})
	}
	// Not the IPv6 loopback, which kind would take for a cluster of IPv6: the machine need not have one, and its engine
	// forwards both.
	c.Networking = v1alpha4.Networking{IPFamily: o.Families.kind(), APIServerAddress: "127.0.0.1", DisableDefaultCNI: true,
		PodSubnet: strings.Join(p.of("podSubnetCIDR"), ","), ServiceSubnet: strings.Join(p.of("serviceCIDR"), ",")}
	if o.Agents != nil && o.Agents.ServiceSubnet != "" {
		c.Networking.ServiceSubnet = o.Agents.ServiceSubnet
	}
	c.KubeadmConfigPatches = []string{
		"apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\niptables: {masqueradeAll: true}\nconntrack: {maxPerCore: 0}\n",
	}
	if o.Agents != nil && o.Agents.NodeCIDRs { // kind brings the arguments into the form of each of kubeadm's versions
		c.KubeadmConfigPatches = append(c.KubeadmConfigPatches, "kind: ClusterConfiguration\ncontrollerManager: {extraArgs: {allocate-node-cidrs: \"false\"}}\n")
	}
	return c
}

// create makes the wire and the cluster where they are not there.
func (m *maker) create(ctx context.Context) error {
	m.began = true
	if err := m.ranges(ctx); err != nil {
		return err
	}
	there, err := m.engine.containers(ctx, Name(m.ID))
	if err != nil {
		return err
	}
	m.stood = len(there) > 0
	if !m.stood {
		m.say("making %d nodes", m.Nodes)
		err := m.provider.Create(Name(m.ID), cluster.CreateWithV1Alpha4Config(m.config(m.pools)), cluster.CreateWithRetain(true),
			cluster.CreateWithKubeconfigPath(Kubeconfig(m.Dir, m.ID)), cluster.CreateWithDisplayUsage(false), cluster.CreateWithDisplaySalutation(false))
		if err != nil && strings.Contains(err.Error(), "failed to pull image") {
			return errors.Join(lab.Cannot("kind's own node image is not here and cannot be pulled: name one that is here by --node-image or %s", NodeImageEnvironment), m.engine.dropWire(ctx, m.ID))
		}
		if err != nil {
			return fmt.Errorf("make cluster %s: %w", Name(m.ID), oneLine(err))
		}
	} else if len(there) != m.Nodes {
		if err := m.resize(ctx, there); err != nil {
			return err
		}
	}
	if err := m.find(); err != nil {
		return err
	}
	return m.provider.ExportKubeConfig(Name(m.ID), Kubeconfig(m.Dir, m.ID), false)
}

// ranges makes the wire where it is not there, and works out the cluster's ranges.
func (m *maker) ranges(ctx context.Context) error {
	wire, err := m.engine.wire(ctx, m.Options)
	if err != nil {
		return err
	}
	m.pools, err = m.Families.pools(wire)
	return err
}

// find lists the cluster's nodes.
func (m *maker) find() (err error) {
	if m.nodes, err = m.provider.ListInternalNodes(Name(m.ID)); err != nil {
		return fmt.Errorf("list nodes of %s: %w", Name(m.ID), oneLine(err))
	}
	slices.SortFunc(m.nodes, func(a, b nodes.Node) int { return strings.Compare(a.String(), b.String()) })
	control, err := nodeutils.ControlPlaneNodes(m.nodes)
	if err != nil || len(control) == 0 {
		return fmt.Errorf("cluster %s has no control plane: %w", Name(m.ID), errors.Join(errNoCluster, err))
	}
	m.control = control[0]
	return nil
}

// connect joins the nodes' VPPs, and gives nodes the rules that they do not have.
func (m *maker) connect(ctx context.Context) error {
	for _, n := range m.nodes {
		if m.Agents != nil && n == m.control {
			continue // it has no VPP
		}
		if err := m.connectNode(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// connectNode joins one node's VPP, and gives it the rules.
func (m *maker) connectNode(ctx context.Context, n nodes.Node) error {
	if err := m.engine.join(ctx, m.ID, n.String()); err != nil {
		return err
	}
	for _, rule := range m.pools.rules() {
		program, table := rule[0], []string{"-w", "-t", rule[1]}
		if n.CommandContext(ctx, program, append(append(table[:3:3], "-C"), rule[2:]...)...).Run() == nil {
			continue
		}
		if err := n.CommandContext(ctx, program, append(append(table[:3:3], "-I"), rule[2:]...)...).Run(); err != nil {
			return fmt.Errorf("%s on %s: %w", program, n, oneLine(err))
		}
	}
	return nil
}

// load brings the image into the nodes that do not have it, at the same time.
func (m *maker) load(ctx context.Context) error {
	errs := make([]error, len(m.nodes))
	var wg sync.WaitGroup
	for i, n := range m.nodes {
		if m.Agents != nil && n == m.control {
			continue
		}
		wg.Go(func() { errs[i] = m.loadNode(ctx, n) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// loadNode brings the image into a node that does not have it.
func (m *maker) loadNode(ctx context.Context, n nodes.Node) error {
	vpp, err := m.engine.image(ctx, m.VPPImage)
	if err != nil {
		return err
	}
	if has, err := nodeutils.ImageID(n, m.VPPImage); err == nil && has == vpp.id {
		return nil
	}
	m.say("loading %s into %s", m.VPPImage, n)
	return m.loadInto(ctx, n)
}

func (m *maker) loadInto(ctx context.Context, n nodes.Node) error {
	image, err := m.engine.save(ctx, m.VPPImage)
	if err != nil {
		return err
	}
	err = nodeutils.LoadImageArchive(n, image)
	if err = errors.Join(err, image.Close()); err != nil {
		return fmt.Errorf("load %s into %s: %w", m.VPPImage, n, oneLine(err))
	}
	return nil
}

// apply installs the manifests.
func (m *maker) apply(ctx context.Context) error {
	vpp, err := m.engine.image(ctx, m.VPPImage)
	if err != nil {
		return err
	}
	text, err := m.overlay(vpp.id)
	if err != nil {
		return err
	}
	files, err := archive(text)
	if err != nil {
		return err
	}
	m.say("installing VPP and the agent")
	if err := m.control.CommandContext(ctx, "mkdir", "-p", manifestsDir).Run(); err != nil {
		return fmt.Errorf("write manifests: %w", oneLine(err))
	}
	if err := m.control.CommandContext(ctx, "tar", "-x", "-C", manifestsDir).SetStdin(files).Run(); err != nil {
		return fmt.Errorf("write manifests: %w", oneLine(err))
	}
	if m.Agents != nil {
		// A control plane without an agent takes no pods, and no agent waits for its record; DNS has no room before there are
		// other nodes.
		for _, args := range [][]string{
			{"taint", "node", m.control.String(), controlTaint, "--overwrite"},
			{"label", "node", m.control.String(), AgentNone, "--overwrite"},
			{"scale", "-n", Namespace, "deployment/coredns", "--replicas=0"},
		} {
			if _, err := m.kubectl(ctx, args...); err != nil {
				return err
			}
		}
	}
	_, err = m.kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-k", manifestsDir+"/"+clusterOverlay)
	return err
}

// waiting are the commands of kubectl that have a --timeout of their own; answerTime bounds what others ask of the API
// server.
var waiting = []string{"rollout", "wait", "drain"}

const answerTime = 30 * time.Second

// kubectl runs on the control plane.
func (m *maker) kubectl(ctx context.Context, args ...string) (string, error) {
	var out, said bytes.Buffer
	asked := []string{"--kubeconfig=/etc/kubernetes/admin.conf"}
	if !slices.Contains(waiting, args[0]) {
		asked = append(asked, "--request-timeout="+answerTime.String())
	}
	args = append(asked, args...)
	err := m.control.CommandContext(ctx, "kubectl", args...).SetStdout(&out).SetStderr(&said).Run()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %s", strings.Join(args[len(asked):], " "), lastLine(said.String(), err))
	}
	return out.String(), nil
}

// controlTaint keeps pods off a control plane, as kind does where there are other nodes.
const controlTaint = "node-role.kubernetes.io/control-plane:NoSchedule"

// AgentNone is the label by which agents know a node without one: AgentLabel of vppwire/host/kube.
const AgentNone = "vppdrill.github.io/agent=none"

// ready waits until all DaemonSets, nodes and CoreDNS are.
func (m *maker) ready(ctx context.Context) error {
	if m.Agents != nil {
		return nil // nodes are made one by one
	}
	ctx, cancel := context.WithTimeout(ctx, m.Wait)
	defer cancel()
	m.say("waiting until nodes are ready")
	for _, what := range [][]string{
		{"rollout", "status", "-n", "kube-system", "daemonset/vppdrill-agent"},
		{"wait", "--for=condition=Ready", "node", "--all"},
		{"rollout", "status", "-n", "kube-system", "deployment/coredns"},
	} {
		left := time.Until(deadline(ctx)).Round(time.Second)
		if what[0] == "wait" {
			what = append(what, "--timeout="+left.String())
		}
		var err error
		if what[0] == "rollout" {
			for _, one := range what[4:] {
				if err == nil {
					_, err = m.kubectl(ctx, append(what[:4:4], one, "--timeout="+left.String())...)
				}
			}
		} else {
			_, err = m.kubectl(ctx, what...)
		}
		if err != nil {
			return fmt.Errorf("not ready within %s: %w", m.Wait, err)
		}
	}
	return nil
}

func deadline(ctx context.Context) time.Time {
	at, _ := ctx.Deadline() // it was set
	return at
}

// Down removes a cluster and everything of it; what is not there is fine.
func Down(ctx context.Context, dir, id string) error {
	e, err := connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }() // all is done
	var errs []error
	there, _ := e.containers(ctx, Name(id)) // kind looks for them itself
	if err := e.ends(ctx, there, func() error {
		return cluster.NewProvider(cluster.ProviderWithDocker()).Delete(Name(id), Kubeconfig(dir, id))
	}); err != nil {
		errs = append(errs, fmt.Errorf("remove cluster %s: %w", Name(id), oneLine(err)))
	}
	errs = append(errs, e.dropWire(ctx, id))
	for _, file := range []string{Kubeconfig(dir, id), Kubeconfig(dir, id) + ".lock", keptFile(dir, id)} {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// oneLine is an error of kind's without the log that it carries.
func oneLine(err error) error { return errors.New(lastLine("", err)) }

// lastLine is the last line that a program said, else the error's.
func lastLine(said string, err error) string {
	for _, text := range []string{said, err.Error()} {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
			return last
		}
	}
	return err.Error()
}
