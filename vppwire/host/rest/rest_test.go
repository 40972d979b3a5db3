package rest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// still is an agent that nobody drives.
type still struct{ a *agent.Agent }

func (s still) Ask(_ context.Context, look func(*agent.Agent)) error {
	if s.a == nil {
		return errors.New("the agent has stopped")
	}
	look(s.a)
	return nil
}

var ranges = contiv.IPAMConfig{PodSubnetCIDR: "10.1.0.0/16", PodSubnetOneNodePrefixLen: 24, NodeInterconnectCIDR: "192.168.16.0/24",
	VXLANCIDR: "192.168.30.0/24"}

var web = ipam.Owner{Network: "k8s", ContainerID: "c1", IfName: "eth0"}

// newAgent is a node that knows its ID, or not yet.
func newAgent(t testing.TB, settled bool) *agent.Agent {
	t.Helper()
	cfg := agent.Config{NodeName: "node-1", TCPstackDisabled: true, IPAMConfig: ranges}
	alloc, err := contiv.New(contiv.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(cfg, alloc)
	if err != nil {
		t.Fatal(err)
	}
	var records []agent.Record
	if settled {
		records = []agent.Record{{Kind: agent.RecordNode, NodeID: 1, NodeUID: "u"}, {Kind: agent.RecordIPAM, IPAM: ipam.Record{
			Op: ipam.OpBlock, Prefix: netip.MustParsePrefix("10.1.1.0/24"), Addr: netip.MustParseAddr("10.1.1.1"), At: time.Unix(1, 0).UTC()}},
			{Kind: agent.RecordIPAM, IPAM: ipam.Record{Op: ipam.OpLease, Owner: web, Addr: netip.MustParseAddr("10.1.1.2"), Prefix: netip.MustParsePrefix("10.1.1.0/24"), At: time.Unix(1, 0).UTC()}},
			{Kind: agent.RecordBoot, Boot: "b"}, {Kind: agent.RecordSandbox, Number: 1, Sandbox: agent.Sandbox{Owner: web, Netns: "/run/netns/x", PodNamespace: "default", PodName: "web-0"}}}
	}
	now := time.Unix(1, 0)
	effects := a.Step(now, agent.Restored{Records: records, Boot: "b"})
	for _, e := range effects {
		if p, ok := e.(agent.Persist); ok {
			a.Step(now, agent.Persisted{Seq: p.Seq})
		}
	}
	return a
}

func get(t testing.TB, h http.Handler, method, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(body)
}

func handlerOf(t testing.TB, a *agent.Agent) http.Handler {
	registry := prometheus.NewRegistry()
	count := prometheus.NewCounter(prometheus.CounterOpts{Name: "seen_total", Help: "Seen."})
	registry.MustRegister(count)
	return Handler(Config{Agent: still{a}, NodeName: "node-1", IPAM: ranges, Metrics: registry})
}

// Goal: the address plan is contiv/vpp's, before and after the node has an address.
func TestIPAM(t *testing.T) {
	code, body := get(t, handlerOf(t, newAgent(t, false)), "GET", PluginURL)
	if code != 500 || body != "\"Error getting node IP\"\n" {
		t.Errorf("before: %d %q", code, body)
	}
	code, body = get(t, handlerOf(t, newAgent(t, true)), "GET", PluginURL)
	const want = `{"nodeId":1,"nodeName":"node-1","nodeIP":"192.168.16.1","podNetwork":"10.1.1.0/24","vppHostNetwork":"172.30.1.0/24",` +
		`"config":{"podIfIPCIDR":"","podSubnetCIDR":"10.1.0.0/16","podNetworkPrefixLen":24,"vppHostSubnetCIDR":"172.30.0.0/16","vppHostNetworkPrefixLen":24,` +
		`"nodeInterconnectCIDR":"192.168.16.0/24","nodeInterconnectDHCP":false,"vxlanCIDR":"192.168.30.0/24","serviceCIDR":"10.96.0.0/12","contivCIDR":""}}` + "\n"
	if code != 200 || body != want {
		t.Errorf("after: %d %s", code, body)
	}
	if !json.Valid([]byte(body)) {
		t.Error("no JSON")
	}
}

// node is what an agent knows of a node of two families.
type node struct{}

func (node) ID() uint32 { return 1 }

func (node) Node() mode.Node {
	return mode.Node{Address: netip.MustParsePrefix("192.168.16.1/24"), HostSubnet: netip.MustParsePrefix("172.30.1.0/24"),
		Second: &mode.Node{Address: netip.MustParsePrefix("fd00:16::1/64"), HostSubnet: netip.MustParsePrefix("fd00:30::100/120")}}
}

func (node) Blocks() []ipam.Block {
	return []ipam.Block{{Prefix: netip.MustParsePrefix("10.1.1.0/24")}, {Prefix: netip.MustParsePrefix("fd00:1:0:1::/64")},
		{Prefix: netip.MustParsePrefix("fd00:2:0:1::/64"), Draining: true}}
}

func (node) Ranges() (contiv.Plan, bool) {
	p, err := contiv.IPAMConfig{PodSubnetCIDR: "10.1.0.0/16,fd00:1::/48", NodeInterconnectCIDR: "192.168.16.0/24,fd00:16::/64", PodSubnetOneNodePrefixLen: 24,
		PodSubnetOneNodePrefixLenIPv6: 64, VPPHostSubnetCIDR: "172.30.0.0/16,fd00:30::/64", VXLANCIDR: "192.168.30.0/24,fd00:18::/64"}.Resolve()
	return p, err == nil
}

// Goal: a node of two families shows both. Method: an agent's answers, in JSON.
func TestSecondIPAM(t *testing.T) {
	var out NodeIPAM
	if _, known := (node{}).Ranges(); !known {
		t.Fatal("no ranges")
	}
	if !out.fill(node{}, contiv.IPAMConfig{}) {
		t.Fatal("no address")
	}
	body, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"nodeIP":"192.168.16.1","podNetwork":"10.1.1.0/24"`, `"podSubnetCIDR":"10.1.0.0/16"`,
		`"second":{"nodeIP":"fd00:16::1","podNetwork":"fd00:1:0:1::/64","vppHostNetwork":"fd00:30::100/120","config":{"podIfIPCIDR":"","podSubnetCIDR":"fd00:1::/48"`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

// Goal: each path shows its thing, nothing is written by any, and an agent that has stopped is told as such.
func TestPaths(t *testing.T) {
	h, stopped := handlerOf(t, newAgent(t, true)), handlerOf(t, nil)
	for _, test := range []struct {
		h            http.Handler
		method, path string
		code         int
		text         string
	}{
		{h, "GET", "/plan", 200, "node\n  + table 1"},
		{h, "GET", "/healthz", 200, "the store has not answered"},
		{h, "GET", "/metrics", 200, "seen_total 0"},
		{h, "GET", NodeURL, 200, `{"nodeIP":"192.168.16.1/24","podSubnet":"10.1.0.0/16","podNetwork":"10.1.1.0/24","natLoopbackIP":"10.1.1.254","hostIPs":[],`},
		{h, "GET", ContainersURL, 200, "[{\"containerID\":\"c1\",\"podNamespace\":\"default\",\"podName\":\"web-0\""},
		{h, "GET", ContainersURL + "?podNamespace=default&podName=web-0&containerID=c1", 200, `"ip":"10.1.1.2"`},
		{h, "GET", ContainersURL + "?podNamespace=other", 200, "[]\n"},
		{h, "GET", ContainersURL + "?vppIfName=", 400, `"vppIfName": want each of`},
		{h, "GET", ContainersURL + "?vppIfName=host-vd1", 200, "[]\n"},
		{h, "GET", ContainersURL + "?pod=web-0", 400, `"pod": want each of containerID, podName, podNamespace, vppIfName once at the most`},
		{h, "GET", ContainersURL + "?podName=a&podName=b", 400, `"podName": want each of`},
		{stopped, "GET", NodeURL, 503, "stopped"},
		{stopped, "GET", ContainersURL, 503, "stopped"},
		{h, "GET", "/nothing", 404, ""},
		{h, "POST", "/plan", 405, ""},
		{h, "DELETE", PluginURL, 405, ""},
		{stopped, "GET", "/plan", 503, "stopped"},
		{stopped, "GET", "/healthz", 503, "stopped"},
		{stopped, "GET", PluginURL, 503, "stopped"},
	} {
		if code, body := get(t, test.h, test.method, test.path); code != test.code || !strings.Contains(body, test.text) {
			t.Errorf("%s %s: %d %.100q", test.method, test.path, code, body)
		}
	}
}

// Goal: what keeps an agent from its cluster stands beside what is pending, and nothing stands for nothing.
func TestHealthOfTheCluster(t *testing.T) {
	trouble := "the API server refuses"
	h := Handler(Config{Agent: still{newAgent(t, true)}, Metrics: prometheus.NewRegistry(), Trouble: func() string { return trouble }})
	if code, body := get(t, h, "GET", "/healthz"); code != 200 || !strings.HasPrefix(body, "the store has not answered") || !strings.HasSuffix(body, "\nthe API server refuses\n") {
		t.Errorf("%d %q", code, body)
	}
	trouble = ""
	if _, body := get(t, h, "GET", "/healthz"); strings.Count(body, "\n") != 1 || !strings.HasPrefix(body, "the store has not answered") {
		t.Errorf("%q", body)
	}
}

// Goal: a program that has nothing else to show says whether it lives and whether it works, each at its place. Method:
// one that works, and one that lives alone.
func TestProbes(t *testing.T) {
	says := func(text string, err error) Probe {
		return func(context.Context) (string, error) { return text, err }
	}
	h := Probes(says("", nil), says("leads", nil))
	waits := Probes(says("", nil), says("", errors.New("no server answers")))
	for _, test := range []struct {
		h            http.Handler
		method, path string
		code         int
		text         string
	}{
		{h, "GET", "/healthz", 200, "ok\n"},
		{h, "GET", "/readyz", 200, "leads\n"},
		{h, "GET", "/metrics", 404, "404 page not found\n"},
		{h, "POST", "/healthz", 405, "Method Not Allowed\n"},
		{waits, "GET", "/healthz", 200, "ok\n"},
		{waits, "GET", "/readyz", 503, "no server answers\n"},
	} {
		if code, body := get(t, test.h, test.method, test.path); code != test.code || body != test.text {
			t.Errorf("%s %s: %d %q", test.method, test.path, code, body)
		}
	}
}

// Goal: REST listens for this machine only, and a socket is its owner's alone.
func TestListen(t *testing.T) {
	for _, where := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "127.0.0.1", "example.org:80", "unix:", "[::]:0"} {
		if l, err := Listen(where); err == nil {
			t.Errorf("%s: listens at %s", where, l.Addr())
		}
	}
	path := filepath.Join(t.TempDir(), "rest.sock")
	for _, where := range []string{"127.0.0.1:0", "localhost:0", "unix:" + path} {
		l, err := Listen(where)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, l, handlerOf(t, newAgent(t, true))) }()
		if where[0] == 'u' {
			info, err := os.Lstat(path)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		}
		again := where
		if where[0] != 'u' {
			again = l.Addr().String()
		}
		if _, err := Listen(again); !errors.Is(err, ErrInUse) {
			t.Errorf("two of them listen at %s: %v", again, err)
		}
		c, err := net.Dial(l.Addr().Network(), l.Addr().String())
		if err != nil {
			t.Error(err)
		} else {
			_ = c.Close()
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
}

// FuzzPath: no request makes the handler fail.
func FuzzPath(f *testing.F) {
	f.Add("GET", "/contiv/v1/ipam")
	f.Add("GET", "/plan?x=%00")
	h := handlerOf(f, newAgent(f, true))
	f.Fuzz(func(t *testing.T, method, path string) {
		r, err := http.NewRequest(method, "http://agent"+path, nil)
		if err != nil {
			return
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code == 500 && w.Body.String() != "\"Error getting node IP\"\n" {
			t.Fatalf("%s %s: %s", method, path, w.Body)
		}
	})
}
