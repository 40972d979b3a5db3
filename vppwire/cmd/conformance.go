package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/internal/conformance"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

func conformanceCommand(save func(dir string, j Judgement) error) *cobra.Command {
	var kubeconfig, out string
	var format cli.Format
	o := conformance.Options{}
	c := &cobra.Command{
		Use:   "conformance --kubeconfig FILE | FILE…",
		Short: "Judge a running cluster by making pods in it, whatever its CNI",
		Long: `Make pods on every ready node of a cluster, in a namespace of its own, replace all of them several times, and judge each
round: pods start, have addresses of their own inside of their nodes' ranges, reach each other and a service, and leave no
record behind (vppdrill audit lists the records that it knows). At the end the namespace is removed; nothing else is touched.

--roll restarts the pods of one DaemonSet, such as the CNI's agents, while running pods call each other. --drain takes a
node out of service in each round: it cordons the node, evicts this run's pods from it, and puts it back. Findings of an
audit before the run are printed and do not count. --out writes JUnit, an HTML page, Markdown, SARIF and JSON.

With files it judges what kubectl get -o json printed, without a server, by the laws about addresses: every finding breaks
its law. Laws that need pods are reported as not judged.

An image that is not to be had, or that is not agnhost, ends the run within seconds: what pulling, starting and the pod's log
say of it is no fault of the network.

Exit codes: 0 all laws held, 1 a law was broken, 2 bad usage or input, 3 the server does not answer or refuses, or the image
does not run there.`,
		Example: `  vppdrill conformance --kubeconfig ~/.kube/config --image example.org/e2e-test-images/agnhost:2.56 --rounds 5 --pods 10
  vppdrill conformance --kubeconfig ~/.kube/config --image example.org/e2e-test-images/agnhost:2.56 --roll kube-system/cilium --out out
  kubectl get nodes,pods,services -A -o json > cluster.json; vppdrill conformance cluster.json --out out`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cli.PlainOutput(cmd)
			switch {
			case len(args) > 0:
				r, began, err := judgeFiles(cmd, args)
				if err == nil && out != "" {
					if bad := save(out, judgement(r, 0, began)); bad != nil {
						return cli.BadInput(bad)
					}
				}
				return errors.Join(err, printConformance(cmd.OutOrStdout(), format, r))
			case kubeconfig == "":
				return cli.Usagef("conformance: --kubeconfig FILE is needed: pods are made in the cluster that it names; or files, which are only read")
			case o.Image == "":
				return cli.Usagef("conformance: --image REF is needed: one that the cluster can pull, with Kubernetes' test program agnhost as its entry point")
			case o.PodsPerNode < 1 || o.Rounds < 1 || o.Calls < 0 || o.Wait <= 0:
				return cli.Usagef("conformance: --pods and --rounds are at least 1, --calls at least 0, --wait more than 0")
			}
			if namespace, name, ok := strings.Cut(o.Roll, "/"); o.Roll != "" && (!ok || namespace == "" || name == "" || strings.Contains(name, "/")) {
				return cli.Usagef("conformance: --roll %q: want NAMESPACE/NAME of a DaemonSet", o.Roll)
			}
			began := time.Now()
			client, err := kube.Dial(kubeconfig, "vppdrill-conformance", slog.New(slog.DiscardHandler))
			if err != nil {
				return cli.Usagef("conformance: %w", err)
			}
			o.Connection = client
			o.Audit = func(ctx context.Context) (audit.Report, error) { return auditOf(ctx, client) }
			o.Say = func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
			r, err := conformance.Run(cmd.Context(), o)
			if out != "" && r.Namespace != "" {
				if bad := save(out, judgement(r, o.Seed, began)); bad != nil {
					err = errors.Join(err, cli.BadInput(bad))
				}
			}
			return errors.Join(printConformance(cmd.OutOrStdout(), format, r), notJudged(err))
		},
	}
	flags := c.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "`file` that names the cluster to judge")
	flags.StringVar(&o.Image, "image", "", "image `REF` of the pods: Kubernetes' test image agnhost, by a name that the cluster can pull")
	flags.IntVar(&o.PodsPerNode, "pods", 3, "pods on each node at a time")
	flags.IntVar(&o.Rounds, "rounds", 3, "how often all pods are replaced")
	flags.IntVar(&o.Calls, "calls", 100, "pairs of pods that call each other in each round; 0: all")
	flags.Uint64Var(&o.Seed, "seed", 1, "draws the pairs")
	flags.DurationVar(&o.Patience, "patience", 3*time.Second, "how long a failing call is repeated: proxies learn of new pods a moment later")
	flags.DurationVar(&o.Wait, "wait", 2*time.Minute, "how long the pods of a round may take to start, and to go")
	flags.StringVar(&o.Roll, "roll", "", "DaemonSet `NAMESPACE/NAME` whose pods are restarted in each round; empty: none")
	flags.BoolVar(&o.Drain, "drain", false, "cordon one node in each round, evict this run's own pods from it, and put it back into service")
	flags.StringVar(&out, "out", "", "`folder` of the report: junit.xml, report.html and more")
	cli.AddFormat(c, &format)
	return c
}

