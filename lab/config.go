package lab

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/agentconfig"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// vhostNet is what VPP's taps need of the kernel.
const vhostNet = "/dev/vhost-net"

// LabelMatrix marks scenarios that are about their wiring: in them nothing of it is replaced.
const LabelMatrix = "matrix"

// hostWiring is how the host is connected in this lab: as the scenario says, except that a tap becomes a veth where
// this machine has no vhost-net. The result says so.
func hostWiring(s *scenarios.Scenario) (wiring scenarios.HostWiring, replaced bool) {
	if s.Config.Wiring.Host != scenarios.HostTAP || HasTaps() {
		return s.Config.Wiring.Host, false
	}
	return scenarios.HostVETH, true
}

// Adapted is what a lab on this machine makes of a scenario, with a note of what it has to do otherwise, empty for
// nothing.
func Adapted(s *scenarios.Scenario) (*scenarios.Scenario, string) {
	wiring, replaced := hostWiring(s)
	if !replaced {
		return s, ""
	}
	out := *s
	out.Config.Wiring.Host = wiring
	return &out, fmt.Sprintf("the host is connected by %s: there is no %s for a tap", wiring, vhostNet)
}

// HasTaps reports whether VPP can make taps here.
func HasTaps() bool {
	f, err := os.OpenFile(vhostNet, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	_ = f.Close() // nothing was written
	return true
}

// Validate says in one line what is wrong with a scenario's topology or configuration for a lab: what an agent would
// refuse.
func Validate(s *scenarios.Scenario) error {
	if nic := string(s.Topology.NIC); nic != "" && len(mode.NICs([]string{nic})) == 0 {
		return fmt.Errorf("topology.nic %q: an agent takes an interface of that name for one that it has made; true, or a name as %s, is wanted",
			nic, scenarios.DefaultNIC)
	}
	if c := s.Config.IPAM; c.ByController() && c.System != scenarios.NodeIPAM && c.System != scenarios.Cilium {
		return fmt.Errorf("config.ipam.system: labs run no controllers of %q", c.System)
	}
	if _, err := configure(s); err != nil {
		return err
	}
	_, err := agentconfig.Pools(s.Config.IPAM)
	return err
}

// configure turns a scenario's configuration into its agents'.
func configure(s *scenarios.Scenario) (agent.Config, error) {
	adapted, _ := Adapted(s)
	return agentconfig.Of(adapted.Config)
}

// Standing is what of a scenario a standing lab is made of, and what is left out of it, a line each: faults, which
// nobody would end, and what only a run does.
func Standing(s *scenarios.Scenario) (standing *scenarios.Scenario, left []string) {
	out := *s
	if s.Faults.Any() {
		out.Faults = scenarios.Faults{}
		line := "left out: faults, which only a run heals"
		var cannot []timeline.Refusal
		for _, r := range Unsupported(s) {
			if strings.HasPrefix(r.What, "faults.") {
				cannot = append(cannot, r)
			}
		}
		if len(cannot) > 0 {
			line += "; labs cannot do " + timeline.Line(cannot)
		}
		left = append(left, line)
	}
	if n := len(s.Timeline); n > 0 || s.Churn.On() {
		line := fmt.Sprintf("left to vppdrill run: a timeline of %d items", n)
		if s.Churn.On() {
			line += " and churn"
		}
		if cannot := UnsupportedActions(s); len(cannot) > 0 {
			line += "; labs cannot do " + timeline.Line(cannot)
		}
		left = append(left, line)
	}
	return &out, left
}

// Unsupported is what a lab on this machine cannot do of a scenario beside its timeline.
func Unsupported(s *scenarios.Scenario) []timeline.Refusal {
	if HasTaps() {
		return timeline.RefusedSettings(s, lacksOf(s))
	}
	out := timeline.RefusedSettings(s, append(slices.Clone(lacksOf(s)), timeline.VhostNet))
	if _, replaced := hostWiring(s); replaced && slices.Contains(s.Labels, LabelMatrix) {
		out = append(out, timeline.Refusal{What: "wiring.host=tap", Need: timeline.VhostNet})
	}
	return out
}
