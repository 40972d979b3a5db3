package lab

import (
	"fmt"
	"os"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// vhostNet is what VPP's taps need of the kernel.
const vhostNet = "/dev/vhost-net"

// LabelMatrix marks scenarios that are about their wiring: in them nothing of it is replaced.
const LabelMatrix = "matrix"

// hostWiring is how the host is connected in this lab: as the scenario says, except that a tap becomes a veth where this
// machine has no vhost-net. The result says so.
func hostWiring(s *scenarios.Scenario) (wiring scenarios.HostWiring, replaced bool) {
	if s.Config.Wiring.Host != scenarios.HostTAP || hasTaps() {
		return s.Config.Wiring.Host, false
	}
	return scenarios.HostVETH, true
}

// Adapted is what a lab on this machine makes of a scenario, with a note of what it has to do otherwise, empty for nothing.
func Adapted(s *scenarios.Scenario) (*scenarios.Scenario, string) {
	wiring, replaced := hostWiring(s)
	if !replaced {
		return s, ""
	}
	out := *s
	out.Config.Wiring.Host = wiring
	return &out, fmt.Sprintf("the host is connected by %s: there is no %s for a tap", wiring, vhostNet)
}

// hasTaps reports whether VPP can make taps here.
func hasTaps() bool {
	f, err := os.OpenFile(vhostNet, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	_ = f.Close() // nothing was written
	return true
}

// Validate says in one line what is wrong with a scenario's topology or configuration for a lab: what an agent would refuse.
func Validate(s *scenarios.Scenario) error {
	if nic := string(s.Topology.NIC); nic != "" && mode.PickNIC([]string{nic}) == "" {
		return fmt.Errorf("topology.nic %q: an agent takes an interface of that name for one that it has made; true, or a name as %s, is wanted",
			nic, scenarios.DefaultNIC)
	}
	if _, err := configure(s); err != nil {
		return err
	}
	_, err := poolsFor(s.Config.IPAM)
	return err
}

// configure turns a scenario's configuration into its agents'.
func configure(s *scenarios.Scenario) (agent.Config, error) {
	wiring := s.Config.Wiring
	host, _ := hostWiring(s)
	cfg := agent.Config{
		TCPChecksumOffloadDisabled: true, TCPstackDisabled: true,
		UseL2Interconnect: wiring.Node == scenarios.NodeL2, UseTAPInterfaces: wiring.Pod == scenarios.PodTAP,
		MTUSize: wiring.MTU, MainVRFID: wiring.MainVRF, PodVRFID: wiring.PodVRF,
		HostInterconnect: agent.HostInterconnect(host), NodeIDQuarantine: s.Config.Agent.NodeIDQuarantine,
		AddPatience: s.Config.Agent.AddPatience,
		NodeName:    "any",
	}
	probe := cfg
	probe.ApplyDefaults()
	if err := probe.Validate(); err != nil {
		return cfg, fmt.Errorf("config: %w", err)
	}
	return cfg, nil
}

// poolsFor resolves a scenario's address plan as an agent would.
func poolsFor(c scenarios.IPAM) (agent.Pools, error) {
	cfg := agent.Config{IPAMConfig: c.Contiv()}
	pools, _, err := cfg.Pools()
	return pools, err
}

// Unsupported names what a lab on this machine cannot do of a scenario, beside its timeline: faults that are injected into
// an agent's calls, and taps without vhost-net.
func Unsupported(s *scenarios.Scenario) []string {
	var out []string
	f := s.Faults
	for _, p := range [...]struct {
		name string
		on   bool
	}{
		{"dropRequest", f.DropRequest > 0}, {"dropReply", f.DropReply > 0}, {"refuse", f.Refuse > 0}, {"delayReply", f.DelayReply.P > 0},
		{"crashVPP", f.CrashVPP > 0}, {"crashBeforeEffect", f.CrashBeforeEffect > 0}, {"crashAfterEffect", f.CrashAfterEffect > 0},
		{"crashAfterPersist", f.CrashAfterPersist > 0}, {"diskError", f.DiskError > 0}, {"storeUnavailable", f.StoreUnavailable > 0},
		{"dropStoreReply", f.DropStoreReply > 0}, {"delayStoreReply", f.DelayStoreReply.P > 0}, {"loseWatch", f.LoseWatch > 0},
		{"duplicateWatch", f.DuplicateWatch > 0}, {"withdrawCNI", f.WithdrawCNI > 0}, {"inject", len(f.Inject) > 0},
	} {
		if p.on {
			out = append(out, "faults."+p.name)
		}
	}
	if sys := s.Config.IPAM.System; sys != scenarios.Contiv {
		out = append(out, "ipam.system="+string(sys))
	}
	if hasTaps() {
		return out
	}
	if s.Config.Wiring.Pod == scenarios.PodTAP {
		out = append(out, "wiring.pod=tap (no "+vhostNet+")")
	}
	if _, replaced := hostWiring(s); replaced && hasLabel(s, LabelMatrix) {
		out = append(out, "wiring.host=tap (no "+vhostNet+")")
	}
	return out
}

func hasLabel(s *scenarios.Scenario, label string) bool {
	for _, l := range s.Labels {
		if l == label {
			return true
		}
	}
	return false
}
