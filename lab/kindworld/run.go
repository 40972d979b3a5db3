package kindworld

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/kindcluster"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Name is the world's.
const Name = "kind"

// Options are what a run chooses beside its scenario. Cluster's ID, image, folder and patience are required; what the
// cluster is made of follows from the scenario.
type Options struct {
	Cluster kindcluster.Options
	lab.RunOptions

	kept bool
}

// Run makes a cluster for s, drives it, judges it and removes it. The error is a cluster that could not be made; what
// happens in the run is in the Result. What a cluster cannot do of s is named there, and nothing is made.
func Run(ctx context.Context, s *scenarios.Scenario, o Options) (result.Result, error) {
	if missing := Unsupported(s); len(missing) > 0 {
		return o.Cannot(s, Name, missing), nil
	}
	s, note := lab.Adapted(s)
	w, err := New(ctx, s, o)
	if err != nil {
		return result.Result{}, err
	}
	res := result.Run(ctx, w, s, o.Laws, o.RunOptions.Options)
	if err := w.Unable(); err != nil {
		return result.Result{}, errors.Join(err, w.Close())
	}
	if note != "" {
		res.Timeline = append([]result.Mark{{Kind: "note", Text: note}}, res.Timeline...)
	}
	if res.Verdict != result.Pass && len(res.Unsupported) == 0 && ctx.Err() == nil {
		dir, err := w.WriteEvidence(ctx)
		if err != nil {
			o.Log.Warn("evidence", "error", err)
		}
		if dir != "" {
			res.Error += " (evidence in " + dir + ")"
		}
		if w.o.kept = o.Keep; o.Keep {
			if err := kindcluster.Keep(o.Cluster.Dir, o.Cluster.ID); err != nil {
				o.Log.Warn("the cluster is not kept for long", "error", err)
			}
			o.Log.Warn("the cluster stays up", "kubeconfig", kindcluster.Kubeconfig(o.Cluster.Dir, o.Cluster.ID), "end", "vppdrill lab down "+o.Cluster.ID)
		}
	}
	return res, w.Close()
}

// Unsupported is what no cluster can do of a scenario, each with its reason.
func Unsupported(s *scenarios.Scenario) []timeline.Refusal {
	here := lacksOf(s)
	out := append(timeline.RefusedSettings(s, here), timeline.RefusedActions(s, here)...)
	if _, note := lab.Adapted(s); note != "" && slices.Contains(s.Labels, lab.LabelMatrix) {
		out = append(out, timeline.Refusal{What: "wiring.host=tap", Need: timeline.VhostNet})
	}
	return out
}

// errSettings: what agents of a cluster would read is not what the scenario says.
var errSettings = errors.New("the agent's configuration does not survive its own file")

// settingsOf is an agent's configuration as the file that agents read: durations are words there, and what is not said
// is left out.
func settingsOf(c agent.Config) ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	said := map[string]any{}
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, err
	}
	delete(said, "NodeName") // each agent is told its own
	for field, value := range reflect.ValueOf(c).Fields() {
		if d, ok := value.Interface().(time.Duration); ok && d == 0 {
			delete(said, field.Name)
		} else if ok {
			said[field.Name] = d.String()
		}
	}
	for key, value := range said { // in any order: each by itself
		if value == nil || reflect.ValueOf(value).IsZero() {
			delete(said, key)
		}
	}
	if c.IPAMConfig == (contiv.IPAMConfig{}) {
		delete(said, "IPAMConfig")
	}
	// Where the file does not say, it is true.
	said["TCPChecksumOffloadDisabled"] = c.TCPChecksumOffloadDisabled
	if text, err = json.MarshalIndent(said, "", " "); err != nil {
		return nil, err
	}
	back, err := agent.ParseConfig("contiv.yaml", text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSettings, err)
	}
	c.ApplyDefaults()
	back.NodeName = c.NodeName
	back.ApplyDefaults()
	if !reflect.DeepEqual(back, c) {
		return nil, fmt.Errorf("%w: %+v is read as %+v", errSettings, c, back)
	}
	return text, nil
}

// quoted is text as a JSON string.
func quoted(text []byte) string {
	out, err := json.Marshal(string(text))
	if err != nil {
		panic(err) // text always can be
	}
	return string(out)
}
