package vppproc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.fd.io/govpp/adapter/socketclient"
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/fib"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/vlib"
	"go.fd.io/govpp/binapi/vpe"
	"go.fd.io/govpp/binapi/vxlan"
	"go.fd.io/govpp/core"
)

// needed are messages that labs cannot do without: some of each file of VPP's API that the agent speaks. A file's
// messages change together often enough that this finds another release.
var needed = []api.Message{
	&interfaces.SwInterfaceDump{}, &interfaces.SwInterfaceDetails{}, &interfaces.CreateLoopbackInstance{},
	&interfaces.SwInterfaceGetTable{}, &ip.IPRouteAddDelV2{}, &ip.IPRouteV2Dump{}, &ip.IPTableAddDelV2{},
	&fib.FibSourceDump{}, &ip_neighbor.IPNeighborAddDel{}, &ip_neighbor.IPNeighborConfigGet{},
	&l2.BridgeDomainAddDelV2{}, &l2.L2FibTableDump{}, &memclnt.ControlPing{},
	&af_packet.AfPacketCreateV3{}, &af_packet.AfPacketDump{}, &vxlan.VxlanAddDelTunnelV3{}, &vxlan.VxlanTunnelV2Dump{},
}

// oldest is the first release whose messages are all known: VPP 25.10's, as govpp v0.13.0 was made from.
const oldest = "25.10"

// Conn is a connection to one VPP.
type Conn struct{ *core.Connection }

// dial connects to a VPP's API socket; the socket must exist.
func dial(socket string) (Conn, error) {
	client := socketclient.NewVppClient(socket)
	client.SetClientName("vppdrill-lab")
	client.SetConnectTimeout(3 * time.Second)
	c, err := core.Connect(client)
	if err != nil {
		return Conn{}, fmt.Errorf("connect to VPP at %s: %w", socket, err)
	}
	return Conn{c}, nil
}

// Dial connects to the VPP whose files are in dir.
func Dial(dir string) (Conn, error) { return dial(dir + "/" + APISocketFile) }

// answerTime is how long VPP may take to answer one request; a command that prints a million routes takes seconds.
const answerTime = 30 * time.Second

// Invoke implements api.Connection.
func (c Conn) Invoke(ctx context.Context, request, reply api.Message) error {
	bounded, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	err := c.Connection.Invoke(bounded, request, reply)
	if err != nil && errors.Is(bounded.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("VPP has not answered %s within %s: %w", request.GetMessageName(), answerTime, err)
	}
	return err
}

// Close ends the connection.
func (c Conn) Close() { c.Disconnect() }

// CLI runs one command of VPP's command line and returns what it prints.
func (c Conn) CLI(ctx context.Context, command string) (string, error) {
	reply := vlib.CliInbandReply{}
	if err := c.Invoke(ctx, &vlib.CliInband{Cmd: command}, &reply); err != nil {
		return "", fmt.Errorf("vppctl %s: %w", command, err)
	}
	if err := api.RetvalToVPPApiError(reply.Retval); err != nil {
		return reply.Reply, fmt.Errorf("vppctl %s: %w: %s", command, err, strings.TrimSpace(reply.Reply))
	}
	return reply.Reply, nil
}

// Version is what VPP calls itself: "25.10-release".
func (c Conn) Version(ctx context.Context) (string, error) {
	reply := vpe.ShowVersionReply{}
	if err := c.Invoke(ctx, &vpe.ShowVersion{}, &reply); err != nil {
		return "", fmt.Errorf("show version: %w", err)
	}
	return strings.TrimPrefix(reply.Version, "v"), nil
}

// Plugins are the loaded plugins' names, sorted, without their "_plugin.so".
func (c Conn) Plugins(ctx context.Context) ([]string, error) {
	text, err := c.CLI(ctx, "show plugins")
	if err != nil {
		return nil, err
	}
	return parsePlugins(text), nil
}

// parsePlugins reads `show plugins`: a number, the file, a version, a description.
func parsePlugins(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		for _, word := range strings.Fields(line) {
			if name, ok := strings.CutSuffix(word, "_plugin.so"); ok {
				out = append(out, name)
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

// check says in one line what is wrong with a VPP: too old, without a plugin, of other messages.
func (c Conn) check(ctx context.Context, binary string) error {
	version, err := c.Version(ctx)
	if err != nil {
		return err
	}
	if older(version, oldest) {
		return Cannot("VPP %s (%s) is too old: labs need %s or newer", version, binary, oldest)
	}
	loaded, err := c.Plugins(ctx)
	if err != nil {
		return err
	}
	for _, p := range plugins {
		if !slices.Contains(loaded, p) {
			return Cannot("VPP %s (%s) has no %s plugin: %s_plugin.so is missing or does not load", version, binary, p, p)
		}
	}
	channel, err := c.NewAPIChannel()
	if err != nil {
		return fmt.Errorf("check VPP's messages: %w", err)
	}
	defer channel.Close()
	for _, m := range needed {
		if err := channel.CheckCompatiblity(m); err != nil {
			return mismatch(version, binary, m, err)
		}
	}
	return nil
}

// mismatch tells a message that VPP does not have from other troubles.
func mismatch(version, binary string, m api.Message, err error) error {
	var e *api.CompatibilityError
	if errors.As(err, &e) {
		return Cannot("VPP %s (%s) does not know message %s with CRC %s: it is no build of %s",
			version, binary, m.GetMessageName(), m.GetCrcString(), oldest)
	}
	return fmt.Errorf("check VPP's messages: %w", err)
}

// older compares the year and month that VPP's releases are called by; what is no release counts as new enough.
func older(version, than string) bool {
	var y, m, y2, m2 int
	if _, err := fmt.Sscanf(version, "%d.%d", &y, &m); err != nil {
		return false
	}
	if _, err := fmt.Sscanf(than, "%d.%d", &y2, &m2); err != nil {
		panic("vppproc: bad release " + than)
	}
	return y < y2 || y == y2 && m < m2
}
