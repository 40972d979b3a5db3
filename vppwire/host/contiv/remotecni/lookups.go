//go:build linux

package remotecni

import (
	"context"
	"fmt"
	"net/netip"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/containeridx"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/lookup"
)

// lookups is Lookup over an agent.
type lookups struct {
	lookup.UnimplementedLookupServer
	agent Agent
	// streams names subscribers.
	streams atomic.Uint64
}

// look is what of reads, or why the agent does not answer.
func look[T any](ctx context.Context, s *lookups, of func(*agent.Agent) T) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, contiv.AskTime)
	defer cancel()
	found, err := contiv.Look(ctx, s.agent, of)
	if err != nil {
		return found, status.Error(codes.Unavailable, err.Error())
	}
	return found, nil
}

// GetIfName implements lookup.LookupServer.
func (s *lookups) GetIfName(ctx context.Context, pod *lookup.Pod) (*lookup.Interface, error) {
	l, err := look(ctx, s, contiv.ContainersOf)
	if err != nil {
		return nil, err
	}
	name, exists := contiv.IfName(l, pod.GetNamespace(), pod.GetName())
	if !exists {
		return nil, status.Errorf(codes.NotFound, "pod %s/%s is not wired here", pod.GetNamespace(), pod.GetName())
	}
	return &lookup.Interface{Name: name}, nil
}

// GetPodByIf implements lookup.LookupServer.
func (s *lookups) GetPodByIf(ctx context.Context, i *lookup.Interface) (*lookup.Pod, error) {
	l, err := look(ctx, s, contiv.ContainersOf)
	if err != nil {
		return nil, err
	}
	namespace, name, exists := contiv.PodByIf(l, i.GetName())
	if !exists {
		return nil, status.Errorf(codes.NotFound, "there is not exactly one pod behind interface %q", i.GetName())
	}
	return &lookup.Pod{Namespace: namespace, Name: name}, nil
}

const noTCPStack = "pods are not wired to VPP's TCP stack: they have no application namespace"

// GetNsIndex implements lookup.LookupServer.
func (s *lookups) GetNsIndex(context.Context, *lookup.Pod) (*lookup.NsIndex, error) {
	return nil, status.Error(codes.Unimplemented, noTCPStack)
}

// GetPodByAppNsIndex implements lookup.LookupServer.
func (s *lookups) GetPodByAppNsIndex(context.Context, *lookup.NsIndex) (*lookup.Pod, error) {
	return nil, status.Error(codes.Unimplemented, noTCPStack)
}

// GetNode implements lookup.LookupServer.
func (s *lookups) GetNode(ctx context.Context, _ *lookup.NodeRequest) (*lookup.Node, error) {
	n, err := look(ctx, s, contiv.NodeOf)
	if err != nil {
		return nil, err
	}
	out := &lookup.Node{
		NodeIp: prefix(n.NodeIP), PodSubnet: prefix(n.PodSubnet), PodNetwork: prefix(n.PodNetwork), NatLoopbackIp: addr(n.NatLoopback),
		MainPhysicalIfName: n.MainPhysicalIf, OtherPhysicalIfNames: n.OtherPhysicalIfs, HostInterconnectIfName: n.HostInterconnectIf,
		VxlanBviIfName: n.VxlanBVIIf, DefaultInterface: n.DefaultIf, DefaultInterfaceAddress: addr(n.DefaultIfAddress),
		MainVrfId: n.MainVrfID, PodVrfId: n.PodVrfID, TcpStackDisabled: n.TCPstackDisabled, StnMode: n.STNMode,
		NatExternalTraffic: n.NatExternalTraffic, CleanupIdleNatSessions: n.CleanupIdleNATSessions, TcpNatSessionTimeout: n.TCPNATSessionTimeout,
		OtherNatSessionTimeout: n.OtherNATSessionTimeout, ServiceLocalEndpointWeight: uint32(n.ServiceLocalEndpointWeight),
	}
	for _, a := range n.HostIPs {
		out.HostIps = append(out.HostIps, a.String())
	}
	return out, nil
}

// ListContainers implements lookup.LookupServer.
func (s *lookups) ListContainers(ctx context.Context, r *lookup.ContainersRequest) (*lookup.Containers, error) {
	l, err := look(ctx, s, contiv.ContainersOf)
	if err != nil {
		return nil, err
	}
	l = l.Where(containeridx.Keys{ContainerID: r.GetContainerId(), PodNamespace: r.GetPodNamespace(), PodName: r.GetPodName(), VppIf: r.GetVppIfName()})
	out := &lookup.Containers{}
	for _, c := range l {
		out.Containers = append(out.Containers, containerOf(c))
	}
	return out, nil
}

// WatchNodeIP implements lookup.LookupServer.
func (s *lookups) WatchNodeIP(_ *lookup.NodeRequest, out grpc.ServerStreamingServer[lookup.NodeIP]) error {
	changes := make(chan string, 1) // a change is a reason to look, so that one that is left out does no harm
	s.agent.WatchNodeIP(changes)
	defer s.agent.UnwatchNodeIP(changes)
	for told := ""; ; {
		n, err := look(out.Context(), s, contiv.NodeOf)
		if err != nil {
			return err
		}
		if now := prefix(n.NodeIP); now != told {
			if err := out.Send(&lookup.NodeIP{NodeIp: now}); err != nil {
				return err
			}
			told = now
		}
		select {
		case <-changes:
		case <-out.Context().Done():
			return nil
		}
	}
}

// WatchContainers implements lookup.LookupServer.
func (s *lookups) WatchContainers(_ *lookup.WatchRequest, out grpc.ServerStreamingServer[lookup.ContainerEvent]) error {
	q := newQueue()
	name, index := fmt.Sprintf("gRPC stream %d", s.streams.Add(1)), s.agent.GetContainerIndex()
	if err := index.Watch(name, q.put); err != nil {
		return status.Error(codes.Unavailable, err.Error())
	}
	defer index.Unwatch(name)
	for {
		select {
		case <-q.filled:
		case <-out.Context().Done():
			return nil
		}
		events, ok := q.take()
		if !ok {
			return status.Errorf(codes.ResourceExhausted, "more than %d containers have changed and were not read", queueMax)
		}
		for _, e := range events {
			if err := out.Send(&lookup.ContainerEvent{Del: e.Del, Container: containerOf(e.Value)}); err != nil {
				return err
			}
		}
	}
}

func containerOf(c *containeridx.Config) *lookup.Container {
	out := &lookup.Container{ContainerId: c.ID, PodNamespace: c.PodNamespace, PodName: c.PodName, PodUid: c.PodUID}
	for _, i := range c.Interfaces {
		out.Interfaces = append(out.Interfaces, &lookup.Attachment{Network: i.Network, IfName: i.IfName, Netns: i.Netns, VppIfName: i.VppIf,
			Ip: addr(i.IP), SecondIp: addr(i.SecondIP), Removing: i.Removing})
	}
	return out
}

// addr and prefix are empty for zero values.
func addr(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

func prefix(p netip.Prefix) string {
	if !p.IsValid() {
		return ""
	}
	return p.String()
}
