package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/scenarios/cmd"
)

// badScenarios are files that `vppdrill run` must refuse, each for one reason.
var badScenarios = []string{
	"", "\x00\x00\x00", "\xff\xfe\xfa", "name: x\nname: y", "name: [x]", "name: X Y", "name: ''", "- a\n- b", "name: x\n\ttopology: {}", "{", "name: x\nbogus: 1",
	"name: x\ntopology: {nodes: 0}", "name: x\ntopology: {nodes: -1}", "name: x\ntopology: {nodes: 99999999999999999999}", "name: x\ntopology: {nodes: 1.5}",
	"name: x\ntopology: {nodes: many}", "name: x\ntopology: {nodes: 5001}", "name: x\ntopology: 5", "name: x\ntopology: {podsPerNode: 500}", "name: x\ntopology: {nicMTU: 1}",
	"name: x\nseeds: 0", "name: x\nseeds: -1", "name: x\nlaws: some", "name: x\nlaws: [no-such-law]", "name: x\nlaws: [one-owner, one-owner]", "name: x\nlabels: 5",
	"name: x\nduration: -5s", "name: x\nduration: 5", "name: x\nduration: 5 parsecs", "name: x\nlimits: {settle: 0s}", "name: x\nlimits: {events: -1}",
	"name: x\nchurn: {lifetime: 5s}", "name: x\nchurn: {every: 1ns, until: 5s}", "name: x\nchurn: {every: 1s, from: 9s, until: 5s}", "name: x\nchurn: {every: 1s}",
	"name: x\nfaults: {dropReply: 2}", "name: x\nfaults: {dropReply: -0.1}", "name: x\nfaults: {dropReply: .nan}", "name: x\nduration: 5s\nfaults: {inject: ['(']}",
	"name: x\nduration: 5s\nfaults: {nodes: [node-77], dropReply: 0.1}", "name: x\nfaults: {dropReply: 0.1}", "name: x\nduration: 9s\nfaults: {delayReply: {p: 0.1, by: 0s}}",
	"name: x\nconfig: {ipam: {podSubnetCIDR: 10.1.0.0/33}}", "name: x\nconfig: {ipam: {podSubnetCIDR: 10.1.0.1/16}}", "name: x\nconfig: {ipam: {podSubnetCIDR: banana}}",
	"name: x\nconfig: {ipam: {podSubnetOneNodePrefixLen: 8}}", "name: x\nconfig: {ipam: {system: calice}}", "name: x\nconfig: {wiring: {pod: cable}}",
	"name: x\nconfig: {ipam: {podSubnetCIDR: 10.1.0.0/24, podSubnetOneNodePrefixLen: 24}}\ntopology: {nodes: 9}",
	"name: x\ntimeline: [{at: 1s}]", "name: x\ntimeline: [{at: 1s, do: explode}]", "name: x\ntimeline: [{at: 1s, do: restart-vpp, node: node-9}]",
	"name: x\ntimeline: [{at: 5s, do: settle}, {at: 1s, do: settle}]", "name: x\ntimeline: [{at: -1s, do: settle}]", "name: x\ntimeline: [{at: 1s, after: 1s, do: settle}]",
	"name: x\ntimeline: [{when: never, do: settle}]", "name: x\ntimeline: [{at: 1s, do: delete-pods, all: true, app: typo}]", "name: x\ntimeline: [{at: 1s, do: delete-pods}]",
	"name: x\ntimeline: [{at: 1s, do: create-pods, count: 0}]", "name: x\ntimeline: [{at: 1s, do: create-pods, count: 9999999}]", "name: x\ntimeline: [{at: 1s, do: add-range, cidr: 10.9.0.0/24}]",
	"name: x\ntimeline: [{at: 1s, do: partition, between: [node-1]}]", "name: x\ntimeline: [{at: 1s, do: remove-node, node: node-1}, {at: 2s, do: restart-vpp, node: node-1}]",
	"name: x\nworkload: {rows: 'a b c'}", "name: x\nworkload: {format: pods/1}", "name: x\nworkload:\n  format: pods/1\n  rows: |\n    p a x y -\n",
	"name: x\nexpect: {violation: no-such-law}", "name: x\nexpect: {pods: -1}", "name: x\ntopology: " + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "name: &a [*a]", "a: &x {b: *x}",
}

