package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// auditNeeded are what an audit reads of a server; without them there is nothing to judge.
var auditNeeded = []string{"/api/v1/nodes", "/api/v1/pods", "/api/v1/services"}

// auditMore are what it reads where the server has it: who gives the addresses, and its records. Of those that servers
// have in two versions, what comes later replaces what came before.
var auditMore = []string{"/apis/apps/v1/daemonsets",
	"/apis/networking.k8s.io/v1/servicecidrs", "/apis/networking.k8s.io/v1/ipaddresses",
	"/apis/k8s.cni.cncf.io/v1/network-attachment-definitions",
	calicoPath + "ipamblocks", calicoPath + "blockaffinities", calicoPath + "ipamhandles", calicoPath + "ippools",
	calicoPath + "ipreservations",
	calicoNewPath + "ipamblocks", calicoNewPath + "blockaffinities", calicoNewPath + "ipamhandles",
	calicoNewPath + "ippools", calicoNewPath + "ipreservations",
	"/apis/cilium.io/v2/ciliumnodes", "/apis/cilium.io/v2alpha1/ciliumpodippools", "/apis/cilium.io/v2/ciliumpodippools",
	"/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs", "/apis/vpcresources.k8s.aws/v1alpha1/cninodes",
	"/apis/whereabouts.cni.cncf.io/v1alpha1/ippools",
	"/apis/whereabouts.cni.cncf.io/v1alpha1/overlappingrangeipreservations",
	"/apis/kubeovn.io/v1/vpcs", "/apis/kubeovn.io/v1/subnets", "/apis/kubeovn.io/v1/ips",
	"/apis/crd.antrea.io/v1alpha2/ippools", "/apis/crd.antrea.io/v1beta1/ippools",
	kube.PoolNodesPath, kube.RecordsPath}

const (
	calicoPath    = "/apis/crd.projectcalico.org/v1/"
	calicoNewPath = "/apis/projectcalico.org/v3/"
)

// auditTime is how long a server may take to show everything.
const auditTime = 2 * time.Minute

func auditCommand(save func(dir string, j Judgement) error) *cobra.Command {
	var kubeconfig, out string
	var format cli.Format
	var watch watchFlags
	c := &cobra.Command{
		Use:   "audit --kubeconfig FILE | FILE…",
		Short: "Find wrong pod addresses in a running cluster, whatever its CNI",
		Long: `Read a cluster's nodes, pods and services, find out which CNI gives the addresses, and read its records where objects show
them: Calico, Cilium, AWS VPC CNI, Antrea, kube-ovn, OVN-Kubernetes, whereabouts, this program. Report

  - addresses that two of pods, nodes, tunnels, services have, and addresses outside of their node's ranges
  - addresses of running pods that the CNI's records call free, or give to others
  - ranges and pools that overlap each other, services or nodes
  - records of pods, nodes and services that are gone
  - pods without an address of a family that their node has, nodes that have fewer addresses than they take pods

What cannot be judged is told with the command that gets what is missing, and objects that say nothing of addresses are
counted by kind. audit changes nothing. With files it asks no server: they hold what kubectl get -o json prints of the
same objects, in any order, or what ipamd of the AWS VPC CNI answers on a node. Of an object that comes twice the last
one counts.

--watch keeps looking, by lists and watches alone, and prints a line when a finding comes and when it goes. A finding
comes when it has stood for 3 seconds, or 16 where it is about what Cilium's agents write. fixtures/kubernetes/audit runs
it in a cluster, with an alert rule for its figures.

--out writes JUnit, an HTML page, Markdown, SARIF and JSON: errors break their laws, warnings are notes.

Exit codes: 0 no errors, 1 errors found (with --watch: that stand at the end), 2 bad usage or input, 3 the server does not answer or shows too little.`,
		Example: `  vppdrill audit --kubeconfig ~/.kube/config
  kubectl get nodes,pods,services,daemonsets -A -o json > cluster.json; vppdrill audit cluster.json
  kubectl get ipamblocks.crd.projectcalico.org -o json | vppdrill audit cluster.json -
  vppdrill audit --kubeconfig ~/.kube/config --watch --format json --metrics 127.0.0.1:9466`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cli.PlainOutput(cmd)
			if watch.on || watch.given(cmd) {
				if err := watch.check(cmd, args); err != nil {
					return err
				}
				return runWatch(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), kubeconfig, format, watch)
			}
			if (kubeconfig == "") == (len(args) == 0) {
				return cli.Usagef("audit wants either --kubeconfig FILE or files; see vppdrill audit --help")
			}
			var r audit.Report
			began := time.Now()
			if kubeconfig == "" {
				var o audit.Objects
				if err := readFiles(cmd.Context(), "audit", cmd.InOrStdin(), args, &o); err != nil {
					return err
				}
				r = audit.Judge(&o)
			} else {
				c, err := kube.Dial(kubeconfig, "vppdrill-audit", slog.New(slog.DiscardHandler))
				if err != nil {
					return cli.Usagef("audit: %w", err)
				}
				if r, err = auditOf(cmd.Context(), c); err != nil {
					return err
				}
			}
			if out != "" {
				if err := save(out, auditJudgement(r, began)); err != nil {
					return cli.BadInput(err)
				}
			}
			return printAudit(cmd.OutOrStdout(), format, r)
		},
	}
	c.Flags().StringVar(&kubeconfig, "kubeconfig", "", "`file` that names the cluster to read")
	c.Flags().StringVar(&out, "out", "", "`folder` of the report: junit.xml, report.html and more")
	cli.AddFormat(c, &format)
	watch.add(c)
	return c
}