// filesFlags are those that mean something where files are judged.
var filesFlags = []string{"out", "format"}

// judgeFiles judges what kubectl printed: by no rounds, and of no namespace.
func judgeFiles(cmd *cobra.Command, names []string) (r conformance.Result, began time.Time, err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(filesFlags, f.Name) {
			err = cli.Usagef("conformance: --%s is for clusters in which pods are made, and %s is only read: leave out one of the two", f.Name, names[0])
		}
	})
	if err != nil {
		return r, began, err
	}
	began = time.Now()
	var o audit.Objects
	if err := readFiles(cmd.Context(), "conformance", cmd.InOrStdin(), names, &o); err != nil {
		return r, began, err
	}
	report := audit.Judge(&o)
	if len(report.Judged) == 0 {
		return r, began, cli.Usagef("conformance: %s: neither pods with addresses nor nodes with ranges in it, want those: kubectl get nodes,pods,services -A -o json", strings.Join(names, ", "))
	}
	r = conformance.Result{Nodes: report.Nodes, Occasions: report.Judged, Notes: notesOf(report), Started: []time.Duration{}}
	for _, f := range report.Findings {
		r.Broken = append(r.Broken, conformance.Violation{Law: f.Law, Text: f.Subject + ": " + f.Text})
	}
	return r, began, nil
}

// notesOf is what an audit says of the CNI, and what it could not judge or read.
func notesOf(r audit.Report) (notes []string) {
	for _, s := range r.Systems {
		notes = append(notes, "addresses: "+s)
	}
	notes = append(notes, r.Unknown...)
	if kinds := unread(r); kinds != "" {
		notes = append(notes, "not read: "+kinds)
	}
	return notes
}

// inRound is a violation with the round of it, where there are rounds.
func inRound(v conformance.Violation) string {
	if v.Round == 0 {
		return v.Text
	}
	return fmt.Sprintf("round %d: %s", v.Round, v.Text)
}

func notJudged(err error) error {
	switch {
	case err == nil, cli.Coded(err), errors.Is(err, context.Canceled):
		return err
	}
	return cli.CannotRun(oneline.Error(fmt.Errorf("conformance: %w", err)))
}

func printConformance(out io.Writer, format cli.Format, r conformance.Result) error {
	if len(r.Occasions) == 0 && (r.Namespace == "" || format != cli.JSON) {
		return nil // nothing was judged: the error says why
	}
	if format == cli.JSON {
		if err := cli.WriteJSON(out, r); err != nil {
			return err
		}
	} else {
		verdictOf(r).print(out)
	}
	if len(r.Broken) > 0 {
		return cli.Broken(nil)
	}
	return nil
}
