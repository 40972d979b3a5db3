package kindworld

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// runtimeSocket is containerd's on a node, podLabels those by which kubelets mark what is a pod's.
const (
	runtimeSocket  = "/run/containerd/containerd.sock"
	labelPodName   = "io.kubernetes.pod.name"
	labelNamespace = "io.kubernetes.pod.namespace"
	labelPodUID    = "io.kubernetes.pod.uid"
	labelContainer = "io.kubernetes.container.name"
)

// sandbox is one as the container runtime tells it.
type sandbox struct {
	id, pod, uid string
	// ready: its processes run and its network was set up.
	ready bool
	netns string
	// addrs are one of each family, in the runtime's order; none before it has any.
	addrs []netip.Addr
}

// runtime speaks to one node's container runtime.
type runtime struct {
	conn   *grpc.ClientConn
	client cri.RuntimeServiceClient
	// known are sandboxes whose address was told: it never changes.
	known map[string]sandbox
}

func dialRuntime(root string) (*runtime, error) {
	conn, err := grpc.NewClient("passthrough:///containerd", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", root+runtimeSocket)
		}))
	if err != nil {
		return nil, err
	}
	return &runtime{conn: conn, client: cri.NewRuntimeServiceClient(conn), known: map[string]sandbox{}}, nil
}

func (r *runtime) close() error { return r.conn.Close() }

// sandboxes are those with a network of their own, in the order of their IDs.
func (r *runtime) sandboxes(ctx context.Context) ([]sandbox, error) {
	list, err := r.client.ListPodSandbox(ctx, &cri.ListPodSandboxRequest{})
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	var out []sandbox
	known := map[string]sandbox{}
	for _, item := range list.Items {
		s, ok := r.known[item.Id]
		if !ok {
			if s, ok = r.status(ctx, item.Id); !ok {
				continue
			}
		}
		s.ready = item.State == cri.PodSandboxState_SANDBOX_READY
		if len(s.addrs) > 0 || s.netns == "" {
			known[item.Id] = s
		}
		if s.netns != "" {
			out = append(out, s)
		}
	}
	r.known = known
	slices.SortFunc(out, func(a, b sandbox) int { return strings.Compare(a.id, b.id) })
	return out, nil
}

// status is one sandbox in full; false when it is gone. One of the host's network has no namespace.
func (r *runtime) status(ctx context.Context, id string) (sandbox, bool) {
	reply, err := r.client.PodSandboxStatus(ctx, &cri.PodSandboxStatusRequest{PodSandboxId: id, Verbose: true})
	if err != nil || reply.Status == nil {
		return sandbox{}, false
	}
	s := sandbox{id: id, pod: reply.Status.Metadata.GetNamespace() + "/" + reply.Status.Metadata.GetName(), uid: reply.Status.Metadata.GetUid()}
	if reply.Status.GetLinux().GetNamespaces().GetOptions().GetNetwork() == cri.NamespaceMode_NODE {
		return s, true
	}
	if s.netns = netnsOf(reply.Info["info"]); s.netns == "" {
		return s, false // it is being made
	}
	told := []string{reply.Status.GetNetwork().GetIp()}
	for _, ip := range reply.Status.GetNetwork().GetAdditionalIps() {
		told = append(told, ip.GetIp())
	}
	for _, text := range told {
		if addr, err := netip.ParseAddr(text); err == nil {
			s.addrs = append(s.addrs, addr)
		}
	}
	return s, true
}

// netnsOf is the network namespace that containerd's verbose answer names.
func netnsOf(info string) string {
	var said struct {
		RuntimeSpec struct {
			Linux struct {
				Namespaces []struct{ Type, Path string }
			}
		}
	}
	if json.Unmarshal([]byte(info), &said) != nil {
		return ""
	}
	for _, n := range said.RuntimeSpec.Linux.Namespaces {
		if n.Type == "network" {
			return n.Path
		}
	}
	return ""
}

// stop stops a sandbox; its kubelet makes another.
func (r *runtime) stop(ctx context.Context, id string) error {
	_, err := r.client.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: id})
	return err
}

// container is the ID of a container that runs, by the name that its pod gives it and what its pod's name begins with;
// "" for none.
func (r *runtime) container(ctx context.Context, name, pod string) (string, error) {
	list, err := r.client.ListContainers(ctx, &cri.ListContainersRequest{Filter: &cri.ContainerFilter{
		State: &cri.ContainerStateValue{State: cri.ContainerState_CONTAINER_RUNNING}, LabelSelector: map[string]string{labelContainer: name}}})
	if err != nil {
		return "", fmt.Errorf("list containers: %w", err)
	}
	for _, c := range list.Containers {
		if strings.HasPrefix(c.Labels[labelPodName], pod) {
			return c.Id, nil
		}
	}
	return "", nil
}
