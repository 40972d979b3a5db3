package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// Version is the version of the conversation that this package speaks.
const Version = 1

// LineMax bounds a request or response in bytes, its newline included. A GC that names 10,000 attachments with
// container IDs of 64 digits fits.
const LineMax = 1 << 20

// Commands of a Request, as CNI_COMMAND has them. VERSION is answered by the plugin alone.
const (
	Add    = "ADD"
	Del    = "DEL"
	Check  = "CHECK"
	GC     = "GC"
	Status = "STATUS"
)

// Commands lists what an agent understands.
var Commands = []string{Add, Del, Check, GC, Status}

// Request is what the plugin asks. Which fields a command needs is the CNI specification's (1.1, section 2).
type Request struct {
	// Version is the constant of this package.
	Version int    `json:"version"`
	Command string `json:"command"`
	// Network is the name of the network configuration.
	Network     string `json:"network"`
	ContainerID string `json:"containerID,omitempty"`
	IfName      string `json:"ifName,omitempty"`
	// Netns is the absolute path of the sandbox's network namespace.
	Netns string `json:"netns,omitempty"`
	// Args is CNI_ARGS as it came: "K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0".
	Args string `json:"args,omitempty"`
	// Addr is for ADD the address that another IPAM plugin chose, for CHECK the address in prevResult; else zero.
	Addr netip.Addr `json:"addr,omitzero"`
	// SecondAddr is for ADD the address of the other family that the IPAM plugin chose, where it chose two.
	SecondAddr netip.Addr `json:"secondAddr,omitzero"`
	// Wanted are for ADD the addresses that the runtime passes on as the pod's wish (runtimeConfig.ips, args.cni.ips).
	Wanted []netip.Addr `json:"wanted,omitempty"`
	// Interface is for ADD what the pod asks for instead of the agent's usual wiring: "memif", "memif-master"; else empty.
	Interface string `json:"interface,omitempty"`
	// Valid names for GC the attachments that stay.
	Valid []Attachment `json:"valid,omitempty"`
}

// Attachment names one attachment of the request's network.
type Attachment struct {
	ContainerID string `json:"containerID"`
	IfName      string `json:"ifName"`
}

// Response answers a Request.
type Response struct {
	// Code is 0 for success, else a CNI error code: the specification's below 100, the agent's own from there on
	// (vppwire/agent, Code).
	Code uint32 `json:"code"`
	// Message says in one line what is wrong, Details more where there is more.
	Message string `json:"message,omitempty"`
	Details string `json:"details,omitempty"`
	// Result is a successful ADD's.
	Result *Result `json:"result,omitempty"`
}

// Result is what an ADD has made, in the words of a CNI result of any version from 0.3.0 on.
type Result struct {
	Interfaces []Interface `json:"interfaces"`
	IPs        []IP        `json:"ips"`
	Routes     []Route     `json:"routes,omitempty"`
	DNS        *DNS        `json:"dns,omitempty"`
}

// Interface is one link, in the sandbox where that is set.
type Interface struct {
	Name    string `json:"name"`
	MAC     string `json:"mac,omitempty"`
	MTU     int    `json:"mtu,omitempty"`
	Sandbox string `json:"sandbox,omitempty"`
}

// IP is an address of the interface with that index in Interfaces.
type IP struct {
	Address   netip.Prefix `json:"address"`
	Gateway   netip.Addr   `json:"gateway,omitzero"`
	Interface int          `json:"interface"`
}

// Route is a route in the sandbox. A zero GW is a route on the link.
type Route struct {
	Dst netip.Prefix `json:"dst"`
	GW  netip.Addr   `json:"gw,omitzero"`
}

// DNS is a resolver's configuration.
type DNS struct {
	Nameservers []string `json:"nameservers,omitempty"`
	Domain      string   `json:"domain,omitempty"`
	Search      []string `json:"search,omitempty"`
	Options     []string `json:"options,omitempty"`
}

// ErrLong is of a line above LineMax.
var ErrLong = fmt.Errorf("more than %d bytes in a line", LineMax)

// Write sends a Request or a Response.
func Write(w io.Writer, message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(line)+1 > LineMax {
		return ErrLong
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// ReadRequest reads one Request. io.EOF where the other side closed without a word.
func ReadRequest(r io.Reader) (Request, error) {
	var req Request
	err := read(r, &req)
	if err == nil && req.Version != Version {
		err = fmt.Errorf("request of version %d: this agent speaks version %d", req.Version, Version)
	}
	return req, err
}

// ReadResponse reads one Response. io.EOF where the other side closed without a word.
func ReadResponse(r io.Reader) (Response, error) {
	var resp Response
	err := read(r, &resp)
	return resp, err
}

func read(r io.Reader, into any) error {
	in := bufio.NewReader(io.LimitReader(r, LineMax))
	line, err := in.ReadBytes('\n')
	switch {
	case err == nil:
	case !errors.Is(err, io.EOF):
		return err
	case len(line) == 0:
		return io.EOF
	case len(line) == LineMax:
		return ErrLong
	default:
		return io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("not understood: %w", err)
	}
	return nil
}

// ParseWanted reads an address that a pod asks for, with or without the length of its subnet, which an agent knows
// better.
func ParseWanted(text string) (netip.Addr, error) {
	a, err := netip.ParseAddr(text)
	if p, ok := netip.ParsePrefix(text); ok == nil {
		a, err = p.Addr(), nil
	}
	if a = a.Unmap(); err != nil || a.Zone() != "" || a.IsUnspecified() || a.IsMulticast() || a.IsLoopback() {
		return netip.Addr{}, fmt.Errorf("%q is no address of a pod", text)
	}
	return a, nil
}

// ParseArgs reads CNI_ARGS: pairs of key and value, parted by semicolons. A piece without exactly one "=" is an error;
// so is a key that is given twice with two values.
func ParseArgs(args string) (map[string]string, error) {
	pairs := map[string]string{}
	if args == "" {
		return pairs, nil
	}
	for piece := range strings.SplitSeq(strings.TrimSuffix(args, ";"), ";") {
		key, value, ok := strings.Cut(piece, "=")
		if !ok || key == "" || strings.Contains(value, "=") {
			return nil, fmt.Errorf("CNI_ARGS: %q is not of the form KEY=VALUE", piece)
		}
		if was, twice := pairs[key]; twice && was != value {
			return nil, fmt.Errorf("CNI_ARGS: %s is given as %q and as %q", key, was, value)
		}
		pairs[key] = value
	}
	return pairs, nil
}
