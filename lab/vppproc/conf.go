package vppproc

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Config is how one VPP is run.
type Config struct {
	// Binary is the program, as Find returns it.
	Binary string
	// Dir receives startup.conf, sockets and logs; it exists. Its path is short: sockets below it hold 107 bytes.
	Dir string
	// Netns is the path of the network namespace to start in; empty is the caller's own.
	Netns string
	// Boot are CLI commands that run before agents can see the API socket, in order.
	Boot []string
	// Heap is the main heap in bytes; 0 is 256 MB. 64 MB abort (measured with 25.10).
	Heap int64
	// Sleep is how long VPP sleeps between two rounds of its main loop; 0 is never. It is what keeps idle labs off the
	// processor, and what an answer may have to wait for.
	Sleep time.Duration
	// Env is added to the environment: labs mark their processes by it.
	Env []string
	// Ready is how long VPP may take until it answers; 0 is a minute. 0.3 s are usual, sixteen that start at once on two
	// cores need seconds, and a machine with twenty times more to do than it can was seen to need more than 20 s.
	Ready time.Duration
}

const (
	defaultHeap  = 256 << 20
	defaultReady = time.Minute
)

// Files below Config.Dir. apiReal is where VPP listens; APISocket is a link to it that exists while VPP is ready, so
// that nobody speaks to a VPP that has not got its NIC yet.
const (
	APISocketFile = "api.sock"
	apiReal       = "api-vpp.sock"
	CLISocketFile = "cli.sock"
	ConfFile      = "startup.conf"
	LogFile       = "vpp.log"
	OutputFile    = "output.log"
	PIDFile       = "process"
)

// plugins are those that a lab's VPP loads; all others stay out, which saves memory and start time. The first group
// must exist, the second is taken where it does.
var (
	plugins         = []string{"af_packet", "vxlan", "nat"}
	optionalPlugins = []string{"ping", "acl", "arping", "memif", "tracedump", "dhcp", "stn"}
)

// segment is how the names of VPP's shared memory begin. Each VPP has its own, also one that nobody speaks to by shared
// memory: of two that make /dev/shm/vpe-api at one time, the one that comes upon it half made ends (seen once in some
// hundred starts).
func (c Config) segment() string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.Dir)) // a hash takes everything
	return fmt.Sprintf("vppdrill-%016x", h.Sum64())
}

// unlinkSegment takes the names of VPP's shared memory away. A VPP that has started has mapped it, and one that is
// killed would leave them for ever.
func (c Config) unlinkSegment() {
	for _, name := range []string{"vpe-api", "global_vm"} {
		_ = os.Remove(filepath.Join("/dev/shm", c.segment()+"-"+name)) // VPP may have ended before it made one
	}
}

// render is VPP's startup.conf.
func (c Config) render() string {
	var b strings.Builder
	in := func(name string) string { return filepath.Join(c.Dir, name) }
	fmt.Fprintf(&b, "# Written at each start of this lab's VPP.\nunix {\n  nodaemon\n  nosyslog\n  nocolor\n  cli-no-pager\n  runtime-dir %s\n  log %s\n  cli-listen %s\n",
		c.Dir, in(LogFile), in(CLISocketFile))
	if c.Sleep > 0 {
		fmt.Fprintf(&b, "  poll-sleep-usec %d\n", c.Sleep.Microseconds())
	}
	b.WriteString("}\n")
	fmt.Fprintf(&b, "api-segment {\n  prefix %s\n}\n", c.segment())
	fmt.Fprintf(&b, "socksvr {\n  socket-name %s\n}\n", in(apiReal))
	fmt.Fprintf(&b, "statseg {\n  size 16M\n  page-size default\n  socket-name %s\n}\n", in("stats.sock"))
	heap := c.Heap
	if heap == 0 {
		heap = defaultHeap
	}
	// Hugepages are not needed, and most machines that run labs have none.
	fmt.Fprintf(&b, "memory {\n  main-heap-size %dM\n  main-heap-page-size default\n}\nbuffers {\n  buffers-per-numa 8192\n  page-size default\n}\n", heap>>20)
	b.WriteString("plugins {\n")
	if folder := PluginFolder(c.Binary); folder != "" {
		fmt.Fprintf(&b, "  path %s\n", folder)
	}
	b.WriteString("  plugin default { disable }\n")
	for _, list := range [][]string{plugins, optionalPlugins} {
		for _, p := range list {
			fmt.Fprintf(&b, "  plugin %s_plugin.so { enable }\n", p)
		}
	}
	b.WriteString("}\n")
	return b.String()
}
