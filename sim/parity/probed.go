package parity

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/vlib"

	"github.com/vppdrill/vppdrill/scenarios/walk"
	"github.com/vppdrill/vppdrill/sim/internal/view"
	"github.com/vppdrill/vppdrill/sim/parity/internal/transcript"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Prober is a Subject that packets can be sent into.
type Prober interface {
	Subject
	// Probe sends packets and returns the lines of what came out, sorted. It may try again until done is true of the
	// lines.
	Probe(ctx context.Context, packets []Packet, done func([]string) bool) ([]string, error)
	// Hears reports whether what is sent into a device comes in at all.
	Hears(ctx context.Context, device string) (bool, error)
	// Deaf are the devices that did not when they were last asked for.
	Deaf() []string
}

// How often and how long a real VPP gets to let the expected packets come out. A packet that only time loses, in a ring
// that was full or behind an ARP request that VPP sends once in a while (throttled for 1 ms), comes at another try.
const (
	probeTries = 4
	probeWait  = 10 * time.Millisecond // of the first try; each further one waits four times as long
)

// probe compares where packets come out, and says how many were sent: none where a subject takes no packets, and only
// those of which the model can say where they go.
func probe(ctx context.Context, m, r Subject) (d *transcript.Difference, sent int, err error) {
	tables, is := m.(model)
	real, able := r.(Prober)
	if !is || !able {
		return nil, 0, nil
	}
	if tables.learned, err = learnedBy(ctx, r); err != nil {
		return nil, 0, err
	}
	dut := tables.dut()
	all := slices.DeleteFunc(packets(tables.VPP), func(p Packet) bool { return tables.inject(dut, p).Unsure != "" })
	if len(all) == 0 {
		return nil, 0, nil
	}
	if all, err = heard(ctx, real, all, real.Deaf()); err != nil {
		return nil, 0, err
	}
	if d, err = sendBoth(ctx, tables, real, all); d == nil || err != nil {
		return d, len(all), err
	}
	hear, err := heard(ctx, real, all, devices)
	if err == nil && len(hear) < len(all) {
		all = hear
		d, err = sendBoth(ctx, tables, real, all)
	}
	return d, len(all), err
}

// heard are those of packets that do not go into one of some devices that does not hear. A device that none goes into is
// not asked: VPP 25.10 dies of any frame that comes in where a bridge domain sends its unknown unicast
// (src/vnet/l2/l2_input.c, l2input_recache: no member, so it never learns the domain's features).
func heard(ctx context.Context, real Prober, all []Packet, ask []string) ([]Packet, error) {
	for _, device := range ask {
		if !slices.ContainsFunc(all, func(p Packet) bool { return p.device == device }) {
			continue
		}
		hears, err := real.Hears(ctx, device)
		if err != nil {
			return nil, err
		}
		if !hears {
			all = slices.DeleteFunc(slices.Clone(all), func(p Packet) bool { return p.device == device })
		}
	}
	return all, nil
}

// sendBoth sends packets into the model and a real VPP.
func sendBoth(ctx context.Context, m model, real Prober, all []Packet) (*transcript.Difference, error) {
	got, err := m.Probe(ctx, all, nil)
	if err != nil {
		return nil, err
	}
	want, err := real.Probe(ctx, all, func(lines []string) bool { return slices.Equal(lines, got) })
	if err != nil {
		return nil, err
	}
	d, _ := transcript.Compare("(packets)", want, got)
	if d != nil {
		d.Request += numbersIn(append(slices.Clone(d.Want), d.Got...), all)
	}
	return d, nil
}

// learnedBy are the L2 FIB entries that a VPP has learned and that the model has to be given.
func learnedBy(ctx context.Context, s Subject) (func(bridge uint32, mac vppwire.MAC) bool, error) {
	type key struct {
		bridge uint32
		mac    [6]byte
	}
	there := map[key]bool{}
	all, err := s.Ask(ctx, &l2.L2FibTableDump{BdID: none})
	for _, a := range all {
		if e := a.(*l2.L2FibTableDetails); !e.StaticMac {
			there[key{e.BdID, e.Mac}] = true
		}
	}
	return func(bridge uint32, mac vppwire.MAC) bool { return there[key{bridge, mac}] }, err
}

