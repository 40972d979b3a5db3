package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	lookup "github.com/vppdrill/vppdrill/vppwire/host/contiv"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Prefix begins versioned paths, and PluginURL is the one of the address plan; both are contiv/vpp's.
const (
	Prefix    = "/contiv/v1/"
	PluginURL = Prefix + "ipam"
)

// Agent is what can be looked at: a host.Driver.
type Agent interface {
	Ask(ctx context.Context, look func(*agent.Agent)) error
}

// Config is what a handler shows besides the agent itself.
type Config struct {
	Agent    Agent
	NodeName string
	// IPAM is the address section of the agent's own configuration.
	IPAM    contiv.IPAMConfig
	Metrics prometheus.Gatherer
	// Trouble is a line about what keeps the agent from its cluster, empty where nothing does; nil: nothing is known of
	// that.
	Trouble func() string
	// Beside, where set, has every other path.
	Beside http.Handler
}

// askTime is how long a look at the agent may take; its longest step is far below.
const askTime = 5 * time.Second

// Handler serves every path.
func Handler(cfg Config) http.Handler {
	mux := http.NewServeMux()
	h := handler(cfg)
	mux.HandleFunc("GET "+PluginURL, h.ipam)
	mux.HandleFunc("GET "+NodeURL, h.node)
	mux.HandleFunc("GET "+ContainersURL, h.containers)
	mux.Handle("GET /healthz", Probe(h.health))
	mux.HandleFunc("GET /plan", h.plan)
	mux.HandleFunc("GET "+StateURL, h.state(time.Now()))
	mux.Handle("GET /metrics", promhttp.HandlerFor(cfg.Metrics, promhttp.HandlerOpts{}))
	if cfg.Beside != nil {
		mux.Handle("/", cfg.Beside)
	}
	return mux
}

type handler Config

func (h handler) ask(w http.ResponseWriter, r *http.Request, look func(*agent.Agent)) bool {
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	if err := h.Agent.Ask(ctx, look); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return false
	}
	return true
}

