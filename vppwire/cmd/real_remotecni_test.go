package cmd

import (
	"net/netip"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/cni"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/lookup"
)

// Goal: contiv/vpp's shim connects pods by a running agent's gRPC socket as our plugin does by the CNI socket: a pod of each reach
// each other, the same sandbox gets the same answer of both, and lookups and streams tell of both. Method: generated clients, an
// agent on a real VPP, and kill -9 of the agent in between.
func TestRealRemoteCNI(t *testing.T) {
	vpp := findVPP(t)
	host, one, two := namespace(t), namespace(t), namespace(t)
	m := &machine{t: t, folder: shortDir(t), vpp: vpp, host: host}
	m.write("contiv.yaml", "{TCPstackDisabled: true, ClaimPatience: 1ms, GRPCSocket: "+m.path("contiv.sock")+", PodInterconnect: veth, IPAMConfig: {podSubnetCIDR: 10.1.0.0/16, "+
		"podSubnetOneNodePrefixLen: 24, nodeInterconnectCIDR: 192.168.16.0/24, vxlanCIDR: 192.168.30.0/24}}")
	m.startVPP()
	m.startAgent()
	conn, err := grpc.NewClient("unix:"+m.path("contiv.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	defer func() { _ = conn.Close() }()
	shim, ask := cni.NewRemoteCNIClient(conn), lookup.NewLookupClient(conn)
	req := &cni.CNIRequest{Version: "0.3.1", ContainerId: "c1", NetworkNamespace: one.path, InterfaceName: "eth0",
		ExtraNwConfig:  `{"cniVersion":"0.3.1","name":"k8s","type":"contiv-cni","grpcServer":"/var/run/contiv/cni.sock","netnsDirs":["` + filepath.Dir(one.path) + `"]}`,
		ExtraArguments: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=c1"}
	add := func() netip.Addr {
		t.Helper()
		reply, err := shim.Add(t.Context(), req)
		must(t, err)
		i := reply.GetInterfaces()[0]
		if i.GetName() != "eth0" || i.GetSandbox() != one.path || i.GetMac() == "" || len(reply.GetRoutes()) != 1 || reply.GetRoutes()[0].GetDst() != "0.0.0.0/0" {
			t.Errorf("reply %v", reply)
		}
		a, err := netip.ParsePrefix(i.GetIpAddresses()[0].GetAddress())
		must(t, err)
		return a.Addr()
	}
	m.until("the gRPC socket answers", func() bool {
		_, err := ask.GetNode(t.Context(), &lookup.NodeRequest{}, grpc.WaitForReady(true))
		return err == nil
	})
	events, err := ask.WatchContainers(t.Context(), &lookup.WatchRequest{})
	must(t, err)
	a, b := add(), m.add("c2", two)
	reaches(t, one, two, b)
	reaches(t, two, one, a)
	if again := m.add("c1", one); again != a {
		t.Errorf("the shim's pod has %s, and %s by the plugin", a, again)
	}
	i, err := ask.GetIfName(t.Context(), &lookup.Pod{Namespace: "default", Name: "c1"})
	must(t, err)
	if pod, err := ask.GetPodByIf(t.Context(), i); err != nil || pod.GetName() != "c1" {
		t.Errorf("behind %s: %v, %v", i.GetName(), pod, err)
	}
	for told := map[string]bool{}; !told["c1"] || !told["c2"]; {
		e, err := events.Recv()
		must(t, err)
		told[e.GetContainer().GetContainerId()] = true
	}

	kill(t, m.agent)
	if _, err := events.Recv(); err == nil {
		t.Error("a stream outlives the agent")
	}
	m.startAgent()
	m.settled()
	if again := add(); again != a {
		t.Errorf("c1 has %s, then %s", a, again)
	}
	reaches(t, one, two, b)
	_, err = shim.Delete(t.Context(), req)
	must(t, err)
	_, err = shim.Delete(t.Context(), req)
	must(t, err)
	if _, err := ask.GetIfName(t.Context(), &lookup.Pod{Namespace: "default", Name: "c1"}); status.Code(err) != codes.NotFound {
		t.Errorf("after its DEL: %v", err)
	}
	if resp := m.try(wire.Request{Command: wire.Check, ContainerID: "c1", IfName: "eth0", Addr: a}); resp.Code == 0 {
		t.Error("c1 is there still")
	}
	m.ask(wire.Request{Command: wire.Del, ContainerID: "c2", IfName: "eth0"})
	m.settled()
}
