package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// auditPaths are what an audit reads of a server. Without the first three there is nothing to judge.
var auditPaths = []string{"/api/v1/nodes", "/api/v1/pods", "/api/v1/services", "/apis/networking.k8s.io/v1/servicecidrs",
	"/apis/crd.projectcalico.org/v1/ipamblocks", "/apis/cilium.io/v2/ciliumnodes", kube.PoolNodesPath, kube.RecordsPath}

const auditNeeded = 3

// auditTime is how long a server may take to show everything.
const auditTime = 2 * time.Minute

func auditCommand() *cobra.Command {
	var kubeconfig string
	var format cli.Format
	c := &cobra.Command{
		Use:   "audit --kubeconfig FILE | FILE…",
		Short: "Find wrong pod addresses in a running cluster, whatever its CNI",
		Long: `Read a cluster's nodes, pods and services, and the records of its CNI where they are known: Calico's IPAM blocks,
CiliumNodes, node records of this program. Report

  - addresses of two pods, and addresses outside of their node's ranges
  - ranges that overlap each other, services or nodes
  - records of pods that are gone
  - nodes that take more pods than they have addresses

audit changes nothing. With files it asks no server: they hold what kubectl get -o json prints of the same objects.

Exit codes: 0 no errors, 1 errors found, 2 bad usage or input, 3 the server does not answer or shows too little.`,
		Example: `  vppdrill audit --kubeconfig ~/.kube/config
  kubectl get nodes,pods,services -A -o json > cluster.json; vppdrill audit cluster.json
  kubectl get ipamblocks.crd.projectcalico.org -o json | vppdrill audit cluster.json -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (kubeconfig == "") == (len(args) == 0) {
				return cli.Usagef("audit wants either --kubeconfig FILE or files; see vppdrill audit --help")
			}
			var o audit.Objects
			var left []string
			var err error
			if kubeconfig == "" {
				err = readFiles("audit", cmd.InOrStdin(), args, &o)
			} else {
				left, err = readCluster(cmd.Context(), kubeconfig, &o)
			}
			if err != nil {
				return err
			}
			r := audit.Judge(&o)
			r.Unknown = append(r.Unknown, left...)
			return printAudit(cmd.OutOrStdout(), format, r)
		},
	}
	c.Flags().StringVar(&kubeconfig, "kubeconfig", "", "`file` that names the cluster to read")
	cli.AddFormat(c, &format)
	return c
}

// readFiles reads for a command what kubectl printed; "-" is the standard input.
func readFiles(command string, in io.Reader, names []string, o *audit.Objects) error {
	for _, name := range names {
		var text []byte
		var err error
		if name == "-" {
			text, err = io.ReadAll(in)
		} else {
			var info os.FileInfo
			if info, err = os.Stat(name); err == nil && info.Mode()&os.ModeDevice != 0 {
				err = fmt.Errorf("%s is a device and no file", name)
			} else if err == nil {
				text, err = os.ReadFile(name)
			}
		}
		if err != nil {
			return cli.Usagef("%s: %w", command, err)
		}
		if err := o.Parse(name, text); err != nil {
			return cli.BadInput(fmt.Errorf("%s: %w", command, err))
		}
	}
	if o.Len() == 0 {
		return cli.Usagef("%s: %s: no Kubernetes objects in it", command, strings.Join(names, ", "))
	}
	return nil
}

// readCluster reads a server; left says what it would not show.
func readCluster(ctx context.Context, kubeconfig string, o *audit.Objects) (left []string, err error) {
	c, err := kube.Dial(kubeconfig, "vppdrill-audit", slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, cli.Usagef("audit: %w", err)
	}
	return readObjects(ctx, c, o)
}

// readObjects reads everything that an audit looks at.
func readObjects(ctx context.Context, c *kube.Connection, o *audit.Objects) (left []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, auditTime)
	defer cancel()
	for i, path := range auditPaths {
		err := c.List(ctx, path, func(page []byte) error { return o.Parse(path, page) })
		switch {
		case errors.Is(err, kube.ErrForbidden) && i >= auditNeeded:
			left = append(left, err.Error())
		case errors.Is(err, kube.ErrForbidden):
			return nil, cli.CannotRun(fmt.Errorf("audit: %w: with enough rights run kubectl get nodes,pods,services -A -o json > cluster.json, then vppdrill audit cluster.json", err))
		case err != nil:
			return nil, cli.CannotRun(fmt.Errorf("audit: %w", err))
		}
	}
	return left, nil
}

func printAudit(out io.Writer, format cli.Format, r audit.Report) error {
	if format == cli.JSON {
		if err := cli.WriteJSON(out, r); err != nil {
			return err
		}
	} else {
		for _, f := range r.Findings {
			fmt.Fprintln(out, f)
		}
		for _, u := range r.Unknown {
			fmt.Fprintln(out, "not judged:", u)
		}
		judged := 0
		for _, n := range r.Judged { // in any order: it is a sum
			judged += n
		}
		fmt.Fprintf(out, "%d nodes, %d pods with addresses of their own, %d things looked at, %d findings\n", r.Nodes, r.Pods, judged, len(r.Findings))
	}
	if r.Broken() {
		return cli.Broken(nil)
	}
	return nil
}