// badLines are command lines that must be refused; calm.yaml is a scenario that passes, bad.capsule no capsule, a.capsule one that is cut off.
var badLines = []string{
	"nonsense", "run", "run nosuch.yaml", "run .", "run calm.yaml --seed -1", "run calm.yaml --seed 99999999999999999999", "run calm.yaml --jobs 0", "run calm.yaml --jobs -3",
	"run calm.yaml --events most", "run calm.yaml --format xml", "run calm.yaml --shrink -1s", "run calm.yaml --shrink soon", "run calm.yaml --world moon", "run calm.yaml --out calm.yaml",
	"run calm.yaml --out calm.yaml/below", "run calm.yaml --out ''", "run --catalog calm.yaml", "debug diff calm.yaml --worlds sim", "debug diff calm.yaml --worlds sim,sim", "debug diff calm.yaml --worlds sim,moon", "debug diff calm.yaml calm.yaml --seed 2",
	"run /dev/zero", "run /dev/null", "run agent-restart", "debug nonsense", "describe nonsense", "debug museum nosuch", "debug museum etcd-lost-ids --seeds 0", "debug museum etcd-lost-ids --tail -1",
	"explore", "explore nosuch.yaml", "explore calm.yaml --seeds 0", "explore calm.yaml --seeds 5 --for 5s", "explore calm.yaml --for -1s", "explore --lives calm.yaml", "explore --random calm.yaml --profile tiny", "explore --random --seed 2", "explore --random --profile huge",
	"explore calm.yaml --random --exhaustive", "explore calm.yaml --crash-points --kind sneeze", "explore calm.yaml --most 5", "explore --random --corpus calm.yaml", "explore calm.yaml --out calm.yaml",
	"debug replay", "debug replay nosuch", "debug replay bad.capsule", "debug replay a.capsule", "debug replay calm.yaml", "debug replay a.capsule --until -1", "debug replay a.capsule --regress --until 5", "debug replay /dev/zero", "debug replay .",
	"debug step", "debug step nosuch", "debug step bad.capsule", "debug step /dev/zero", "debug branch bad.capsule", "debug branch bad.capsule --at 0", "debug branch bad.capsule --at 5", "debug branch bad.capsule --at 5 --choose yes --do settle",
	"debug branch bad.capsule --at 5 --most 0", "debug diff calm.yaml", "debug diff calm.yaml calm.yaml", "debug diff nosuch nosuch", "debug diff . .", "debug diff calm.yaml calm.yaml --before -1",
	"debug export", "debug export calm.yaml", "debug export calm.yaml --node node-1", "debug export calm.yaml --node node-1 -o calm.yaml", "debug export calm.yaml --node node-9 -o x.trace", "debug export calm.yaml --node node-1 -o x.trace --at -1s",
	"debug export calm.yaml --node node-1 -o x.trace --at 1s --event 5", "debug export calm.yaml --node node-1 -o x.trace --event 999999999", "debug export calm.yaml --node node-1 -o x.trace --event 1", "debug export nosuch --node node-1 -o x.trace", "debug export bad.capsule --node node-1 -o x.trace",
	"debug export calm.yaml --node node-1 -o nosuch/x.trace",
	"trace nonsense", "trace import", "trace import nosuch calm.yaml -o out.yaml", "trace import openb nosuch -o out.yaml", "trace import openb calm.yaml -o out.yaml", "debug report nosuch", "debug report .", "debug report calm.yaml",
	"describe schema extra", "describe schema agent extra", "version extra", "lab model", "lab model --socket ''", "lab model --socket calm.yaml/x", "lab parity --sequences -1", "ipam nonsense", "ipam plan", "ipam plan nosuch", "ipam plan bad.capsule",
	"ipam plan calm.yaml --nodes -1", "ipam plan calm.yaml --growth -200", "ipam explain nosuch", "agent", "agent --config nosuch", "agent --config bad.capsule",
	"agent --config /dev/zero", "describe actions explode", "describe laws no-such-law", "describe faults gravity", "describe settings config.ipm", "init calm.yaml", "init . extra", "init taken", "init mine.yaml", "init new/mine.yml", "lab nonsense", "lab up nosuch.yaml --world netns",
	"run calm.yaml --out /", "run calm.yaml --seed abc", "explore calm.yaml --for 3x", "experiment calm.yaml --vary topology.nodes=1,2 --vary topology.nodes=3",
	"trace import kubernetes cluster.json -o cluster.json",
	"agent --config good.yaml --node ../n", "agent --config good.yaml --node n1 --etcd ::::", "agent --config good.yaml --node n1 --etcd embedded:", "agent --config good.yaml --node n1 --journal .",
	"completion klingon", "run calm.yaml --sed 7",
	"audit", "audit nosuch", "audit --nope", "audit /dev/null", "audit /dev/zero", "conformance x", "controller --type nonsense", "controller", "experiment collide nosuch", "doctor x",
	"audit calm.yaml", "audit calm.yaml calm.yaml", "ipamd extra", "ipamd --log-level loud", "ipamd --pods calm.yaml", "experiment", "experiment nosuch.yaml", "experiment bad.capsule", "experiment /dev/zero", "experiment calm.yaml --seeds 0", "experiment calm.yaml --jobs 0",
	"experiment calm.yaml calm.yaml", "experiment calm.yaml --out calm.yaml", "experiment collide --nope", "experiment collide --n 1", "experiment collide mac-32 --p 2", "experiment collide mac-32 --trials 0", "experiment collide mac-32 --held 0", "experiment collide mac-32 --window 0s",
}

