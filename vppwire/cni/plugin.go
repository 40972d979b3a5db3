//go:build linux

package cni

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
)

// Asked reports whether a container runtime runs this process as its plugin.
func Asked() bool { return os.Getenv(envCommand) != "" }

// Main is the plugin as a process: it returns the exit code.
func Main() int { return Run(context.Background(), os.Getenv, os.Stdin, os.Stdout) }

// Run performs one request. getenv gives the specification's variables, in the configuration. At most one JSON document
// is written to out, in one piece: the result of an ADD or VERSION, or an error. The exit code is 0 for success, else
// 1. An IPAM plugin, where one is configured, gets the process's own environment.
func Run(ctx context.Context, getenv func(string) string, in io.Reader, out io.Writer) int {
	answer, f := perform(ctx, getenv, in)
	if f != nil {
		if f.CNIVersion == "" {
			f.CNIVersion = latest
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(f); err != nil {
			return 1 // strings and numbers have a JSON form
		}
		_, _ = out.Write(b.Bytes()) // there is nobody else to tell
		return 1
	}
	if len(answer) == 0 {
		return 0
	}
	if _, err := out.Write(answer); err != nil {
		return 1 // the runtime has not learned of the attachment and will take it down
	}
	return 0
}

// call is a request in progress.
type call struct {
	parameters
	conf  *Netconf
	agent client
	ipam  ipam
}

// verbs are what a runtime can ask besides VERSION.
var verbs = map[string]func(*call, context.Context) ([]byte, *failure){
	wire.Add: (*call).add, wire.Del: (*call).del, wire.Check: (*call).check, wire.GC: (*call).gc, wire.Status: (*call).status,
}

// perform is Run without its printing.
func perform(ctx context.Context, getenv func(string) string, in io.Reader) ([]byte, *failure) {
	p, f := readEnvironment(getenv)
	if f != nil {
		return nil, f
	}
	data, err := io.ReadAll(io.LimitReader(in, stdinMax+1))
	if err != nil {
		return nil, failed(types.ErrIOFailure, "standard input: %v", err)
	}
	if len(data) > stdinMax {
		return nil, failed(types.ErrDecodingFailure, "network configuration: more than %d bytes", stdinMax)
	}
	if p.command == versionCommand {
		return tellVersions(data)
	}
	conf, f := parseNetconf(data, p.command)
	c := &call{parameters: p, conf: conf}
	if f == nil {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(conf.Timeout))
		defer cancel()
		c.agent = client{socket: conf.AgentSocket, wait: time.Duration(*conf.AgentWait)}
		if c.ipam, f = conf.delegate(getenv("CNI_PATH")); f == nil {
			var answer []byte
			if answer, f = verbs[p.command](c, ctx); f == nil {
				return answer, nil
			}
		}
	}
	if f.Code != types.ErrIncompatibleCNIVersion {
		f.CNIVersion = conf.CNIVersion
	}
	return nil, f
}

// tellVersions answers VERSION in the runtime's own version. Runtimes of before 1.0 send nothing.
func tellVersions(data []byte) ([]byte, *failure) {
	said := struct {
		CNIVersion string   `json:"cniVersion"`
		Supported  []string `json:"supportedVersions"`
	}{CNIVersion: latest}
	if len(bytes.TrimSpace(data)) > 0 {
		if err := json.Unmarshal(data, &said); err != nil {
			return nil, undecodable("version", err)
		}
	}
	said.Supported = Versions
	b, err := json.Marshal(said)
	if err != nil {
		return nil, failed(types.ErrInternal, "version: %v", err)
	}
	return append(b, '\n'), nil
}

// request is what the agent needs to know for every command.
func (c *call) request() wire.Request {
	return wire.Request{Command: c.command, Network: c.conf.Name, ContainerID: c.containerID, IfName: c.ifName}
}

