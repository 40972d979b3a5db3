//go:build linux

package cmd

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/container"
	"github.com/vppdrill/vppdrill/lab/internal/kindcluster"
	"github.com/vppdrill/vppdrill/lab/kindworld"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// runPatience is how long a run's control plane may take.
const runPatience = 5 * time.Minute

// runCluster is what a cluster of one run is made of; VPPDRILL_VPP_IMAGE names its image, VPPDRILL_NODE_IMAGE that of
// nodes. An image that nobody named has to hold this very build.
func runCluster() (kindcluster.Options, error) {
	o := kindcluster.Options{ID: "r" + strings.ToLower(rand.Text()[:6]), Nodes: 1, VPPImage: container.DefaultImage, Dir: lab.DefaultRoot(), Wait: runPatience}
	if set := os.Getenv(container.Environment); set != "" {
		o.VPPImage = set
		return o, nil
	}
	var err error
	o.Program, err = ownProgram()
	return o, err
}

// inCluster runs one scenario in a kind cluster of its own. VPPDRILL_KEEP=1 leaves the cluster of a failed run up.
func inCluster(ctx context.Context, s *scenarios.Scenario, r RunOptions) (result.Result, error) {
	cluster, err := runCluster()
	if err != nil {
		return result.Result{}, err
	}
	o := kindworld.Options{Cluster: cluster, RunOptions: byEnvironment(r)}
	if len(kindworld.Unsupported(s)) == 0 {
		if err := kindCensus(ctx, &common{root: o.Cluster.Dir}, os.Stderr); err != nil {
			return result.Result{}, err
		}
	}
	res, err := kindworld.Run(ctx, s, o)
	if lab.IsCannotRun(err) {
		return cannotRun(s, kindWorld, r, err), nil
	}
	return res, coded(err)
}

// kindCheck says in one line why no cluster can be made on this machine.
func kindCheck(ctx context.Context) error {
	o, err := runCluster()
	if err != nil {
		return err
	}
	return kindcluster.Check(ctx, o)
}
