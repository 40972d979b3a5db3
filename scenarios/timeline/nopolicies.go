package timeline

import "github.com/vppdrill/vppdrill/scenarios"

// NoPolicies are a world's that lacks PolicyFeed: nobody asks it for anything.
type NoPolicies struct{}

// SetPolicy implements ControlPlane.
func (NoPolicies) SetPolicy(scenarios.Policy) {}

// RemovePolicy implements ControlPlane.
func (NoPolicies) RemovePolicy(string) {}

// LabelPods implements ControlPlane.
func (NoPolicies) LabelPods([]string, []scenarios.Label) {}

// LabelNamespace implements ControlPlane.
func (NoPolicies) LabelNamespace([]scenarios.Label) {}
