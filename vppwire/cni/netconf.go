//go:build linux

package cni

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	"github.com/vppdrill/vppdrill/vppwire/linkname"
)

// Defaults of Netconf.
const (
	// DefaultSocket is where an agent listens unless it is told otherwise.
	DefaultSocket = "/run/vppdrill/cni.sock"
	// DefaultTimeout is well below the two minutes after which kubelets give a runtime's request up
	// (--runtime-request-timeout), and above the agent's own patience with VPP of 30 s.
	DefaultTimeout = time.Minute
	// DefaultAgentWait lets an agent be restarted without a pod noticing.
	DefaultAgentWait = 5 * time.Second
)

// DefaultNetnsDirs is where container runtimes keep network namespaces: `ip netns`, containerd, CRI-O and podman, then
// Docker. "/proc" means /proc/PID/ns/net and /proc/PID/task/TID/ns/net.
var DefaultNetnsDirs = []string{"/var/run/netns", "/run/netns", "/var/run/docker/netns", "/run/docker/netns", "/proc"}

// Netconf is the plugin's configuration: what the specification defines, and our own fields.
type Netconf struct {
	CNIVersion string          `json:"cniVersion"`
	Name       string          `json:"name"`
	Type       string          `json:"type,omitempty"`
	IPAM       *types.IPAM     `json:"ipam,omitempty"`
	DNS        types.DNS       `json:"dns,omitempty"`
	IPMasq     bool            `json:"ipMasq,omitempty"`
	PrevResult json.RawMessage `json:"prevResult,omitempty"`
	// RuntimeConfig is what the runtime makes of declared capabilities.
	RuntimeConfig map[string]json.RawMessage `json:"runtimeConfig,omitempty"`
	// Args are what is passed on of a pod, by the name of who understands it (CNI's conventions, "args").
	Args json.RawMessage `json:"args,omitempty"`
	// Valid names for GC the attachments that stay. Absent is not the same as none.
	Valid json.RawMessage `json:"cni.dev/valid-attachments,omitempty"`
	// Attachments is Valid under the name that specification 1.1.0 first had for it; libcni sends both.
	Attachments json.RawMessage `json:"cni.dev/attachments,omitempty"`

	// AgentSocket is the absolute path of the agent's unix socket; empty is DefaultSocket.
	AgentSocket string `json:"agentSocket,omitempty"`
	// NetnsDirs are the folders that CNI_NETNS may be in, directly; none is DefaultNetnsDirs.
	NetnsDirs []string `json:"netnsDirs,omitempty"`
	// Timeout bounds a request as a whole, from 1 s to 10 min; 0 is DefaultTimeout.
	Timeout Duration `json:"timeout,omitempty"`
	// AgentWait is how long an agent that is away is waited for, up to Timeout; absent is DefaultAgentWait, "0s" is not at
	// all.
	AgentWait *Duration `json:"agentWait,omitempty"`
	// PodInterface is what pods of this network get instead of the agent's usual wiring: "memif", "memif-master"; empty
	// leaves it to their annotation.
	PodInterface string `json:"podInterface,omitempty"`

	raw []byte // as it came, for an IPAM plugin
}

// Duration is a time.Duration in Go's notation: "5s".
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no duration such as \"5s\"", text)
	}
	*d = Duration(parsed)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Bounds of a configuration.
const (
	// stdinMax leaves room for a GC as large as wire.LineMax.
	stdinMax   = 2 * wire.LineMax
	timeoutMin = time.Second
	timeoutMax = 10 * time.Minute
	// socketMax is Linux's sun_path without its zero byte.
	socketMax = 107
	nameMax   = 253
)

// ownFields are those a near miss is refused for. Others pass: they may be another plugin's or a later specification's.
var ownFields = []string{"agentSocket", "netnsDirs", "timeout", "agentWait", "podInterface"}

// parseNetconf reads a configuration and refuses what the command cannot be done with.
func parseNetconf(data []byte, command string) (*Netconf, *failure) {
	c := &Netconf{raw: data}
	if err := json.Unmarshal(data, c); err != nil {
		return c, undecodable("network configuration", err)
	}
	switch {
	case c.Name == "":
		return c, failed(types.ErrInvalidNetworkConfig, "network configuration: the name is missing")
	case len(c.Name) > nameMax || !idForm.MatchString(c.Name):
		return c, failed(types.ErrInvalidNetworkConfig, "network configuration: name %.300q: letters, digits, \"_\", \".\" and \"-\" make a name", c.Name)
	case !slices.Contains(Versions, c.CNIVersion):
		return c, failed(types.ErrIncompatibleCNIVersion, "incompatible CNI version %q", c.CNIVersion).
			more("supported: %s", strings.Join(Versions, ", "))
	}
	if least := leastVersion[command]; slices.Index(Versions, c.CNIVersion) < slices.Index(Versions, least) {
		return c, failed(types.ErrIncompatibleCNIVersion, "incompatible CNI version %q: %s needs %s", c.CNIVersion, command, least)
	}
	if f := c.settle(); f != nil {
		return c, f
	}
	if command == wire.Del {
		return c, nil
	}
	return c, c.refuseUnsupported()
}

// leastVersion says since when there is a command.
var leastVersion = map[string]string{wire.Add: "0.3.0", wire.Del: "0.3.0", wire.Check: "0.4.0", wire.GC: "1.1.0", wire.Status: "1.1.0"}

