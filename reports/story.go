package reports

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// looksShort is how many looks a run keeps that passed among hundreds.
const looksShort = 16

// told is a run's story as the page's script takes it: what a slider, a search and a picture need.
type told struct {
	Until   float64             `json:"until"`
	Looks   []result.Look       `json:"looks"`
	Base    map[string][]string `json:"base,omitempty"`
	Events  []result.Told       `json:"events,omitempty"`
	Failure *toldFailure        `json:"failure,omitempty"`
	// Pods are [node, address, pod, from, until] of the addresses that the run kept.
	Pods [][]any `json:"pods,omitempty"`
}

// toldFailure is a run's failure on the picture: where, since when, and the nodes that the packet passed which shows it.
type toldFailure struct {
	Law       string   `json:"law"`
	Node      string   `json:"node,omitempty"`
	AtSeconds float64  `json:"atSeconds"`
	Path      []string `json:"path,omitempty"`
}

// storyOf is a run's story, packed as base64 of gzip; empty for none. Base64 needs no escaping, and browsers unpack
// gzip themselves.
func storyOf(s result.Result, span stretch, short bool) (string, error) {
	if s.Story == nil || len(s.Story.Looks) == 0 {
		return "", nil
	}
	t := told{Until: span.Until, Looks: s.Story.Looks}
	if f := s.Failure; f != nil {
		t.Failure = &toldFailure{Law: f.Law, Node: f.Node, AtSeconds: f.AtSeconds}
		for _, at := range wayOf(f.Way) {
			t.Failure.Path = append(t.Failure.Path, at.Node)
		}
	}
	if short {
		t.Looks = result.FewerLooks(t.Looks, looksShort)
	} else {
		t.Base, t.Events = s.Story.Base, s.Story.Events
		for _, h := range s.Addresses {
			t.Pods = append(t.Pods, []any{h.Node, h.Addr, h.Pod, h.FromSeconds, h.UntilSeconds})
		}
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if err := json.NewEncoder(z).Encode(t); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

// stop is a stretch of a packet's way on one node.
type stop struct {
	Node string
	Hops []fact.Hop
	// End is what became of the packet: it was lost, or arrived where it should not.
	End string
}

// wayOf draws a packet's way node by node.
func wayOf(hops []fact.Hop) (stops []stop) {
	for i, h := range hops {
		if len(stops) == 0 || stops[len(stops)-1].Node != h.Node {
			stops = append(stops, stop{Node: h.Node})
		}
		at := &stops[len(stops)-1]
		if i == len(hops)-1 {
			at.End = h.Decision
			break
		}
		at.Hops = append(at.Hops, h)
	}
	return stops
}

// curve is one figure over time, as the points of a polyline in a box of 1000 by 100.
type curve struct {
	Class, Name, Points, Text string
}

// curves are a chart of what became of a cluster's addresses over a run.
type curves struct {
	Title, Label string
	Lines        []curve
	Ticks        []tick
	// Shades are the times of faults.
	Shades []band
	Most   int64
	Height int
}

// Heights of the charts of curves, and how many times as many free addresses as anything else fit into one chart: more
// would press all others to the ground.
const (
	curvesHeight = 120
	freeHeight   = 70
	freeFits     = 4
)

// curvesOf draws a run's series: one chart, or a second one for the free addresses of a large range; none without series.
func curvesOf(s result.Result, span stretch, c chart) []curves {
	x := s.Series
	if x == nil || len(x.Held) < 2 || span.Until <= 0 {
		return nil
	}
	var shades []band
	for _, l := range c.Lanes {
		shades = append(shades, l.Bands...)
	}
	most, free := max(1, slices.Max(x.Held), slices.Max(x.Resting), slices.Max(x.Waiting)), slices.Max(x.Free)
	apart := free > freeFits*most
	if !apart {
		most = max(most, free)
	}
	draw := func(most int64, class, name string, list []int64) curve {
		text := name + ": "
		if class == "free" {
			text += "at least " + thousands(slices.Min(list)) + ", "
		}
		return curve{Class: class, Name: name, Points: polyline(list, x.EverySeconds, span, most),
			Text: text + "at most " + thousands(slices.Max(list)) + ", " + thousands(list[len(list)-1]) + " at the end"}
	}
	out := curves{Title: "Addresses and waiting pods over time", Label: "Addresses held, cooling and free, and pods that wait", Ticks: span.ticks(),
		Shades: shades, Most: most, Height: curvesHeight, Lines: []curve{draw(most, "held", "held by pods", x.Held)}}
	if slices.Max(x.Resting) > 0 {
		out.Lines = append(out.Lines, draw(most, "resting", "cooling after a release", x.Resting))
	}
	if free > 0 && !apart {
		out.Lines = append(out.Lines, draw(most, "free", "free", x.Free))
	}
	if slices.Max(x.Waiting) > 0 {
		out.Lines = append(out.Lines, draw(most, "waiting", "pods waiting for an address", x.Waiting))
	}
	if !apart {
		return []curves{out}
	}
	return []curves{out, {Title: "Free addresses over time", Label: "Addresses that are free", Ticks: out.Ticks, Shades: shades, Most: free, Height: freeHeight,
		Lines: []curve{draw(free, "free", "free", x.Free)}}}
}

// polyline is a list's points: steps, as counts do not glide. None is above most.
func polyline(list []int64, every float64, span stretch, most int64) string {
	var b []byte
	point := func(x float64, v int64) {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendFloat(b, 1000*span.Share(x), 'f', 1, 64)
		b = append(b, ',')
		b = strconv.AppendFloat(b, 100-100*float64(v)/float64(most), 'f', 1, 64)
	}
	for i, v := range list {
		if i > 0 && i+1 < len(list) && v == list[i-1] && v == list[i+1] {
			continue
		}
		if i > 0 {
			point(float64(i)*every, list[i-1])
		}
		point(float64(i)*every, v)
	}
	return string(b)
}

// wait is one quantile of how long pods took to have an address.
type wait struct {
	Percent int
	Text    string
	// Share is its part of the longest.
	Share float64
}

// waitsOf are a run's quantiles, nil where nothing was counted.
func waitsOf(s result.Result) (waits []wait) {
	if s.Story == nil || len(s.Story.Starts) == 0 {
		return nil
	}
	longest := slices.Max(s.Story.Starts)
	for i, q := range result.Quantiles() {
		if i < len(s.Story.Starts) {
			v := s.Story.Starts[i]
			w := wait{Percent: q, Text: clock(v)}
			if longest > 0 {
				w.Share = v / longest
			}
			waits = append(waits, w)
		}
	}
	return waits
}
