package service_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// Goal: what a node serves for which facts is written down. Method: each block tells facts, a line each, and shows what
// changed then; the node is node-1 of the default plan. Rewrite with go test -rewrite and read the diff.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := newStory(t)
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			for line := range strings.Lines(d.Input) {
				s.tell(strings.Fields(line))
			}
			return s.changes()
		})
	})
}

type story struct {
	t     *testing.T
	table *service.Table
	place service.Place
	// healths were shown last.
	healths []service.Health
}

func newStory(t *testing.T) *story {
	s := &story{t: t, table: service.New(), place: service.Place{Node: "node-1", Address: netip.MustParseAddr("192.168.16.1"),
		Hosts: []netip.Addr{netip.MustParseAddr("10.20.0.2")}, Pods: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")},
		PodTable: 1, Overlay: true, LocalWeight: 1}}
	s.table.Settle(s.place)
	return s
}

func (s *story) changes() string {
	var b strings.Builder
	for _, c := range s.table.Changes() {
		fmt.Fprintln(&b, c.Name)
		for _, o := range c.Objects {
			fmt.Fprintf(&b, "  %s\n", o.AppendText(nil))
			back, err := vppwire.ParseObject(string(o.AppendText(nil)))
			if err != nil || back != o {
				s.t.Errorf("%s: %v", o.AppendText(nil), err)
			}
		}
	}
	if now := s.table.Healths(); !slices.Equal(now, s.healths) {
		s.healths = now
		for _, h := range now {
			fmt.Fprintf(&b, "health %s at %d: %d\n", h.Name, h.Port, h.Local)
		}
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

// tell takes one line:
//
//	service NAME [port=NAME:PROTO:PORT[:NODEPORT]]… [cluster=ADDR]… [external=ADDR]… [affinity=N] [external-local] [internal-local] [health=PORT]
//	slice NAME of=SERVICE [port=NAME:PROTO:PORT]… [ADDR[@NODE][+FLAG…]]…     (flags: unready, serving, terminating, zone:NAME, node:NAME)
//	gone NAME, slice-gone NAME, listed [SERVICE]… [/SLICE]…, weight N, zone NAME, l2
func (s *story) tell(f []string) {
	name := service.Name{Namespace: "default"}
	if len(f) > 1 {
		name.Name = f[1]
	}
	switch f[0] {
	case "service":
		s.table.Seen(s.service(name, f[2:]))
	case "slice":
		s.table.SliceSeen(s.slice(name, f[2:]))
	case "gone":
		s.table.Gone(name)
	case "slice-gone":
		s.table.SliceGone(name)
	case "listed":
		var of, slices []service.Name
		for _, w := range f[1:] {
			if n, is := strings.CutPrefix(w, "/"); is {
				slices = append(slices, service.Name{Namespace: "default", Name: n})
			} else {
				of = append(of, service.Name{Namespace: "default", Name: w})
			}
		}
		s.table.Listed(of)
		s.table.SlicesListed(slices)
	case "weight":
		_, _ = fmt.Sscan(f[1], &s.place.LocalWeight)
		s.table.Settle(s.place)
	case "zone":
		s.place.Zone = f[1]
		s.table.Settle(s.place)
	case "l2":
		s.place.Overlay = false
		s.table.Settle(s.place)
	default:
		s.t.Fatalf("unknown word %s", f[0])
	}
}

func proto(word string) vppwire.Proto {
	return map[string]vppwire.Proto{"tcp": vppwire.TCP, "udp": vppwire.UDP}[word]
}

func (s *story) service(name service.Name, words []string) service.Service {
	out := service.Service{Name: name}
	for _, w := range words {
		k, v, _ := strings.Cut(w, "=")
		switch k {
		case "port":
			p := append(strings.Split(v, ":"), "0")
			port := service.Port{Name: p[0], Proto: proto(p[1])}
			_, _ = fmt.Sscan(p[2], &port.Port)
			_, _ = fmt.Sscan(p[3], &port.NodePort)
			out.Ports = append(out.Ports, port)
		case "cluster":
			out.ClusterIPs = append(out.ClusterIPs, netip.MustParseAddr(v))
		case "external":
			out.ExternalIPs = append(out.ExternalIPs, netip.MustParseAddr(v))
		case "affinity":
			_, _ = fmt.Sscan(v, &out.Affinity)
		case "health":
			_, _ = fmt.Sscan(v, &out.HealthPort)
		case "external-local":
			out.ExternalLocal = true
		case "internal-local":
			out.InternalLocal = true
		default:
			s.t.Fatalf("unknown word %s", w)
		}
	}
	return out
}

func (s *story) slice(name service.Name, words []string) service.Slice {
	out := service.Slice{Name: name}
	for _, w := range words {
		k, v, is := strings.Cut(w, "=")
		switch {
		case is && k == "of":
			out.Service = v
		case is && k == "port":
			p := strings.Split(v, ":")
			port := service.SlicePort{Name: p[0], Proto: proto(p[1])}
			_, _ = fmt.Sscan(p[2], &port.Port)
			out.Ports = append(out.Ports, port)
		default:
			parts := strings.Split(w, "+")
			addr, node, _ := strings.Cut(parts[0], "@")
			e := service.Endpoint{Addr: netip.MustParseAddr(addr), Node: node, Ready: true, Serving: true}
			for _, flag := range parts[1:] {
				switch kind, name, _ := strings.Cut(flag, ":"); kind {
				case "zone":
					e.ForZones = append(e.ForZones, name)
				case "node":
					e.ForNodes = append(e.ForNodes, name)
				case "unready":
					e.Ready, e.Serving = false, false
				case "serving":
					e.Serving = true
				case "terminating":
					e.Ready, e.Terminating = false, true
				}
			}
			out.Endpoints = append(out.Endpoints, e)
		}
	}
	return out
}

// However many endpoints there are, VPP can add up their weights, and each node with fewer than it can take serves all
// of them.
func TestWeights(t *testing.T) {
	for _, test := range []struct{ local, remote, weight int }{{1, 0, 255}, {2, 3, 200}, {10, 245, 1}, {10, 246, 9}, {300, 300, 2}, {0, 255, 7}} {
		s := newStory(t)
		s.place.LocalWeight = uint8(test.weight)
		s.table.Settle(s.place)
		s.tell(strings.Fields("service web cluster=10.96.0.1 port=:tcp:80"))
		line := "slice web of=web port=:tcp:80"
		for i := range test.local {
			line += fmt.Sprintf(" 10.1.1.%d@node-1", 1+i%250)
			if i >= 250 {
				line += fmt.Sprintf(" 10.1.9.%d@node-1", i-249)
			}
		}
		for i := range test.remote {
			line += fmt.Sprintf(" 10.1.%d.%d@node-2", 2+i/250, 1+i%250)
		}
		s.tell(strings.Fields(line))
		o := s.table.Changes()[0].Objects[0].(vppwire.Service)
		list, ok := vppwire.ParseEndpoints(o.Endpoints)
		sum := 0
		for _, e := range list {
			sum += int(e.Weight)
		}
		if want := min(test.local+test.remote, vppwire.WeightsMax); !ok || len(list) != want || sum > vppwire.WeightsMax {
			t.Errorf("%+v: %d endpoints of %d, weights %d", test, len(list), want, sum)
		}
	}
}
