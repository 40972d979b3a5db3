//go:build linux

package remotecni

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/story"
	"github.com/vppdrill/vppdrill/vppwire/host/cnisocket"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/cni"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/containeridx"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/lookup"
)

// told is an agent that answers every request alike, and a machine that stands still.
type told struct {
	answer agent.Answer
	heard  chan agent.Event
	a      *agent.Agent

	subscriber chan string
	containers func(containeridx.ChangeEvent)
}

func (a *told) Request(_ context.Context, event func(uint64) agent.Event) (agent.Answer, error) {
	a.heard <- event(7)
	return a.answer, nil
}

func (a *told) Ask(_ context.Context, look func(*agent.Agent)) error {
	if a.a == nil {
		return errors.New("the agent has stopped")
	}
	look(a.a)
	return nil
}

func (a *told) GetContainerIndex() containeridx.Reader { return watching{a: a} }
func (a *told) WatchNodeIP(c chan string)              { a.subscriber = c }
func (a *told) UnwatchNodeIP(chan string)              {}

type watching struct {
	containeridx.Reader
	a *told
}

func (w watching) Watch(_ string, callback func(containeridx.ChangeEvent)) error {
	for _, e := range containeridx.Changes(nil, contiv.ContainersOf(w.a.a)) {
		callback(e)
	}
	w.a.containers = callback
	return nil
}

func (watching) Unwatch(string) {}

