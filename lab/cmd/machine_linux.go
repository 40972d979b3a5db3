package cmd

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/lab/internal/vm"
	"github.com/vppdrill/vppdrill/lab/netns"
	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// examineMachine looks and changes nothing that stays.
func examineMachine(ctx context.Context) []Finding {
	root := Finding{What: "root", OK: os.Geteuid() == 0, For: "labs: namespaces and interfaces", Fix: "sudo vppdrill doctor"}
	if root.OK {
		root.Found = "yes"
	}
	return []Finding{
		root, examineVPP(ctx), examineNetns(ctx), examineNetem(),
		device("/dev/net/tun", "labs: tap interfaces", "modprobe tun"),
		device("/dev/vhost-net", "labs: taps of VPP; without it the host is connected by veth", "modprobe vhost_net"),
		examineHugepages(), examineDocker(ctx),
		program("kind", "labs in kind", "go install sigs.k8s.io/kind@latest", "kind"),
		program("dnsmasq", "labs whose nodes lease their addresses", "apt-get install dnsmasq-base", "dnsmasq", "/usr/sbin/dnsmasq"),
		program("ip", "labs: a look at what they made", "apt-get install iproute2", "ip", "/sbin/ip", "/usr/sbin/ip"),
		program("Chromium", "tests of the HTML report", "apt-get install chromium", "chromium", "chromium-browser", "google-chrome"),
		program("golangci-lint", "make check: the lint part", "go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest", "golangci-lint"),
	}
}

// examineTime bounds each look.
const examineTime = 10 * time.Second

func examineVPP(ctx context.Context) Finding {
	f := Finding{What: "VPP", For: "labs: real VPP nodes", Fix: "export " + vppproc.Environment + "=/path/to/vpp   (25.10 or newer, with its af_packet and vxlan plugins)"}
	path, err := vppproc.Find("")
	if err != nil {
		return f
	}
	f.Found = path
	if os.Geteuid() != 0 {
		f.Found += ", not tried: needs root"
		f.Fix = "sudo vppdrill doctor"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	version, plugins, err := vppproc.Examine(ctx, path)
	if err != nil {
		f.Found = err.Error()
		return f
	}
	f.OK, f.Found = true, path+" "+version+": "+strings.Join(plugins, " ")
	return f
}

func examineNetns(ctx context.Context) Finding {
	f := Finding{What: "netns", For: "labs: network namespaces", Fix: "sudo vppdrill doctor"}
	if err := (netns.Backend{}).Check(ctx); err != nil {
		f.Found = err.Error()
		return f
	}
	f.OK, f.Found = true, "can be made"
	return f
}

func examineNetem() Finding {
	f := Finding{What: "netem", For: "labs: late and lossy wires between nodes", Fix: "modprobe sch_netem"}
	if err := fabric.TryNetem("vd-"); err == nil {
		f.OK, f.Found = true, "can be made"
	}
	return f
}

// examineVM says whether virtual machines bring what this machine lacks. VPP is tried inside alone.
func examineVM() []Finding {
	f := Finding{What: "netns --in-vm", OK: true, For: "world netns with taps, netem and VLANs, without root"}
	what, err := vm.Ready(vm.Config{Accel: os.Getenv(vm.AccelEnvironment)})
	if f.Found = "can run here: " + what; err != nil {
		f.missing(err)
	}
	return []Finding{f}
}

func examineHugepages() Finding {
	f := Finding{What: "hugepages", For: "fast VPPs; labs need none", Fix: "sysctl vm.nr_hugepages=512"}
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return f
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "HugePages_Total:"); ok {
			n := strings.TrimSpace(rest)
			f.OK, f.Found = n != "0", n
		}
	}
	return f
}

// examineDocker asks the engine: a socket alone says nothing.
func examineDocker(ctx context.Context) Finding {
	f := Finding{What: "Docker", For: "labs in containers and kind"}
	version, err := lab.Docker(ctx)
	var none lab.NoDocker
	switch {
	case errors.As(err, &none):
		f.Found, f.Fix = none.Why, none.Mend
	case err != nil:
		f.Found = err.Error()
	default:
		f.OK, f.Found = true, orWord(version, "answers")
	}
	return f
}

func device(path, purpose, fix string) Finding {
	f := Finding{What: path, For: purpose, Fix: fix}
	if _, err := os.Stat(path); err == nil {
		f.OK, f.Found = true, "there"
	}
	return f
}
