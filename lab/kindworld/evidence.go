package kindworld

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/kindcluster"
)

// evidenceTime is how long evidence of one node may take.
const evidenceTime = time.Minute

// WriteEvidence saves what a cluster looks like now in a new folder: the API server's objects and events, agents'
// plans, claims and logs, what VPP and Linux show, and the last lines of what happened. What cannot be had is noted in
// its place.
func (w *World) WriteEvidence(ctx context.Context) (string, error) {
	dir := filepath.Join(lab.EvidenceRoot(), fmt.Sprintf("%s-%s-%s", w.s.Name, w.o.Cluster.ID, time.Now().UTC().Format("20060102-150405")))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	var errs []error
	put := func(name, text string, err error) {
		if err != nil {
			text += "\n(" + err.Error() + ")\n"
		}
		errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	put("events.txt", strings.Join(w.Tail(1000), "\n")+"\n", nil)
	put("scenario.yaml", string(w.s.Marshal()), nil)
	for name, args := range map[string][]string{ // in any order: each has a file
		"objects.txt":     {"get", "nodes,pods,daemonsets,nodeidrecords", "-A", "-o", "wide"},
		"kube-events.txt": {"get", "events", "-A", "--sort-by=.lastTimestamp"},
		"pools.txt":       {"get", "configmap", "-n", kindcluster.Namespace, kindcluster.PoolsConfig, "-o", "yaml"},
		"agents.log":      {"logs", "-n", kindcluster.Namespace, "-l", "app.kubernetes.io/name=vppdrill-agent", "--prefix", "--tail=400"},
	} {
		one, cancel := context.WithTimeout(ctx, evidenceTime)
		text, err := w.machines.Kubectl(one, args...)
		cancel()
		put(name, text, err)
	}
	for _, n := range w.inOrder() {
		m := n.up()
		if m == nil {
			continue
		}
		one, cancel := context.WithTimeout(ctx, evidenceTime)
		// in any order: each has a file
		for file, path := range map[string]string{"plan.txt": "/plan", "state.json": "/state"} {
			body, err := m.get(one, path)
			put(n.name+"-"+file, string(body), err)
		}
		shown, err := lab.ShowVPP(one, m.root()+vppDir)
		put(n.name+"-vpp.txt", shown, err)
		put(n.name+"-linux.txt", lab.ShowLinux(one, m.netns("")), nil)
		for _, p := range n.told.pods() {
			put(n.name+"-pod-"+strings.ReplaceAll(p.Pod, "/", "-")+".txt", lab.ShowLinux(one, m.netns(p.Netns)), nil)
		}
		cancel()
	}
	return dir, errors.Join(errs...)
}
