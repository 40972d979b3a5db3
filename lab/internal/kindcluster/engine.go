package kindcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/image"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Labels of a cluster's network, which is made first and removed last.
const (
	labelCluster = "vppdrill.kind"
	labelOwner   = "vppdrill.kind.owner"
	// labelDir is the folder of labs whose clusters it is one of.
	labelDir = "vppdrill.kind.dir"
	// labelRun marks a cluster that was made for one run and ends with it.
	labelRun = "vppdrill.kind.run"
	// labelFamily is which families a cluster has, in kind's word; absent of one that a former version has made: IPv4.
	labelFamily = "vppdrill.kind.ip-family"
	// labelKind is kind's own label of its containers.
	labelKind = "io.x-k8s.kind.cluster"
)

// engine speaks to Docker.
type engine struct{ *client.Client }

// connect returns an engine that answers; ErrCannotRun where there is none.
func connect(ctx context.Context) (engine, error) {
	if _, err := lab.Docker(ctx); err != nil {
		return engine{}, lab.Cannot("world kind needs a Docker engine: %s", err)
	}
	c, err := client.New(client.FromEnv)
	if err != nil {
		return engine{}, lab.Cannot("no Docker engine: %s", err)
	}
	if _, err := c.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		_ = c.Close() // it has not answered
		return engine{}, lab.Cannot("world kind needs a Docker engine, and none answers at %s: start one, or set %s", c.DaemonHost(), client.EnvOverrideHost)
	}
	return engine{c}, nil
}

// imageOf is what an engine knows of an image. Program is that of image.LabelProgram; empty where nobody packed one.
type imageOf struct{ id, architecture, program string }

// image looks for one; ErrCannotRun where it is not here.
func (e engine) image(ctx context.Context, ref string) (imageOf, error) {
	i, err := e.ImageInspect(ctx, ref)
	switch {
	case errdefs.IsNotFound(err):
		return imageOf{}, lab.Cannot("there is no image %s", ref)
	case err != nil:
		return imageOf{}, fmt.Errorf("look for image %s: %w", ref, err)
	}
	out := imageOf{id: i.ID, architecture: i.Architecture}
	if i.Config != nil {
		out.program = i.Config.Labels[image.LabelProgram]
	}
	return out, nil
}

// save streams an image as an archive.
func (e engine) save(ctx context.Context, ref string) (io.ReadCloser, error) {
	r, err := e.ImageSave(ctx, []string{ref})
	if err != nil {
		return nil, fmt.Errorf("save image %s: %w", ref, err)
	}
	return r, nil
}

// wires are the subnets that a cluster's wire may have: node IDs count from the first address, and the engine has the
// last but one. The manifests' tunnels have one in their midst.
func wires() (list []netip.Prefix) {
	for third := range 64 {
		if subnet := netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 168, byte(16 + third), 0}), 24); subnet != tunnels {
			list = append(list, subnet)
		}
	}
	return list
}

// tunnels is vxlanCIDR of the manifests.
var tunnels = netip.MustParsePrefix("192.168.30.0/24")

// engineRange is what the engine gives nodes' Linux sides of a wire, until their VPPs take them off: none that a node
// ID stands for, or Linux would answer for another node's VPP.
func engineRange(subnet netip.Prefix) netip.Prefix {
	from := subnet.Addr().As4()
	from[3] = 128
	return netip.PrefixFrom(netip.AddrFrom4(from), 25)
}