// dut is the model as the packet walker of laws sees it, with the model's word on what no view of a VPP holds.
func (m model) dut() *walk.DUT {
	return walk.NewDUT(view.Of(m.VPP), walk.Policy{Learned: m.learned, Unflooded: m.Unflooded, Resolved: m.Resolved, Doubtful: m.doubtful,
		Carries: deviceMTU})
}

// doubtful is vppmodel.Doubtful, and what only a history shows.
func (m model) doubtful(table uint32, to netip.Addr, hop bool) bool {
	return m.Doubtful(table, to, hop) || m.refined.stale[to] || m.hops.outlived(m.NextHop(table, to))
}

// inject is what the walker says of a packet.
func (m model) inject(dut *walk.DUT, p Packet) walk.Emission {
	for i := range m.Interfaces() {
		if i.Kind == vppmodel.KindAFPacket && i.Host == p.device {
			return dut.Inject(i.Index, seen(p.frame))
		}
	}
	return walk.Emission{}
}

// Probe implements Prober.
func (m model) Probe(_ context.Context, all []Packet, _ func([]string) bool) ([]string, error) {
	var lines []string
	dut := m.dut()
	for _, p := range all {
		for _, f := range m.inject(dut, p).Frames {
			if o, _ := m.Interface(f.Index); o.Host != "" {
				for _, line := range foretold(p.number, &f.Frame) {
					lines = append(lines, sight(o.Host, line)...)
				}
			}
		}
	}
	return settled(lines), nil
}

// Probe implements Prober. Every try sends all packets again and waits until the lines are those expected or its time
// is up; what came before it is thrown away. Two pings behind the expected lines give VPP the time to send more than
// those.
func (c *connection) Probe(ctx context.Context, all []Packet, done func([]string) bool) ([]string, error) {
	var lines []string
	for try := range probeTries {
		c.read()
		lines = nil
		for _, p := range all {
			if err := c.of.in.wire(p.device).send(p.frame); err != nil {
				return nil, err
			}
		}
		for until := time.Now().Add(probeWait << (2 * try)); ; {
			for range 2 {
				if err := c.invoke(ctx, &memclnt.ControlPing{}, &memclnt.ControlPingReply{}); err != nil {
					return nil, err
				}
			}
			lines = settled(append(lines, c.read()...))
			if done(lines) {
				return lines, nil
			}
			if time.Now().After(until) {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	return lines, nil
}

// Hears implements Prober.
func (m model) Hears(context.Context, string) (bool, error) { return true, nil }

// Deaf implements Prober.
func (m model) Deaf() []string { return nil }

// Deaf implements Prober.
func (c *connection) Deaf() []string { return slices.Clone(c.deaf) }

// Hears implements Prober by the interface's own packet counter. VPP 25.10 now and then stops reading an AF_PACKET
// interface whose device went down and came up again; what such a one does with packets cannot be compared.
func (c *connection) Hears(ctx context.Context, device string) (bool, error) {
	hears, err := c.hears(ctx, device)
	c.deaf = slices.DeleteFunc(c.deaf, func(d string) bool { return d == device })
	if !hears {
		c.deaf = append(c.deaf, device)
	}
	return hears, err
}

func (c *connection) hears(ctx context.Context, device string) (bool, error) {
	before, err := c.received(ctx, device)
	if err != nil {
		return false, err
	}
	if err := c.of.in.wire(device).send(udp(0, [6]byte{2, 4: 0x0e}, tester)); err != nil {
		return false, err
	}
	for until := time.Now().Add(hearWait); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if now, err := c.received(ctx, device); err != nil || now != before {
			return err == nil, err
		}
	}
	return false, nil
}

// hearWait is how long a real VPP may take to read a packet.
const hearWait = 200 * time.Millisecond

// received is a count that changes with every packet that an AF_PACKET interface reads.
func (c *connection) received(ctx context.Context, device string) (string, error) {
	r := &vlib.CliInbandReply{}
	if err := c.invoke(ctx, &vlib.CliInband{Cmd: "show interface host-" + device}, r); err != nil {
		return "", err
	}
	for line := range strings.Lines(r.Reply) {
		if _, count, found := strings.Cut(line, "rx packets"); found {
			return strings.TrimSpace(count), nil
		}
	}
	return "", nil
}

// read is what has come out of all devices.
func (c *connection) read() []string {
	var lines []string
	for _, w := range c.of.in.wires {
		lines = append(lines, sights(w.device, w.read())...)
	}
	return lines
}
