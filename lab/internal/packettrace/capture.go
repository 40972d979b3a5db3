package packettrace

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.fd.io/govpp/adapter"
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/tracedump"
	"go.fd.io/govpp/binapi/vlib"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// VPP is a connection to one VPP and its command line.
type VPP interface {
	api.Connection
	CLI(ctx context.Context, command string) (string, error)
}

// inputs are the nodes of VPP's graph that packets of a lab come in by: AF_PACKET, and taps.
var inputs = [...]string{"af-packet-input", "virtio-input"}

// most is how many packets a VPP traces of each input.
const most = 500

// Begin empties a VPP's trace buffer and has it trace what comes in from now on.
func Begin(ctx context.Context, c VPP) error {
	if _, err := c.CLI(ctx, "clear trace"); err != nil {
		return err
	}
	begun := 0
	for _, input := range inputs {
		var at vlib.GetNodeIndexReply
		if err := c.Invoke(ctx, &vlib.GetNodeIndex{NodeName: input}, &at); err != nil {
			return fmt.Errorf("trace %s: %w", input, err)
		}
		if at.Retval != 0 {
			continue // its plugin is not loaded
		}
		var reply tracedump.TraceCapturePacketsReply
		err := c.Invoke(ctx, &tracedump.TraceCapturePackets{NodeIndex: at.NodeIndex, MaxPackets: most}, &reply)
		if withoutDump(err) {
			_, err = c.CLI(ctx, fmt.Sprintf("trace add %s %d", input, most))
		} else if err == nil {
			err = api.RetvalToVPPApiError(reply.Retval)
		}
		if err != nil {
			return fmt.Errorf("trace %s: %w", input, err)
		}
		begun++
	}
	if begun == 0 {
		return errors.New("VPP has no input that a lab's packets come in by")
	}
	return nil
}

// withoutDump tells a VPP without the tracedump plugin, whose command line serves.
func withoutDump(err error) bool {
	var unknown *adapter.UnknownMsgError
	return errors.As(err, &unknown)
}

// Collect is what a VPP has traced since Begin, in the order in which it came in, and ends the tracing.
func Collect(ctx context.Context, c VPP) ([]Packet, error) {
	texts, err := dump(ctx, c)
	if withoutDump(err) {
		var all string
		all, err = c.CLI(ctx, "show trace max "+strconv.Itoa(most*len(inputs)))
		texts = shown(all)
	}
	if err != nil {
		return nil, fmt.Errorf("collect VPP's trace: %w", err)
	}
	_, err = c.CLI(ctx, "clear trace")
	return packets(texts), err
}

// shown are the packets of what `show trace` prints.
func shown(all string) []string { return packetHead.Split(all, -1)[1:] }

// packetHead begins a packet in what `show trace` prints.
var packetHead = regexp.MustCompile(`(?m)^Packet \d+\s*\n`)

// dump asks by the API. The dump has no last message of its own, so a ping behind it ends it.
func dump(ctx context.Context, c api.Connection) (texts []string, err error) {
	stream, err := c.NewStream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }() // everything has been read by then, or the connection is broken
	if err := stream.SendMsg(&tracedump.TraceV2Dump{ThreadID: ^uint32(0), Max: most * uint32(len(inputs)), ClearCache: true}); err != nil {
		return nil, err
	}
	if err := stream.SendMsg(&memclnt.ControlPing{}); err != nil {
		return nil, err
	}
	for {
		m, err := stream.RecvMsg()
		if err != nil {
			return nil, err
		}
		switch m := m.(type) {
		case *memclnt.ControlPingReply:
			return texts, nil
		case *tracedump.TraceV2Details:
			texts = append(texts, m.TraceData)
		}
	}
}

// Names turns the numbers of a VPP's trace into names.
type Names struct {
	// hardware and software are interfaces by hw_if_index and sw_if_index, fib4 and fib6 tables by fib_index.
	hardware, software map[uint32]string
	fib4, fib6         map[uint32]uint32
}

var (
	hardwareLine = regexp.MustCompile(`(?m)^(\S+)\s+(\d+)\s+(?:up|down)\s`)
	fibLine      = regexp.MustCompile(`fib_index:(\d+)`)
)

// NamesOf asks a VPP for the names; tables is a view of the same VPP.
func NamesOf(ctx context.Context, c VPP, tables fact.VPP) (Names, error) {
	n := Names{map[uint32]string{}, map[uint32]string{}, map[uint32]uint32{}, map[uint32]uint32{}}
	for i := range tables.Interfaces() {
		n.software[i.Index] = i.Name
	}
	text, err := c.CLI(ctx, "show hardware-interfaces brief")
	if err != nil {
		return n, err
	}
	for _, m := range hardwareLine.FindAllStringSubmatch(text, -1) {
		n.hardware[number(m[2])] = m[1]
	}
	for id := range tables.Tables() {
		for family, into := range map[string]map[uint32]uint32{"ip": n.fib4, "ip6": n.fib6} { // in any order: each family has its own
			text, err := c.CLI(ctx, fmt.Sprintf("show %s fib summary table %d", family, id))
			if err != nil {
				return n, err
			}
			if m := fibLine.FindStringSubmatch(text); m != nil {
				into[number(m[1])] = id
			}
		}
	}
	return n, nil
}

func number(digits string) uint32 {
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return ^uint32(0) // VPP's own for none
	}
	return uint32(n)
}

func named(of map[uint32]string, digits string) string {
	if name, ok := of[number(digits)]; ok {
		return name
	}
	return "interface " + digits
}

func (n Names) table(ip6 bool, digits string) string {
	of := n.fib4
	if ip6 {
		of = n.fib6
	}
	if id, ok := of[number(digits)]; ok {
		return "table " + strconv.FormatUint(uint64(id), 10)
	}
	return strings.TrimSpace("FIB " + digits)
}