// Goal: no abuse of any command panics, hangs, is taken silently or leaves half an output. Method: more than a hundred bad files and lines, in a
// folder in which nothing may change; each ends with a code above 0 and one line on standard error that says why.
func TestAbuse(t *testing.T) {
	const calm = "name: calm\ntopology: {nodes: 2, podsPerNode: 1}\n"
	files := map[string]string{"calm.yaml": calm, "bad.capsule": "vppdrill capsule 1\nversion x\nwhat\n", "a.capsule": "vppdrill capsule 1\nversion devel\nseed 1\nverdict fail\n", "taken/agent.yaml": "mine",
		"good.yaml":    "TCPstackDisabled: true\nIPAMConfig: {podSubnetCIDR: 10.1.0.0/16, podSubnetOneNodePrefixLen: 24, vppHostSubnetCIDR: 172.30.0.0/16, vppHostSubnetOneNodePrefixLen: 24, nodeInterconnectCIDR: 192.168.16.0/24, vxlanCIDR: 192.168.30.0/24}\n",
		"cluster.json": `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"podCIDR": "10.0.0.0/24"}}`}
	lines := slices.Clone(badLines)
	for _, name := range commandNames(t) {
		lines = append(lines, name+" --no-such-flag")
		if top, _, _ := strings.Cut(name, " "); !slices.ContainsFunc(badLines, func(l string) bool { return l == top || strings.HasPrefix(l, top+" ") }) {
			t.Errorf("no line abuses %s", top)
		}
	}
	for i, text := range badScenarios {
		name := "bad-" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + ".yaml"
		files[name] = text
		lines = append(lines, "run "+name+" --out out")
	}
	if len(lines) < 160 {
		t.Fatalf("only %d", len(lines))
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := treeOf(t, dir)
	for _, line := range lines {
		args := shellWords(line)
		if strings.HasSuffix(line, " ''") {
			args = append(args, "")
		}
		code, out, errOut, hung := refusal(t, args)
		// A machine that stands still for seconds makes any line look as if it hung; what truly hangs does it again.
		for more := 2; hung != "" && more > 0; more-- {
			t.Logf("%s seems to hang: %s", line, hung)
			code, out, errOut, hung = refusal(t, args)
		}
		told := strings.TrimSpace(errOut)
		name, _ := strings.CutSuffix(strings.TrimPrefix(line, "run "), " --out out")
		switch {
		case hung != "":
			t.Errorf("%s hangs: %s", line, hung)
		case code == 0 && !strings.HasSuffix(line, " ''"):
			t.Errorf("%s is taken:\n%s%s\n%s", line, out, told, files[name])
		case code != 0 && (told == "" || strings.Contains(told, "\n") && !strings.Contains(line, "completion") || strings.Contains(told, "goroutine ")):
			t.Errorf("%s says %q (code %d), %q", line, told, code, files[name])
		case code != 0 && out != "" && !strings.HasPrefix(line, "debug diff"):
			t.Errorf("%s prints %q although it is refused", line, out)
		}
		if after := treeOf(t, dir); after != before {
			t.Errorf("%s (%q) changes the folder from\n%s\nto\n%s", line, files[name], before, after)
			before = after
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, unix.ENOSPC }

// onFullDisk is the name by which the test's program is vppdrill in a process whose files take 4 KiB at most, as TestMain knows.
const onFullDisk = "vppdrill-on-a-full-disk"

func fillDisk() {
	signal.Ignore(unix.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 4 << 10, Max: 4 << 10}); err != nil {
		panic(err)
	}
}

// Goal: what could not be written is said, and nothing half is left. Method: commands that print, with an output that takes nothing; a folder
// to start from on a disk that is full behind its first file, which is a limit of the process.
func TestFullDisk(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("calm.yaml", []byte("name: calm\ntopology: {nodes: 2, podsPerNode: 1}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"version", "doctor", "describe laws", "describe settings", "describe actions restart-vpp", "run calm.yaml", "run --catalog --list", "explore calm.yaml --seeds 2", "init rehearsal", "help"} {
		var errOut bytes.Buffer
		if code := cmd.Execute(t.Context(), config(), strings.Fields(line), full{}, &errOut); code != 2 || !strings.Contains(errOut.String(), "no space left on device") {
			t.Errorf("%s: code %d, %q", line, code, errOut.String())
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, onFullDisk); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("./"+onFullDisk, "init", "later")
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	_ = c.Run() // its exit code is looked at
	code := c.ProcessState.ExitCode()
	left, err := os.ReadDir("later")
	if code != 2 || out.Len() > 0 || len(left) > 0 || err != nil {
		t.Errorf("code %d, %q, %q, left %v, %v", code, out.String(), errOut.String(), left, err)
	}
}

// refusal runs one command line; hung is "" or how long it took where that is too long.
func refusal(t *testing.T, args []string) (code int, out, errOut, hung string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var outs, errs bytes.Buffer
	began, spent := time.Now(), processorTime(t)
	code = cmd.Execute(ctx, config(), args, &outs, &errs)
	// What it computes is told by processor time, which is the same on a machine that others use as well. What it waits for instead
	// passes on the wall's clock alone, which is only believed when it is far over.
	spent = processorTime(t) - spent
	if took := time.Since(began); ctx.Err() != nil || spent > hungAfter || spent < hungAfter/10 && took > 15*hungAfter {
		hung = fmt.Sprintf("%s of processor time, %s", spent, took)
	}
	return code, outs.String(), errs.String(), hung
}

// groups are the commands that only hold others.
var groups = []string{"", "lab", "ipam", "trace", "debug", "describe"}

// commandNames are all commands, with what they hold, as completion knows them.
func commandNames(t *testing.T) (names []string) {
	t.Helper()
	for _, group := range groups {
		var out, errOut bytes.Buffer
		if code := cmd.Execute(t.Context(), config(), append(append([]string{"__complete"}, strings.Fields(group)...), ""), &out, &errOut); code != 0 {
			t.Fatal(errOut.String())
		}
		for line := range strings.Lines(out.String()) {
			name, _, described := strings.Cut(line, "\t")
			if described && name != "help" {
				names = append(names, strings.TrimSpace(group+" "+name))
			}
		}
	}
	names = append(names, "experiment collide") // its group completes scenarios, too
	if len(names) < 30 || !slices.Contains(names, "lab up") || !slices.Contains(names, "experiment") {
		t.Fatalf("commands: %q", names)
	}
	return names
}

// hungAfter is how long a person waits for a refusal.
const hungAfter = time.Second

// processorTime is what this process has computed so far, in all of its threads.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// treeOf lists a folder's files with their sizes.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			b.WriteString(path + " " + info.Mode().String())
			if !info.IsDir() {
				b.WriteString(" " + info.ModTime().String())
			}
			b.WriteByte('\n')
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