// serve has an agent served on both sockets.
func serve(t *testing.T, a *told) *grpc.ClientConn {
	t.Helper()
	dir := t.TempDir()
	s, err := cnisocket.Listen(filepath.Join(dir, "cni.sock"), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Listen(filepath.Join(dir, "contiv.sock"), filepath.Join(dir, "cni.sock"), a, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(filepath.Join(dir, "contiv.sock"), "", a, nil); !errors.Is(err, cnisocket.ErrInUse) {
		t.Errorf("twice: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- s.Serve(ctx) }()
	go func() { ended <- r.Serve(ctx) }()
	c, err := grpc.NewClient("unix:"+filepath.Join(dir, "contiv.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, <-ended, c.Close()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Goal: a request of the shim's goes the plugin's way to the agent's CNI socket, and what comes of it is the shim's reply, or a
// status that carries it. Method: the generated client, and an agent that answers as each line says. ADDs that reach the agent are
// tried with real namespaces (TestRealRemoteCNI).
func TestRemoteCNI(t *testing.T) {
	a := &told{heard: make(chan agent.Event, 1)}
	client := cni.NewRemoteCNIClient(serve(t, a))
	owner := ipam.Owner{Network: "k8s", ContainerID: "c1", IfName: "eth0"}
	req := func(conf string) *cni.CNIRequest {
		return &cni.CNIRequest{Version: "0.3.1", ContainerId: "c1", InterfaceName: "eth0", NetworkNamespace: "/run/netns/x", ExtraNwConfig: conf,
			ExtraArguments: "IgnoreUnknown=1;K8S_POD_NAMESPACE=d;K8S_POD_NAME=p"}
	}
	for name, conf := range map[string]string{
		"conflist": `{"cniVersion":"0.3.1","name":"k8s","type":"contiv-cni","grpcServer":"/var/run/contiv/cni.sock","agentSocket":"/elsewhere"}`,
		"nothing":  "",
	} {
		reply, err := client.Delete(t.Context(), req(conf))
		if err != nil || reply.GetResult() != 0 {
			t.Fatalf("%s: %v, %v", name, reply, err)
		}
		want := owner
		if conf == "" {
			want.Network = DefaultNetwork
		}
		if got := (<-a.heard).(agent.PodDel); got.Owner != want {
			t.Errorf("%s: the agent heard %+v", name, got)
		}
	}
	newer := req(`{"name":"k8s"}`)
	newer.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, 7, protowire.BytesType), "host-local"))
	a.answer = agent.Answer{Code: agent.CodeTryAgain, Message: "no block yet"}
	for name, test := range map[string]struct {
		call  func(context.Context, *cni.CNIRequest, ...grpc.CallOption) (*cni.CNIReply, error)
		req   *cni.CNIRequest
		code  codes.Code
		reply uint32
		text  string
	}{
		"refused by the agent": {client.Delete, req(`{"name":"k8s"}`), codes.Unavailable, 11, "no block yet"},
		"IPAM plugin":          {client.Add, req(`{"name":"k8s","ipam":{"type":"host-local"}}`), codes.InvalidArgument, 2, `the agent runs no IPAM plugin such as "host-local"`},
		"newer shim":           {client.Add, newer, codes.InvalidArgument, 2, "fields that this agent does not know"},
		"no JSON":              {client.Add, req("["), codes.InvalidArgument, 6, "extra_nw_config is no JSON object"},
		"null":                 {client.Add, req("null"), codes.InvalidArgument, 6, "extra_nw_config is no JSON object"},
		"no namespace":         {client.Add, req(`{"name":"k8s"}`), codes.Unknown, 3, "CNI_NETNS: /run/netns/x: no such file"},
		"version":              {client.Add, req(`{"name":"k8s","cniVersion":"7.0.0"}`), codes.InvalidArgument, 1, "incompatible CNI version"},
		"no container":         {client.Add, &cni.CNIRequest{}, codes.InvalidArgument, 4, "CNI_CONTAINERID"},
	} {
		_, err := test.call(t.Context(), test.req)
		s := status.Convert(err)
		reply := &cni.CNIReply{}
		for _, d := range s.Details() {
			reply, _ = d.(*cni.CNIReply)
		}
		if s.Code() != test.code || !strings.Contains(s.Message(), test.text) || reply.GetResult() != test.reply || !strings.Contains(reply.GetError(), test.text) || strings.Contains(s.Message(), "\n") {
			t.Errorf("%s: %v, reply %v", name, err, reply)
		}
		if name == "refused by the agent" {
			<-a.heard
		}
	}
}

// Goal: a reply has all that a result says, of both families. Method: a result as the plugin prints it.
func TestReply(t *testing.T) {
	reply, err := replyOf([]byte(`{"cniVersion":"0.3.1","interfaces":[{"name":"eth0","mac":"02:fe:00:00:00:01","sandbox":"/run/netns/x"}],
		"ips":[{"version":"4","interface":0,"address":"10.1.1.2/32","gateway":"10.1.1.1"},{"version":"6","interface":0,"address":"fd00:1::2/128","gateway":"fd00:1::1"}],
		"routes":[{"dst":"0.0.0.0/0","gw":"10.1.1.1"}],"dns":{"nameservers":["10.96.0.10"],"search":["svc"]}}`))
	want := &cni.CNIReply{
		Interfaces: []*cni.CNIReply_Interface{{Name: "eth0", Mac: "02:fe:00:00:00:01", Sandbox: "/run/netns/x", IpAddresses: []*cni.CNIReply_Interface_IP{
			{Address: "10.1.1.2/32", Gateway: "10.1.1.1"}, {Version: cni.CNIReply_Interface_IP_IPV6, Address: "fd00:1::2/128", Gateway: "fd00:1::1"}}}},
		Routes: []*cni.CNIReply_Route{{Dst: "0.0.0.0/0", Gw: "10.1.1.1"}},
		Dns:    []*cni.CNIReply_DNS{{Nameservers: []string{"10.96.0.10"}, Search: []string{"svc"}}},
	}
	if err != nil || !proto.Equal(reply, want) {
		t.Errorf("%v, %v", reply, err)
	}
}

// Goal: on the wire our messages are contiv/vpp's. Method: names, numbers and types of all fields, as contiv/vpp's
// plugins/contiv/model/cni/cni.proto (v2.0) has them.
func TestWire(t *testing.T) {
	want := map[protoreflect.FullName]string{
		"cni.CNIRequest":            "1 version string, 2 container_id string, 3 network_namespace string, 4 interface_name string, 5 extra_nw_config string, 6 extra_arguments string",
		"cni.CNIReply":              "1 result uint32, 2 error string, 4 interfaces repeated message, 5 routes repeated message, 6 dns repeated message",
		"cni.CNIReply.Interface":    "1 name string, 2 mac string, 3 sandbox string, 4 ip_addresses repeated message",
		"cni.CNIReply.Interface.IP": "1 version enum, 2 address string, 3 gateway string",
		"cni.CNIReply.Route":        "1 dst string, 2 gw string",
		"cni.CNIReply.DNS":          "1 domain string, 2 nameservers repeated string, 3 search repeated string, 4 options repeated string",
	}
	var look func(protoreflect.MessageDescriptors)
	look = func(all protoreflect.MessageDescriptors) {
		for i := range all.Len() {
			m := all.Get(i)
			var fields []string
			for k := range m.Fields().Len() {
				f := m.Fields().Get(k)
				repeated := ""
				if f.IsList() {
					repeated = "repeated "
				}
				fields = append(fields, fmt.Sprintf("%d %s %s%s", f.Number(), f.Name(), repeated, f.Kind()))
			}
			if got := strings.Join(fields, ", "); got != want[m.FullName()] {
				t.Errorf("%s: %s", m.FullName(), got)
			}
			delete(want, m.FullName())
			look(m.Messages())
		}
	}
	look(cni.File_cni_cni_proto.Messages())
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	if cni.RemoteCNI_Add_FullMethodName != "/cni.RemoteCNI/Add" || cni.RemoteCNI_Delete_FullMethodName != "/cni.RemoteCNI/Delete" {
		t.Error("the service has other names")
	}
}

// Goal: what contiv answers in Go, Lookup answers over gRPC; what is not there has its code. Method: an agent's story with one
// pod, asked by the generated client, and the same once it has stopped.
func TestLookups(t *testing.T) {
	l := story.New(t)
	b := l.Machine("n1")
	b.Config.PodInterconnect = agent.PodInterconnectVeth
	b.Start()
	b.Tell()
	l.Settle()
	b.Add("web-0", "c1")
	l.Settle()
	a := &told{a: b.Agent}
	client := lookup.NewLookupClient(serve(t, a))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	web := &lookup.Pod{Namespace: "default", Name: "web-0"}
	i, err := client.GetIfName(ctx, web)
	if err != nil || !strings.HasPrefix(i.GetName(), "host-vd") {
		t.Fatalf("%v, %v", i, err)
	}
	if pod, err := client.GetPodByIf(ctx, i); err != nil || !proto.Equal(pod, web) {
		t.Errorf("%v, %v", pod, err)
	}
	n, err := client.GetNode(ctx, &lookup.NodeRequest{})
	if err != nil || n.GetNodeIp() != "192.168.16.1/24" || n.GetPodNetwork() != "10.1.1.0/24" || n.GetVxlanBviIfName() != "loop0" || !n.GetTcpStackDisabled() || n.GetPodVrfId() != 1 ||
		n.GetHostInterconnectIfName() != "host-vpp2" || n.GetServiceLocalEndpointWeight() != 1 || n.GetDefaultInterfaceAddress() != "" {
		t.Errorf("%v, %v", n, err)
	}
	for _, test := range []struct {
		r    *lookup.ContainersRequest
		want int
	}{{&lookup.ContainersRequest{}, 1}, {&lookup.ContainersRequest{ContainerId: "c1", PodNamespace: "default", PodName: "web-0", VppIfName: i.GetName()}, 1},
		{&lookup.ContainersRequest{PodNamespace: "default", PodName: "web-1"}, 0}} {
		c, err := client.ListContainers(ctx, test.r)
		if err != nil || len(c.GetContainers()) != test.want || test.want == 1 && c.GetContainers()[0].GetInterfaces()[0].GetIp() == "" {
			t.Errorf("%v: %v, %v", test.r, c, err)
		}
	}
	addresses, err := client.WatchNodeIP(ctx, &lookup.NodeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := addresses.Recv(); err != nil || e.GetNodeIp() != "192.168.16.1/24" {
		t.Errorf("%v, %v", e, err)
	}
	containers, err := client.WatchContainers(ctx, &lookup.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := containers.Recv()
	if err != nil || e.GetDel() || e.GetContainer().GetContainerId() != "c1" {
		t.Fatalf("%v, %v", e, err)
	}
	a.containers(containeridx.ChangeEvent{Name: "c1", Del: true, Value: &containeridx.Config{ID: "c1", Interfaces: []containeridx.Interface{{IP: netip.MustParseAddr("10.1.1.2")}}}})
	if e, err := containers.Recv(); err != nil || !e.GetDel() || e.GetContainer().GetInterfaces()[0].GetIp() != "10.1.1.2" {
		t.Errorf("%v, %v", e, err)
	}
	calls := map[string]func() error{
		"GetIfName": func() error {
			_, err := client.GetIfName(ctx, &lookup.Pod{Namespace: "default", Name: "web-1"})
			return err
		},
		"GetPodByIf":  func() error { _, err := client.GetPodByIf(ctx, &lookup.Interface{}); return err },
		"GetNsIndex":  func() error { _, err := client.GetNsIndex(ctx, web); return err },
		"GetPodByApp": func() error { _, err := client.GetPodByAppNsIndex(ctx, &lookup.NsIndex{Index: 1}); return err },
	}
	for name, want := range map[string]codes.Code{"GetIfName": codes.NotFound, "GetPodByIf": codes.NotFound, "GetNsIndex": codes.Unimplemented, "GetPodByApp": codes.Unimplemented} {
		if err := calls[name](); status.Code(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	a.a = nil
	for _, name := range []string{"GetIfName", "GetPodByIf"} {
		if err := calls[name](); status.Code(err) != codes.Unavailable {
			t.Errorf("%s of an agent that has stopped: %v", name, err)
		}
	}
	a.subscriber <- "192.168.16.2/24"
	if _, err := addresses.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("a stream of an agent that has stopped: %v", err)
	}
}

// Goal: a stream that is not read holds one event of each container, and ends when there are too many.
func TestQueue(t *testing.T) {
	q := newQueue()
	q.put(containeridx.ChangeEvent{Name: "a"})
	q.put(containeridx.ChangeEvent{Name: "b"})
	q.put(containeridx.ChangeEvent{Name: "a", Del: true})
	if events, ok := q.take(); !ok || len(events) != 2 || events[0].Name != "a" || !events[0].Del || events[1].Name != "b" {
		t.Errorf("%+v, %t", events, ok)
	}
	for i := range queueMax + 5 {
		q.put(containeridx.ChangeEvent{Name: fmt.Sprint(i)})
	}
	if _, ok := q.take(); ok || len(q.order) > queueMax+1 {
		t.Error("a stream without end")
	}
}
