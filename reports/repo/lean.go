package repo

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
)

// lean are the packages that others import into tests of their own. Whoever does, compiles and downloads everything that they import in turn.
var lean = []string{"ipam/...", "vppwire", "vppwire/agent/...", "vppwire/mode", "vppwire/policy", "vppwire/service", "sim/...", "scenarios", "scenarios/check", "scenarios/suite", "scenarios/timeline/..."}

// heavy are libraries that none of them needs, with what only they are for.
var heavy = []struct{ library, why string }{
	{"gonum.org", "pages of experiments draw with it, and runs have no plots"},
	{"sigs.k8s.io/kind", "clusters of kind are made by the lab"},
	{"github.com/docker", "an engine is spoken to where the lab makes containers"},
	{"github.com/moby", "an engine is spoken to where the lab makes containers"},
	{"github.com/containerd", "an engine is spoken to where the lab makes containers"},
	{"github.com/testcontainers", "an engine is spoken to where the lab makes containers"},
	{"go.etcd.io/etcd", "the simulator's store is in memory; the real one is behind vppwire/host/etcd"},
	{"google.golang.org/grpc", "nothing in memory needs a transport"},
	{"k8s.io", "the simulator's API server is in memory; the real one is behind vppwire/host/kube"},
	{"github.com/aws", "the modelled EC2 is in memory; the SDK of the real one is behind vppwire/host"},
	{"github.com/prometheus", "whoever drives an agent counts, and no driver is among them"},
	{"github.com/chromedp", "a browser tries the report's page, in its tests"},
	{"github.com/vishvananda", "the modelled kernel needs no real one"},
	{"github.com/spf13/cobra", "a library has no command line"},
}

// Lean lists the heavy libraries that lean packages bring, by whatever way, as the toolchain at root resolves it.
func Lean(root string, t *Tree) ([]Finding, error) {
	args := []string{"list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`}
	_, folders := t.folders()
	for _, f := range folders {
		if matchesAny(lean, f) && !matchesAny(outward, f) && !strings.HasPrefix(f, "ipam/peers") {
			args = append(args, "./"+f)
		}
	}
	cmd := exec.Command("go", args...)
	var out, complaint bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, complaint.String())
	}
	return leanFindings(out.String()), nil
}

// leanFindings reads lines of a package and what it imports.
func leanFindings(list string) (found []Finding) {
	for line := range strings.Lines(list) {
		names := strings.Fields(line)
		if len(names) == 0 || strings.HasPrefix(names[0], "vendor/") || weighs(names[0]) != "" {
			continue
		}
		for _, imported := range names[1:] {
			if why := weighs(imported); why != "" {
				folder, isOurs := ours(names[0])
				if !isOurs {
					folder = names[0]
				}
				found = append(found, Finding{Path: folder, What: "imports " + imported + ", and others import what needs it into tests of their own: " + why})
			}
		}
	}
	return found
}

// weighs is what only a heavy library is for, empty for others.
func weighs(path string) string {
	for _, h := range heavy {
		if path == h.library || strings.HasPrefix(path, h.library+"/") {
			return h.why
		}
	}
	return ""
}
