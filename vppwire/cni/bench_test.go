//go:build linux

package cni_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/vppdrill/vppdrill/vppwire/cni"
)

// contender is a plugin and what it is run with.
type contender struct {
	name, dir, plugin string
	conf              string // of the pod's network
	host              string // namespace that the plugin runs in; empty: this process's
	slow              bool   // takes part in each tenth batch and has no resting pods
}

// pluginTime is how long one process of a plugin may take: longer than the plugins themselves give an agent, so that
// what does not answer says so by itself.
const pluginTime = 2 * time.Minute

// TestLatency goal: what an ADD costs beside the reference. Method: 1,000 pods (VPPDRILL_PODS) in batches of 20 that
// live at the same time, each contender in turn within a batch, so that what else the machine does strikes all alike.
// VPPDRILL_RESTING pods of each contender stand all the while, as ADDs on a full node are what counts. Timed is the
// plugin's process, from its start to its end. It prints a table and asserts nothing about it, of fewer pods where the
// tests' -timeout comes first; VPPDRILL_BENCH=1 runs it.
func TestLatency(t *testing.T) {
	if os.Getenv("VPPDRILL_BENCH") == "" {
		t.Skip("measures for minutes: VPPDRILL_BENCH=1 runs it")
	}
	pods, resting := fromEnv(t, "VPPDRILL_PODS", 1000), fromEnv(t, "VPPDRILL_RESTING", 0)
	end := time.Now().Add(24 * time.Hour)
	if deadline, limited := t.Deadline(); limited {
		end = deadline.Add(-time.Until(deadline) / 5) // for removing what stands
	}
	node := realNodes(t)[0]
	dir := filepath.Dir(node.netns)
	contenders := contend(t, node, dir)
	adds, dels := make([][]time.Duration, len(contenders)), make([][]time.Duration, len(contenders))
	for i, c := range contenders {
		if c.slow {
			continue
		}
		for j := range resting {
			c.run(t, "ADD", fmt.Sprintf("rest-%d-%d", i, j), newNetns(t, dir, fmt.Sprintf("rest-%d-%d.ns", i, j), nil))
		}
	}
	const batch = 20
	for done := 0; done < pods; done += batch {
		if time.Now().After(end) {
			t.Logf("%d of %d pods: the tests' -timeout is near", done, pods)
			break
		}
		for i, c := range contenders {
			if c.slow && done%(10*batch) != 0 {
				continue
			}
			var sandboxes [batch]string
			for j := range sandboxes {
				sandboxes[j] = newNetns(t, dir, fmt.Sprintf("bench-%d.ns", j), nil)
			}
			for _, command := range []string{"ADD", "DEL"} {
				for j, sandbox := range sandboxes {
					took := c.run(t, command, fmt.Sprintf("pod-%d-%d-%d", i, done, j), sandbox)
					if command == "ADD" {
						adds[i] = append(adds[i], took)
					} else {
						dels[i] = append(dels[i], took)
					}
				}
			}
			for _, sandbox := range sandboxes {
				removeNetns(sandbox)
			}
		}
	}
	if len(adds[0]) == 0 {
		t.Fatalf("no pod was measured within the tests' -timeout")
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "plugin\tresting\tpods\tADD p50\tADD p99\tDEL p50\tDEL p99\t")
	for i, c := range contenders {
		standing := resting
		if c.slow {
			standing = 0
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%v\t%v\t%v\t%v\t\n", c.name, standing, len(adds[i]), quantile(adds[i], 50), quantile(adds[i], 99), quantile(dels[i], 50), quantile(dels[i], 99))
	}
	_ = w.Flush() // into memory
	t.Logf("\n%s", table.String())
}

// fromEnv is a number of the environment, or what holds without it.
func fromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s: a number of pods is wanted", name, text)
	}
	return n
}

// quantile is the pct-th of a hundred, to a tenth of a millisecond.
func quantile(d []time.Duration, pct int) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[min(len(d)-1, len(d)*pct/100)].Round(100 * time.Microsecond)
}

// contend prepares the contenders; the reference is left out where it is not installed.
func contend(t *testing.T, node realNode, dir string) []contender {
	t.Helper()
	ours := fmt.Sprintf(`{"cniVersion": "1.0.0", "name": "k8s", "type": "vppdrill", "agentSocket": %q, "netnsDirs": [%q]}`, node.socket, dir)
	list := []contender{
		{"the program", binDir(t, filepath.Join(built(t), "vppdrill")), cni.PluginType, ours, "", true},
		{"the plugin alone", binDir(t, filepath.Join(built(t), "plugin")), cni.PluginType, ours, "", false},
	}
	for _, reference := range []string{"/usr/lib/cni", "/opt/cni/bin"} {
		if _, err := os.Stat(filepath.Join(reference, "bridge")); err != nil {
			continue
		}
		host := newNetns(t, dir, "bridge-host.ns", func() error {
			lo, err := netlink.LinkByName("lo")
			if err != nil {
				return err
			}
			return netlink.LinkSetUp(lo)
		})
		return append(list, contender{"bridge with host-local", reference, "bridge", fmt.Sprintf(`{"cniVersion": "1.0.0", "name": "ref", "type": "bridge",
			"bridge": "cni0", "isDefaultGateway": true, "ipam": {"type": "host-local", "subnet": "10.2.0.0/16", "dataDir": %q}}`, t.TempDir()), host, false})
	}
	t.Log("no reference: Debian's package containernetworking-plugins has it")
	return list
}

// run executes the plugin and returns how long it took.
func (c contender) run(t *testing.T, command, id, sandbox string) (took time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), pluginTime)
	defer cancel()
	p := exec.CommandContext(ctx, filepath.Join(c.dir, c.plugin))
	p.WaitDelay = time.Second // for children that keep its output open
	p.Env = []string{"CNI_COMMAND=" + command, "CNI_CONTAINERID=" + id, "CNI_NETNS=" + sandbox, "CNI_IFNAME=eth0", "CNI_PATH=" + c.dir,
		"PATH=" + os.Getenv("PATH")}
	p.Stdin = strings.NewReader(c.conf)
	var out bytes.Buffer
	p.Stdout = &out
	execute := func() error {
		begun := time.Now()
		err := p.Run()
		took = time.Since(begun)
		if err != nil {
			return fmt.Errorf("%s %s: %w: %s", c.name, command, err, out.Bytes())
		}
		return nil
	}
	if c.host == "" {
		if err := execute(); err != nil {
			t.Fatal(err)
		}
		return took
	}
	inNetns(t, c.host, execute) // a child has its starter's namespace
	if t.Failed() {
		t.FailNow()
	}
	return took
}