// settle checks our own fields and fills in their defaults.
func (c *Netconf) settle() *failure {
	bad := func(field, format string, args ...any) *failure {
		return failed(types.ErrInvalidNetworkConfig, "network configuration: "+field+": "+format, args...)
	}
	if c.AgentSocket == "" {
		c.AgentSocket = DefaultSocket
	}
	if !path.IsAbs(c.AgentSocket) || len(c.AgentSocket) > socketMax || strings.ContainsRune(c.AgentSocket, 0) {
		return bad("agentSocket", "%q: an absolute path of at most %d bytes is needed", c.AgentSocket, socketMax)
	}
	if len(c.NetnsDirs) == 0 {
		c.NetnsDirs = DefaultNetnsDirs
	}
	for _, dir := range c.NetnsDirs {
		if !path.IsAbs(dir) || path.Clean(dir) != dir || dir == "/" {
			return bad("netnsDirs", "%q: an absolute path of a folder is needed, without a slash at its end", dir)
		}
	}
	if c.Timeout == 0 {
		c.Timeout = Duration(DefaultTimeout)
	}
	if t := time.Duration(c.Timeout); t < timeoutMin || t > timeoutMax {
		return bad("timeout", "%v is not between %v and %v", t, timeoutMin, timeoutMax)
	}
	if c.AgentWait == nil {
		wait := Duration(min(DefaultAgentWait, time.Duration(c.Timeout)))
		c.AgentWait = &wait
	}
	if w := *c.AgentWait; w < 0 || w > c.Timeout {
		return bad("agentWait", "%v is not between 0s and timeout, %v", time.Duration(w), time.Duration(c.Timeout))
	}
	return nil
}

// refuseUnsupported refuses fields that ask for what nobody would do.
func (c *Netconf) refuseUnsupported() *failure {
	unsupported := func(field string, value any) *failure {
		return failed(types.ErrUnsupportedField, "unsupported field %q: %.200s", field, value)
	}
	if c.IPMasq {
		return unsupported("ipMasq", "true").more("what leaves the cluster is translated as the agent's configuration says")
	}
	for _, capability := range slices.Sorted(maps.Keys(c.RuntimeConfig)) {
		if value := c.RuntimeConfig[capability]; capability != ipsCapability && capability != annotationsCapability && !empty(value) {
			return unsupported("runtimeConfig."+capability, value).more("a plugin behind this one may declare the capability")
		}
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.raw, &fields) != nil {
		return nil // it was read before
	}
	if !empty(fields["ipam"]) && (c.IPAM == nil || c.IPAM.Type == "") {
		return unsupported("ipam", fields["ipam"]).more("without a type it names no plugin, and the agent chooses addresses")
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		for _, own := range ownFields {
			if !strings.EqualFold(field, own) && near(strings.ToLower(field), strings.ToLower(own)) {
				return unsupported(field, fields[field]).more("did you mean %q?", own)
			}
		}
	}
	return nil
}

// empty reports whether a JSON value says nothing.
func empty(value json.RawMessage) bool {
	switch string(bytes.Join(bytes.Fields(value), nil)) {
	case "", "null", "[]", "{}", `""`:
		return true
	}
	return false
}

// near reports whether one edit, or two edits in a longer word, make one word of the other.
func near(a, b string) bool {
	most := 1
	if len(b) > 7 {
		most = 2
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, before+1, row[j]+1)
		}
	}
	return row[len(b)] <= most
}

// The names of GC's list: the specification's, and the one that its text of 1.1.0 first had.
const (
	validField       = "cni.dev/valid-attachments"
	attachmentsField = "cni.dev/attachments"
)

// valid lists the attachments that a GC leaves.
func (c *Netconf) valid() ([]wire.Attachment, *failure) {
	field, text := validField, c.Valid
	if text == nil {
		field, text = attachmentsField, c.Attachments
	}
	if text == nil {
		// Without the list, everything would be removed.
		return nil, failed(types.ErrInvalidNetworkConfig, "network configuration: %s is missing", validField)
	}
	list, f := attachments(field, text)
	if f != nil || field == attachmentsField || c.Attachments == nil {
		return list, f
	}
	other, f := attachments(attachmentsField, c.Attachments)
	if f == nil && !sameAttachments(list, other) {
		f = failed(types.ErrInvalidNetworkConfig, "network configuration: %s and %s name different attachments", validField, attachmentsField)
	}
	return list, f
}

// sameAttachments reports whether two lists name the same attachments, in any order.
func sameAttachments(a, b []wire.Attachment) bool {
	named := map[wire.Attachment]int{} // in which of the lists: 1, 2, or both
	for _, x := range a {
		named[x] |= 1
	}
	for _, x := range b {
		named[x] |= 2
	}
	for _, in := range named { //vppdrill:unordered any of them decides
		if in != 3 {
			return false
		}
	}
	return true
}

// attachments reads one of GC's lists.
func attachments(field string, text json.RawMessage) ([]wire.Attachment, *failure) {
	var list []types.GCAttachment
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, undecodable(field, err)
	}
	valid := make([]wire.Attachment, len(list))
	for i, a := range list {
		if err := checkID(a.ContainerID); err != nil {
			return nil, failed(types.ErrInvalidNetworkConfig, "%s: containerID: %v", field, err)
		}
		if err := linkname.Check(a.IfName); err != nil {
			return nil, failed(types.ErrInvalidNetworkConfig, "%s: ifname of %s: %q is no interface name", field, a.ContainerID, a.IfName)
		}
		valid[i] = wire.Attachment{ContainerID: a.ContainerID, IfName: a.IfName}
	}
	return valid, nil
}