// readFiles reads for a command what kubectl printed; "-" is the standard input.
func readFiles(ctx context.Context, command string, in io.Reader, names []string, o *audit.Objects) error {
	for _, name := range names {
		_, err := cli.Promptly(ctx, func() (struct{}, error) { return struct{}{}, readFile(in, name, o) }) // a pipe may have nothing to say for ever
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return cli.BadInput(fmt.Errorf("%s: %w", command, err))
		}
	}
	if o.Len() == 0 {
		return cli.Usagef("%s: %s: no Kubernetes objects in it", command, strings.Join(names, ", "))
	}
	return nil
}

// readFile reads one of them, of any length.
func readFile(in io.Reader, name string, o *audit.Objects) error {
	if name == "-" {
		return o.Read("standard input", in)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return err
	case info.Mode()&os.ModeDevice != 0:
		return fmt.Errorf("%s is a device and no file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it is only read
	return o.Read(name, f)
}

// auditOf reads a cluster and judges it. What it finds counts if it finds the same a moment later.
func auditOf(ctx context.Context, c *kube.Connection) (audit.Report, error) {
	first, err := auditOnce(ctx, c)
	if err != nil || len(first.Findings) == 0 {
		return first, err
	}
	wait := time.Duration(0) // pods, and records of them, are not read at one instant
	for _, f := range first.Findings {
		wait = max(wait, audit.Settled(f))
	}
	select {
	case <-ctx.Done():
		return first, ctx.Err()
	case <-time.After(wait):
	}
	r, err := auditOnce(ctx, c)
	r.Findings = slices.DeleteFunc(r.Findings, func(f audit.Finding) bool { return !slices.Contains(first.Findings, f) })
	return r, err
}

// auditOnce reads a cluster and judges it.
func auditOnce(ctx context.Context, c *kube.Connection) (audit.Report, error) {
	var o audit.Objects
	left, err := readObjects(ctx, c, &o)
	if err != nil {
		return audit.Report{}, err
	}
	r := audit.Judge(&o)
	r.Unknown = append(r.Unknown, left...)
	return r, nil
}

// readObjects reads everything that an audit looks at; left says what the server would not show.
func readObjects(ctx context.Context, c *kube.Connection, o *audit.Objects) (left []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, auditTime)
	defer cancel()
	for _, path := range auditNeeded {
		err := c.List(ctx, path, func(page []byte) error { return o.Parse(path, page) })
		switch {
		case errors.Is(err, kube.ErrForbidden):
			return nil, cli.CannotRun(fmt.Errorf("audit: %w: with enough rights run kubectl get nodes,pods,services -A -o "+
				"json > cluster.json, then vppdrill audit cluster.json", err))
		case err != nil:
			return nil, cli.CannotRun(fmt.Errorf("audit: %w", err))
		}
	}
	for _, path := range auditMore {
		if err := c.List(ctx, path, func(page []byte) error { return o.Parse(path, page) }); err != nil {
			if ctx.Err() != nil {
				return nil, cli.CannotRun(fmt.Errorf("audit: %w", err))
			}
			left = append(left, oneline.Error(err).Error())
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
		printBasis(out, r)
		if kinds := unread(r); kinds != "" {
			fmt.Fprintln(out, "not read:", kinds)
		}
		if laws := idle(r); len(laws) > 0 {
			fmt.Fprintln(out, "nothing to judge for:", strings.Join(laws, ", "))
		}
		judged := 0
		for _, n := range r.Judged { // in any order: it is a sum
			judged += n
		}
		fmt.Fprintf(out, "%d nodes, %d pods with addresses of their own, %d things looked at by %d of %d laws, %d findings\n",
			r.Nodes, r.Pods, judged,
			len(audit.Laws())-len(idle(r)), len(audit.Laws()), len(r.Findings))
	}
	if r.Broken() {
		return cli.Broken(nil)
	}
	return nil
}

// printBasis says whose addresses are judged, and what is not for want of what.
func printBasis(out io.Writer, r audit.Report) {
	for _, y := range r.Systems {
		fmt.Fprintln(out, "addresses:", y)
	}
	for _, u := range r.Unknown {
		fmt.Fprintln(out, "not judged:", u)
	}
}

// unread counts by kind the objects that say nothing here.
func unread(r audit.Report) string {
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(r.Unread)) {
		words = append(words, fmt.Sprintf("%d %s", r.Unread[kind], kind))
	}
	return strings.Join(words, ", ")
}

// idle are the laws that had nothing to judge.
func idle(r audit.Report) []string {
	return slices.DeleteFunc(audit.Laws(), func(law string) bool { return r.Judged[law] > 0 })
}