// add attaches a sandbox. Where it fails after an IPAM plugin has chosen an address, and the agent has said that it
// holds nothing, the address goes back; where nobody knows, it stays until DEL.
func (c *call) add(ctx context.Context) ([]byte, *failure) {
	previous, f := c.conf.previous()
	if f != nil {
		return nil, f
	}
	if previous != nil && indexOf(previous, c.parameters) >= 0 {
		return nil, failed(types.ErrInvalidNetworkConfig, "prevResult: another plugin has made %s in %s already", c.ifName, c.netns)
	}
	fd, f := c.conf.sandbox(c.parameters)
	if f != nil {
		return nil, f
	}
	taken := hasLink(fd, c.ifName)
	closeFD(fd)
	if taken {
		if f := c.ours(ctx); f != nil {
			return nil, f
		}
	}
	req, dns := c.request(), c.conf.DNS
	req.Netns, req.Args = c.netns, c.args
	if req.Wanted, f = c.conf.wanted(); f != nil {
		return nil, f
	}
	if req.Interface, f = c.conf.podInterface(); f != nil {
		return nil, f
	}
	if c.ipam.named() {
		addrs, known, f := c.ipam.add(ctx)
		if f != nil {
			return nil, c.giveBack(f) // the specification wants a DEL behind a failed ADD
		}
		if req.Addr = addrs[0]; len(addrs) > 1 {
			req.SecondAddr = addrs[1]
		}
		if dns.IsEmpty() {
			dns = known
		}
	}
	resp, f := c.agent.request(ctx, req)
	if f != nil {
		if f.answered {
			f = c.giveBack(f)
		}
		return nil, f
	}
	if resp.Result == nil {
		return nil, failed(types.ErrInternal, "the agent answered without a result")
	}
	result, f := newResult(resp.Result, previous, dns)
	if f != nil {
		return nil, f
	}
	return encode(result, c.conf.CNIVersion)
}

// ours refuses an interface that is in the sandbox already, unless the agent has made it: then the runtime asks again
// because it has lost the answer.
func (c *call) ours(ctx context.Context) *failure {
	req := c.request()
	req.Command = wire.Check
	_, f := c.agent.request(ctx, req)
	if f == nil || !f.answered || f.Code != types.ErrUnknownContainer {
		return nil // the ADD itself will tell
	}
	return invalidEnv(envIfName, "%s exists already in %s", c.ifName, c.netns)
}

// giveBackTime is for an IPAM plugin to take an address back when the request's own time may be over.
const giveBackTime = 10 * time.Second

// giveBack tells the IPAM plugin that its address is not needed, and returns the error that is the reason.
func (c *call) giveBack(because *failure) *failure {
	ctx, cancel := context.WithTimeout(context.Background(), giveBackTime)
	defer cancel()
	if f := c.ipam.tell(ctx, wire.Del); f != nil {
		because.add(f)
	}
	return because
}

// del detaches a sandbox, which may be gone.
func (c *call) del(ctx context.Context) ([]byte, *failure) {
	if _, f := c.agent.request(ctx, c.request()); f != nil {
		return nil, f
	}
	return nil, c.ipam.tell(ctx, wire.Del)
}

// check asks the agent whether all is as it was allocated, and looks into the sandbox itself.
func (c *call) check(ctx context.Context) ([]byte, *failure) {
	previous, f := c.conf.previous()
	if f != nil {
		return nil, f
	}
	if previous == nil {
		return nil, failed(types.ErrInvalidNetworkConfig, "network configuration: prevResult is missing")
	}
	want, f := find(previous, c.parameters)
	if f != nil {
		return nil, f
	}
	fd, f := c.conf.sandbox(c.parameters)
	if f != nil {
		return nil, f
	}
	defer closeFD(fd)
	req := c.request()
	req.Netns, req.Addr = c.netns, want.addrs[0].Addr()
	if _, f := c.agent.request(ctx, req); f != nil {
		return nil, f
	}
	if f := inspect(fd, c.parameters, want); f != nil {
		return nil, f
	}
	return nil, c.ipam.tell(ctx, wire.Check)
}

// gc removes every attachment that the runtime does not know of. It goes as far as it can and tells all errors.
func (c *call) gc(ctx context.Context) ([]byte, *failure) {
	valid, f := c.conf.valid()
	if f != nil {
		return nil, f
	}
	req := c.request()
	req.Valid, req.ContainerID, req.IfName = valid, "", ""
	_, f = c.agent.request(ctx, req)
	if f != nil && !f.answered {
		return nil, f // nobody knows what is left, so no address may be freed
	}
	if other := c.ipam.tell(ctx, wire.GC); other != nil {
		if f == nil {
			return nil, other
		}
		f.add(other)
	}
	return nil, f
}

// status tells whether an ADD would be taken on now. An agent that is away is not waited for: a runtime asks often.
func (c *call) status(ctx context.Context) ([]byte, *failure) {
	c.agent.wait = 0
	req := c.request()
	req.ContainerID, req.IfName = "", ""
	if _, f := c.agent.request(ctx, req); f != nil {
		return nil, f
	}
	return nil, c.ipam.tell(ctx, wire.Status)
}