// wire is the subnet of a cluster's network, which is made where it is not there.
func (e engine) wire(ctx context.Context, o Options) (netip.Prefix, error) {
	id := o.ID
	there, err := e.NetworkInspect(ctx, networkName(id), client.NetworkInspectOptions{})
	if err == nil {
		if len(there.Network.IPAM.Config) == 0 {
			return netip.Prefix{}, fmt.Errorf("network %s has no subnet", networkName(id))
		}
		return there.Network.IPAM.Config[0].Subnet, nil
	}
	if !errdefs.IsNotFound(err) {
		return netip.Prefix{}, fmt.Errorf("look for network %s: %w", networkName(id), err)
	}
	labels := map[string]string{labelCluster: id, labelDir: o.Dir, labelOwner: spawn.Self().String(), labelFamily: o.Families.String()}
	if o.Agents != nil {
		labels[labelRun] = "true"
	}
	for _, subnet := range wires() {
		last := subnet.Addr().As4()
		last[3] = 254
		_, err = e.NetworkCreate(ctx, networkName(id), client.NetworkCreateOptions{Driver: "bridge",
			IPAM:    &network.IPAM{Config: []network.IPAMConfig{{Subnet: subnet, Gateway: netip.AddrFrom4(last), IPRange: engineRange(subnet)}}},
			Options: map[string]string{"com.docker.network.bridge.enable_ip_masquerade": "false"},
			Labels:  labels})
		if err == nil {
			return subnet, nil
		}
		if !strings.Contains(err.Error(), "overlap") {
			break
		}
	}
	return netip.Prefix{}, fmt.Errorf("make network %s: %w", networkName(id), err)
}

// networkName is what a cluster's wire is called; containers' networks are joined in order of names, and kind's is
// "kind".
func networkName(id string) string { return "vppdrill-" + id }

// join connects a node's container with the wire.
func (e engine) join(ctx context.Context, id, container string) error {
	there, err := e.ContainerInspect(ctx, container, client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("look at node %s: %w", container, err)
	}
	if there.Container.NetworkSettings != nil && there.Container.NetworkSettings.Networks[networkName(id)] != nil {
		return nil
	}
	if _, err := e.NetworkConnect(ctx, networkName(id), client.NetworkConnectOptions{Container: container}); err != nil {
		return fmt.Errorf("connect node %s with network %s: %w", container, networkName(id), err)
	}
	return nil
}

// part takes a node's container off the wire; one that is not on it is fine.
func (e engine) part(ctx context.Context, id, container string) error {
	_, err := e.NetworkDisconnect(ctx, networkName(id), client.NetworkDisconnectOptions{Container: container, Force: true})
	if err != nil && !errdefs.IsNotFound(err) && !strings.Contains(err.Error(), "is not connected") {
		return fmt.Errorf("take node %s off network %s: %w", container, networkName(id), err)
	}
	return nil
}

// dropWire removes a cluster's network; one that is not there is fine.
func (e engine) dropWire(ctx context.Context, id string) error {
	_, err := e.NetworkRemove(ctx, networkName(id), client.NetworkRemoveOptions{})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove network %s: %w", networkName(id), err)
	}
	return nil
}

// origin is where a cluster comes from: the folder of its labs, the process that made its network, and whether it is
// one run's. family is kind's word for what it has.
type origin struct {
	dir, owner, family string
	run                bool
}

// made are the clusters of which there is a network.
func (e engine) made(ctx context.Context) (map[string]origin, error) {
	list, err := e.NetworkList(ctx, client.NetworkListOptions{Filters: make(client.Filters).Add("label", labelCluster)})
	if err != nil {
		return nil, fmt.Errorf("list networks: %w", err)
	}
	out := map[string]origin{}
	for _, n := range list.Items {
		out[n.Labels[labelCluster]] = origin{n.Labels[labelDir], n.Labels[labelOwner], cmp.Or(n.Labels[labelFamily], Families(nil).String()), n.Labels[labelRun] != ""}
	}
	return out, nil
}

// containers are a kind cluster's, running or not.
func (e engine) containers(ctx context.Context, name string) ([]string, error) {
	list, err := e.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", labelKind+"="+name)})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	var out []string
	for _, c := range list.Items {
		if len(c.Names) > 0 {
			out = append(out, strings.TrimPrefix(c.Names[0], "/"))
		}
	}
	slices.Sort(out)
	return out, nil
}

var errNoCluster = errors.New("there is no such cluster")
