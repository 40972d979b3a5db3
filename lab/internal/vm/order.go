package vm

import "strings"

// Order is what a machine is to do.
type Order struct {
	// Argv is the command: a program that is found in this machine's PATH, with its arguments.
	Argv []string `json:"argv"`
	// Env is its environment, Dir its working directory.
	Env []string `json:"env"`
	Dir string   `json:"dir"`
	// Writable are folders of this machine whose changes stay: absolute, clean, none within another.
	Writable []string `json:"writable"`
	// Modules are loaded in this order.
	Modules []Module `json:"modules"`
}

// Names of the machine's virtio-serial ports.
const (
	portStdout  = "vppdrill.stdout"
	portStderr  = "vppdrill.stderr"
	portControl = "vppdrill.control"
)

// Lines of the control port.
const (
	lineAlive     = "alive"     // out: the machine works
	lineExit      = "exit "     // out, before the command's exit code
	lineFailed    = "failed "   // out, before the reason why the command was not started
	lineInterrupt = "interrupt" // in: the command is to end in order
)

// Paths in the initramfs.
const (
	initFile      = "init"
	orderFile     = "order.json"
	modulesFolder = "modules"
)

// Tags of the folders that the machine mounts.
const (
	tagRoot     = "root"
	tagWritable = "writable"
)

// marker is a file that only such a machine has.
const marker = "/run/vppdrill-vm/inside"

// signalled is what shells add to a signal's number for the exit code of a process that it ended.
const signalled = 128

// within leaves out folders that lie in others of the list.
func within(folders []string) (outer []string) {
	for _, f := range folders {
		inside := false
		for _, other := range folders {
			inside = inside || f != other && strings.HasPrefix(f, strings.TrimSuffix(other, "/")+"/")
		}
		for _, o := range outer {
			inside = inside || o == f
		}
		if !inside {
			outer = append(outer, f)
		}
	}
	return outer
}
