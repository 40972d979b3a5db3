package gen

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Profile bounds what Draw may draw.
type Profile struct {
	// Name is what people select it by.
	Name string
	// Nodes are there at the start; node churn keeps the number between NodesMin and NodesMax.
	Nodes, NodesMin, NodesMax int
	// PodsPerNodeMax bounds both the pods at the start and what the scheduler places on a node. At most 12: that many
	// fit the smallest node range that is drawn, a /28.
	PodsPerNodeMax int
	// Duration is the length of the break phase.
	Duration time.Duration
	// GapMin and GapMax bound the mean time between two timeline items.
	GapMin, GapMax time.Duration
	// ChurnMin and ChurnMax bound the mean time between two pod creations.
	ChurnMin, ChurnMax time.Duration
	// Systems are the address management systems of which one is drawn; none: it is Contiv.
	Systems []*scenarios.AddressSystem
}

// Small is five nodes and an hour of churn and faults. Its rates keep a run at some ten thousand events, so that a core gets
// through tens of seeds a second.
func Small() Profile {
	return Profile{
		Name: "small", Nodes: 5, NodesMin: 3, NodesMax: 7, PodsPerNodeMax: 12, Duration: time.Hour,
		GapMin: time.Minute, GapMax: 8 * time.Minute, ChurnMin: 15 * time.Second, ChurnMax: 2 * time.Minute,
	}
}

// Tiny is two nodes and a minute, small enough to search many choices of it.
func Tiny() Profile {
	return Profile{
		Name: "tiny", Nodes: 2, NodesMin: 1, NodesMax: 3, PodsPerNodeMax: 3, Duration: time.Minute,
		GapMin: 5 * time.Second, GapMax: 20 * time.Second, ChurnMin: 5 * time.Second, ChurnMax: 20 * time.Second,
	}
}

// Large is fifty nodes and an hour at higher rates.
func Large() Profile {
	return Profile{
		Name: "large", Nodes: 50, NodesMin: 40, NodesMax: 60, PodsPerNodeMax: 12, Duration: time.Hour,
		GapMin: 10 * time.Second, GapMax: time.Minute, ChurnMin: time.Second, ChurnMax: 10 * time.Second,
	}
}

// Of is p for clusters with these systems. The error names one that random scenarios cannot have.
func (p Profile) Of(systems ...*scenarios.AddressSystem) (Profile, error) {
	for _, r := range systems {
		if r.Draws == nil {
			return p, fmt.Errorf("random scenarios have no system %q", r.Name)
		}
	}
	p.Systems = systems
	return p, nil
}

// Profiles lists every profile, the usual one first.
func Profiles() []Profile { return []Profile{Small(), Tiny(), Large(), Systems()} }

// ByName finds a profile.
func ByName(name string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}