// plan prints desired against known state.
func (h handler) plan(w http.ResponseWriter, r *http.Request) {
	var text []byte
	if !h.ask(w, r, func(a *agent.Agent) { text = a.AppendPlan(nil) }) {
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(text) // who went away does not miss it
}

// health is nothing when nothing is left to do and pods can be wired, why they cannot or what is pending, and on a line
// of its own what keeps the agent from its cluster, or an error when the agent does not answer: a probe that restarts
// the agent because VPP is away would make nothing better.
func (h handler) health(ctx context.Context) (string, error) {
	var lines []string
	if err := h.Agent.Ask(ctx, func(a *agent.Agent) { lines = append(lines, cmp.Or(a.Pending(), a.Trouble(time.Now()))) }); err != nil {
		return "", err
	}
	if h.Trouble != nil {
		lines = append(lines, h.Trouble())
	}
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n"), nil
}

// NodeIPAM is the answer of PluginURL: contiv/vpp 2.0's.
type NodeIPAM struct {
	ID             uint32     `json:"nodeId"`
	Name           string     `json:"nodeName"`
	IP             string     `json:"nodeIP"`
	PodNetwork     string     `json:"podNetwork"`
	VPPHostNetwork string     `json:"vppHostNetwork"`
	Config         IPAMConfig `json:"config"`
	// Second is ours: what the node has of the second family, absent in clusters of one.
	Second *SecondIPAM `json:"second,omitempty"`
}

// SecondIPAM is a node's addresses and ranges of the second family, under the names of the first.
type SecondIPAM struct {
	IP             string     `json:"nodeIP"`
	PodNetwork     string     `json:"podNetwork"`
	VPPHostNetwork string     `json:"vppHostNetwork"`
	Config         IPAMConfig `json:"config"`
}

// IPAMConfig is the address section under contiv/vpp 2.0's names.
type IPAMConfig struct {
	PodIfIPCIDR             string `json:"podIfIPCIDR"`
	PodSubnetCIDR           string `json:"podSubnetCIDR"`
	PodNetworkPrefixLen     int    `json:"podNetworkPrefixLen"`
	VPPHostSubnetCIDR       string `json:"vppHostSubnetCIDR"`
	VPPHostNetworkPrefixLen int    `json:"vppHostNetworkPrefixLen"`
	NodeInterconnectCIDR    string `json:"nodeInterconnectCIDR"`
	NodeInterconnectDHCP    bool   `json:"nodeInterconnectDHCP"`
	VXLANCIDR               string `json:"vxlanCIDR"`
	ServiceCIDR             string `json:"serviceCIDR"`
	ContivCIDR              string `json:"contivCIDR"`
}

// ipam shows the node's addresses; 500 as upstream while the node has none.
func (h handler) ipam(w http.ResponseWriter, r *http.Request) {
	out := NodeIPAM{Name: h.NodeName}
	known := false
	if !h.ask(w, r, func(a *agent.Agent) { known = out.fill(a, h.IPAM) }) {
		return
	}
	if !known {
		answerCode(w, http.StatusInternalServerError, "Error getting node IP")
		return
	}
	answer(w, out)
}

func answer(w http.ResponseWriter, with any) { answerCode(w, http.StatusOK, with) }

func answerCode(w http.ResponseWriter, code int, with any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(with) // who went away does not miss it
}

// addressed is a node's addresses as its agent knows them.
type addressed interface {
	ID() uint32
	Node() mode.Node
	Blocks() []ipam.Block
	Ranges() (contiv.Plan, bool)
}

// fill takes over what the node has and the ranges in force, defaults and what the cluster says included; false while
// it has no address.
func (out *NodeIPAM) fill(a addressed, own contiv.IPAMConfig) bool {
	n := a.Node()
	plan, known := a.Ranges()
	if !known || !n.Address.IsValid() {
		return false
	}
	block := func(ip6 bool) string { return text(lookup.PodNetwork(a.Blocks(), ip6)) }
	out.ID, out.IP, out.PodNetwork = a.ID(), n.Address.Addr().String(), block(n.Address.Addr().Is6())
	out.VPPHostNetwork, out.Config = text(n.HostSubnet), configOf(&plan)
	out.Config.ContivCIDR = own.ContivCIDR
	if second := n.Second; second != nil && plan.Second != nil {
		out.Second = &SecondIPAM{second.Address.Addr().String(), block(second.Address.Addr().Is6()), text(second.HostSubnet), configOf(plan.Second)}
	}
	return true
}

// configOf are the ranges of one family.
func configOf(plan *contiv.Plan) IPAMConfig {
	return IPAMConfig{
		PodIfIPCIDR: text(plan.PodIf), PodSubnetCIDR: text(plan.PodSubnet), PodNetworkPrefixLen: plan.PodSubnetOneNodePrefixLen,
		VPPHostSubnetCIDR: text(plan.VPPHostSubnet), VPPHostNetworkPrefixLen: plan.VPPHostSubnetOneNodeLen,
		NodeInterconnectCIDR: text(plan.NodeInterconnect), NodeInterconnectDHCP: !plan.NodeInterconnect.IsValid(),
		VXLANCIDR: text(plan.VXLAN), ServiceCIDR: text(plan.Service),
	}
}

func text(p netip.Prefix) string {
	if !p.IsValid() {
		return ""
	}
	return p.String()
}

// unixWord begins an address that is a unix socket's path.
const unixWord = "unix:"

// ErrInUse: another program listens where this one should.
var ErrInUse = errors.New("another program listens there; --rest names another address, --rest \"\" none")

// Check refuses what Listen would not listen on: anything but "unix:PATH" and an address of loopback with a port.
func Check(where string) error {
	if path, ok := strings.CutPrefix(where, unixWord); ok {
		if path == "" {
			return errors.New("unix: needs a path behind it")
		}
		return nil
	}
	host, _, err := net.SplitHostPort(where)
	if err != nil {
		return fmt.Errorf("%q: want ADDRESS:PORT or unix:PATH", where)
	}
	if addr, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !addr.IsLoopback()) {
		return fmt.Errorf("%q: there is no authentication, so only loopback and unix sockets are served", where)
	}
	return nil
}

// Listen listens where Check allows it. A socket that a dead agent left is taken over.
func Listen(where string) (net.Listener, error) {
	if err := Check(where); err != nil {
		return nil, fmt.Errorf("REST: %w", err)
	}
	if path, ok := strings.CutPrefix(where, unixWord); ok {
		return listenUnix(path)
	}
	l, err := net.Listen("tcp", where)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("REST %s: %w", where, ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("REST: %w", err)
	}
	return l, nil
}

func listenUnix(path string) (net.Listener, error) {
	if c, err := net.Dial("unix", path); err == nil {
		return nil, errors.Join(fmt.Errorf("REST socket %s: %w", path, ErrInUse), c.Close())
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("REST: %w", err)
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("REST: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("REST: %w", err), l.Close())
	}
	return l, nil
}

// Figures shows what Prometheus asks for, and nothing else.
func Figures(of prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(of, promhttp.HandlerOpts{}))
	return mux
}

// Serve serves until ctx ends.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: askTime}
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.Background(), askTime)
		defer cancel()
		_ = server.Shutdown(end) // what does not end in time is cut off with the process
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
