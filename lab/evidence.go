package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// shown are the commands whose output a VPP's evidence holds.
var shown = []string{
	"show version", "show plugins", "show interface", "show interface address", "show hardware-interfaces", "show ip fib", "show ip neighbors",
	"show bridge-domain 1 detail", "show l2fib verbose", "show vxlan tunnel", "show errors", "show node counters", "show runtime", "show logging",
	"show memory main-heap", "show buffers", "show threads", "show api clients",
}

// shownLinux are those of a namespace.
var shownLinux = [][]string{{"ip", "-d", "address"}, {"ip", "route", "show", "table", "all"}, {"ip", "neighbor"}, {"ip", "-s", "link"}}

// Evidence is below this folder; VPPDRILL_EVIDENCE names another.
const evidenceRoot = "/var/lib/vppdrill/evidence"

// EvidenceRoot is the folder that evidence gets new ones in.
func EvidenceRoot() string {
	if set := os.Getenv("VPPDRILL_EVIDENCE"); set != "" {
		return set
	}
	return evidenceRoot
}

// WriteEvidence saves what a lab looks like now in a new folder: logs, journals, plans, states, what VPP and Linux
// show, and the last lines of what happened. dir is the folder that gets the new one; empty is the usual place. What
// cannot be had is noted in its place: evidence of a broken lab is broken too.
func (w *World) WriteEvidence(ctx context.Context, dir string) (string, error) {
	if dir == "" {
		dir = EvidenceRoot()
	}
	dir = filepath.Join(dir, fmt.Sprintf("%s-%s-%s", w.scenario().Name, w.state.ID, time.Now().UTC().Format("20060102-150405")))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lines, _ := w.Last(tailMax)
	errs := []error{save(dir, "events.txt", strings.Join(lines, "\n")+"\n"), save(dir, "scenario.yaml", string(w.scenario().Marshal()))}
	nodes := w.inOrder()
	if snapshot, err := w.look(ctx, true); err == nil {
		errs = append(errs, save(dir, "graph.mmd", Draw(snapshot).Mermaid()), save(dir, "tables.txt", tables(snapshot)))
	}
	errs = append(errs, w.captures(ctx, nodes, dir))
	done := make([]error, len(nodes))
	each(nodes, func(n *node) {
		i := 0
		for nodes[i] != n {
			i++
		}
		done[i] = n.evidence(ctx, filepath.Join(dir, n.name))
	})
	return dir, errors.Join(append(errs, done...)...)
}

// captureTime is how long evidence listens to each wire while pods are pinged.
const captureTime = 2 * time.Second

// captures saves what passes every node's wire while some pods ping each other, and what came of the pings.
func (w *World) captures(ctx context.Context, nodes []*node, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, captureTime)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		each(nodes, func(n *node) {
			tapped, ok := n.machine.(Tapped)
			if !ok {
				return
			}
			netns, link := tapped.Wire()
			f, err := os.Create(filepath.Join(dir, n.name+".pcapng"))
			if err != nil || link == "" {
				return // the evidence does without
			}
			defer func() { _ = f.Close() }() // flushed after each packet
			if _, err := probe.Capture(ctx, netns, link, n.name, f, 0, nil); err != nil {
				w.Record.Note("capture: " + err.Error())
			}
		})
	}()
	t := w.Probe(ctx, Wanted{Pairs: pingedPairs})
	<-done
	return save(dir, "pings.txt", fmt.Sprintf("%d of %d pings answered\n%s\n", t.Pings, t.Pairs, strings.Join(t.Failed, "\n")))
}

// tables are the dumps in the words of the laws.
func tables(s fact.Snapshot) string {
	var b strings.Builder
	for _, n := range s.Nodes {
		fmt.Fprintf(&b, "%s: ID %d, address %s, blocks %v\n", n.Name, n.ID, n.Address, n.Blocks)
		if n.VPP == nil || n.Linux == nil {
			continue
		}
		for _, line := range holds(&n) {
			b.WriteString("  " + line + "\n")
		}
	}
	return b.String()
}

// save writes one file of the evidence.
func save(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, "/", "-")), []byte(text), 0o644)
}

func (n *node) evidence(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	errs := []error{copyFiles(n.dir, dir)}
	put := func(name, text string, err error) {
		if err != nil {
			text += "\n(" + err.Error() + ")\n"
		}
		errs = append(errs, save(dir, name, text))
	}
	body, err := n.get(ctx, "GET", "/state")
	put("state.json", string(body), err)
	plan, err := n.plan(ctx)
	put("plan.txt", plan, err)
	pods := ""
	for _, p := range n.kubelet.sandboxes() {
		pods += fmt.Sprintf("%s %s %s %s\n", p.Pod, p.Addr, p.Netns, p.Owner.ContainerID)
	}
	put("pods.txt", pods+n.kubelet.pending()+"\n", nil)
	shows, err := ShowVPP(ctx, n.machine.VPPDir())
	put("vpp.txt", shows, err)
	put("linux.txt", ShowLinux(ctx, n.machine.Netns("")), nil)
	for _, p := range n.kubelet.sandboxes() {
		put("pod-"+strings.TrimPrefix(p.Pod, "default/")+".txt", ShowLinux(ctx, n.machine.Netns(p.Netns)), nil)
	}
	return errors.Join(errs...)
}

// ShowVPP is what the usual commands print of the VPP whose files are in dir.
func ShowVPP(ctx context.Context, dir string) (string, error) {
	c, err := vppproc.Dial(dir)
	if err != nil {
		return "", err
	}
	defer c.Close()
	var b strings.Builder
	for _, command := range shown {
		text, err := c.CLI(ctx, command)
		fmt.Fprintf(&b, "vpp# %s\n%s\n", command, text)
		if err != nil {
			fmt.Fprintf(&b, "(%v)\n", err)
		}
	}
	return b.String(), nil
}

// ShowLinux is what the usual commands print in a namespace.
func ShowLinux(ctx context.Context, netns string) string {
	var b strings.Builder
	for _, argv := range shownLinux {
		var out []byte
		err := spawn.Inside(netns, func() (err error) {
			out, err = exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
			return err
		})
		fmt.Fprintf(&b, "# %s\n%s", strings.Join(argv, " "), out)
		if err != nil {
			fmt.Fprintf(&b, "(%v)\n", err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// copyFiles copies a node's logs, journal and configuration.
func copyFiles(from, to string) error {
	return filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // it went meanwhile, or is a socket
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil
		}
		name, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		return save(to, name, string(text))
	})
}
