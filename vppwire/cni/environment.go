//go:build linux

package cni

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/vppdrill/vppdrill/vppwire/cni/wire"
	"github.com/vppdrill/vppdrill/vppwire/linkname"
)

// The specification's environment variables.
const (
	envCommand     = "CNI_COMMAND"
	envContainerID = "CNI_CONTAINERID"
	envNetns       = "CNI_NETNS"
	envIfName      = "CNI_IFNAME"
	envArgs        = "CNI_ARGS"
	// envNetnsOverride, when true, lets a sandbox be the plugin's own namespace. It is the reference implementation's;
	// tests of runtimes use it.
	envNetnsOverride = "CNI_NETNS_OVERRIDE"
)

// parameters are what the environment says.
type parameters struct {
	command, containerID, netns, ifName, args string
	ownNetns                                  bool
}

// version is a command that the agent is not asked for.
const versionCommand = "VERSION"

var commands = append(slices.Clone(wire.Commands), versionCommand)

// idMax bounds container IDs: runtimes use 64 digits. It keeps an agent's journal lines short whatever a runtime thinks
// of.
const idMax = 253

var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// readEnvironment reads and checks the variables that the command needs; CNI_NETNS is looked at by sandbox. The error
// names every variable that is missing.
func readEnvironment(get func(string) string) (parameters, *failure) {
	p := parameters{command: get(envCommand), containerID: get(envContainerID), netns: get(envNetns), ifName: get(envIfName),
		args: get(envArgs)}
	if override := get(envNetnsOverride); override == "1" || strings.EqualFold(override, "true") {
		p.ownNetns = true
	}
	if !slices.Contains(commands, p.command) {
		f := invalidEnv(envCommand, "%q is none of %s", p.command, strings.Join(commands, ", "))
		if i := slices.IndexFunc(commands, func(c string) bool { return strings.EqualFold(c, p.command) }); i >= 0 {
			f = f.more("did you mean %s?", commands[i])
		}
		return p, f
	}
	if !p.attaches() {
		return p, nil
	}
	var missing []string
	for _, v := range []struct {
		name, value string
		optional    bool
	}{{envContainerID, p.containerID, false}, {envNetns, p.netns, p.command == wire.Del}, {envIfName, p.ifName, false}} {
		if v.value == "" && !v.optional {
			missing = append(missing, v.name)
		}
	}
	if len(missing) > 0 {
		return p, failed(types.ErrInvalidEnvironmentVariables, "missing for %s: %s", p.command, strings.Join(missing, ", "))
	}
	if err := checkID(p.containerID); err != nil {
		return p, invalidEnv(envContainerID, "%v", err)
	}
	if err := linkname.Check(p.ifName); err != nil {
		return p, invalidEnv(envIfName, "%v", err)
	}
	return p, p.checkArgs()
}

// attaches reports whether the command is about one attachment.
func (p parameters) attaches() bool {
	return p.command == wire.Add || p.command == wire.Del || p.command == wire.Check
}

func checkID(id string) error {
	switch {
	case len(id) > idMax:
		return fmt.Errorf("%d bytes are more than %d", len(id), idMax)
	case !idForm.MatchString(id):
		return fmt.Errorf("%q: letters, digits, \"_\", \".\" and \"-\" make a container ID, and the first is a letter or digit", id)
	}
	return nil
}

// knownArgs are what kubelets and their like pass in CNI_ARGS.
var knownArgs = []string{"IgnoreUnknown", "K8S_POD_NAMESPACE", "K8S_POD_NAME", "K8S_POD_UID", "K8S_POD_INFRA_CONTAINER_ID"}

// argMax bounds a value: names of Kubernetes have at most 253 bytes.
const argMax = 253

// checkArgs refuses arguments that nobody would honor, unless IgnoreUnknown says that this is wanted. A DEL is not held
// up by what its ADD was refused for.
func (p parameters) checkArgs() *failure {
	if p.command == wire.Del {
		return nil
	}
	args, err := wire.ParseArgs(p.args)
	if err != nil {
		return failed(types.ErrInvalidEnvironmentVariables, "%v", err)
	}
	var lenient types.UnmarshallableBool
	if text, ok := args["IgnoreUnknown"]; ok && lenient.UnmarshalText([]byte(text)) != nil {
		return invalidEnv(envArgs, "IgnoreUnknown=%q is neither true nor false", text)
	}
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(args)) {
		value := args[key]
		if !slices.Contains(knownArgs, key) {
			unknown = append(unknown, key)
			continue
		}
		if len(value) > argMax || strings.IndexFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
			return invalidEnv(envArgs, "%s has a value that no Kubernetes object has: %.300q", key, value)
		}
	}
	if len(unknown) > 0 && !bool(lenient) {
		return invalidEnv(envArgs, "unknown %s", strings.Join(unknown, ", ")).more("IgnoreUnknown=1 lets them pass")
	}
	return nil
}
