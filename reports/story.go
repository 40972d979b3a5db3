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
	Until  float64             `json:"until"`
	Looks  []result.Look       `json:"looks"`
	Base   map[string][]string `json:"base,omitempty"`
	Events []result.Told       `json:"events,omitempty"`
	// Pods are [node, address, pod, from, until] of the addresses that the run kept.
	Pods [][]any `json:"pods,omitempty"`
}

// storyOf is a run's story, packed as base64 of gzip; empty for none. Base64 needs no escaping, and browsers unpack
// gzip themselves.
func storyOf(s result.Result, span stretch, short bool) (string, error) {
	if s.Story == nil || len(s.Story.Looks) == 0 {
		return "", nil
	}
	t := told{Until: span.Until, Looks: s.Story.Looks}
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

// curves are what became of a cluster's addresses over a run.
type curves struct {
	Lines []curve
	Ticks []tick
	// Shades are the times of faults.
	Shades []band
	Most   int64
	Height int
}

const curvesHeight = 120

// curvesOf draws a run's series; nil where it has none.
func curvesOf(s result.Result, span stretch, c chart) *curves {
	x := s.Series
	if x == nil || len(x.Held) < 2 || span.Until <= 0 {
		return nil
	}
	out := &curves{Ticks: span.ticks(), Height: curvesHeight, Most: 1}
	for _, l := range c.Lanes {
		out.Shades = append(out.Shades, l.Bands...)
	}
	lists := []struct {
		class, name string
		list        []int64
	}{{"held", "held by pods", x.Held}, {"resting", "cooling after a release", x.Resting}, {"free", "free", x.Free}, {"waiting", "pods waiting for an address", x.Waiting}}
	for _, l := range lists {
		if l.class != "free" { // free addresses of a large range would press all others to the ground
			out.Most = max(out.Most, slices.Max(l.list))
		}
	}
	for _, l := range lists {
		if l.class != "held" && slices.Max(l.list) == 0 {
			continue
		}
		out.Lines = append(out.Lines, curve{Class: l.class, Name: l.name, Points: polyline(l.list, x.EverySeconds, span, out.Most),
			Text: l.name + ": at most " + thousands(slices.Max(l.list)) + ", " + thousands(l.list[len(l.list)-1]) + " at the end"})
	}
	return out
}

// polyline is a list's points: steps, as counts do not glide. What is above most is cut.
func polyline(list []int64, every float64, span stretch, most int64) string {
	var b []byte
	point := func(x float64, v int64) {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendFloat(b, 1000*span.Share(x), 'f', 1, 64)
		b = append(b, ',')
		b = strconv.AppendFloat(b, 100-100*float64(min(v, most))/float64(most), 'f', 1, 64)
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
