package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/trace"
)

// traceFlags are the flags of `vppdrill trace import`.
type traceFlags struct {
	out       string
	name      string
	nodes     int
	repeat    int
	nodeList  string
	auditLog  string
	events    string
	anonymous bool
	churn     time.Duration
}

func traceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "trace",
		Short:   "Make scenarios of traces and of real clusters",
		Example: "  vppdrill trace import dlrm instances.csv -o dlrm.yaml --nodes 300",
		Args:    cli.NoCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(traceImportCommand())
	return cmd
}

func traceImportCommand() *cobra.Command {
	var f traceFlags
	cmd := &cobra.Command{
		Use:   "import FORMAT FILE… -o SCENARIO",
		Short: "Make a scenario of a trace, or of a cluster",
		Long: `Make a scenario of a recorded trace. FORMAT is one of

  dlrm        instances with creation and deletion times (Alibaba cluster-trace-gpu, dlrm)
  openb       pods with creation, scheduling and deletion times (Alibaba openb); needs --node-list
  kubernetes  a cluster as kubectl get nodes,pods -A -o json prints it, with its CNI's objects where they are given

kubernetes takes nodes, pods, ranges of both families and address management from the cluster, and the files that vppdrill
audit takes, as many, - for standard input: Calico's blocks and pools may be in another one than nodes and pods. What was left out or made up is told, and kinds that it does not read. --audit-log (audit.k8s.io/v1: an event a
line, an EventList, or CloudWatch's messages; gzipped or not) and --events (kubectl get events -A -o json) add when pods
came and went. Dropped records are counted by reason.

--churn does not replay a trace. Pods come as often and live as long as in the trace, in a different order for each seed.
For kubernetes without records, the ages of the pods decide.`,
		Example: `  vppdrill trace import dlrm instances.csv -o dlrm.yaml --nodes 300
  vppdrill trace import openb pod_list.csv --node-list node_list.csv -o openb.yaml --repeat 4
  kubectl get nodes,pods -A -o json > cluster.json && vppdrill trace import kubernetes cluster.json -o cluster.yaml --churn 1h
  vppdrill trace import kubernetes cluster.json --audit-log audit.log -o cluster.yaml`,
		Args: cli.Args(2, -1, "a format and a trace file"),
		RunE: func(cmd *cobra.Command, args []string) error { return importTrace(cmd, f, args[0], args[1:]) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "the scenario file to write; - for standard output")
	flags.StringVar(&f.name, "name", "", "the scenario's name; the format's when empty")
	flags.IntVar(&f.nodes, "nodes", 0, "nodes of the cluster; 0 takes the trace's own number")
	flags.IntVar(&f.repeat, "repeat", 1, "copies of each pod, to make a sparse trace denser")
	flags.BoolVar(&f.anonymous, "anonymous", false, "for kubernetes: numbers in place of the names of pods and workloads")
	flags.DurationVar(&f.churn, "churn", 0, "how long pods come and go at the trace's rate; 0: replay the trace")
	flags.StringVar(&f.auditLog, "audit-log", "", "for kubernetes: the API server's audit log")
	flags.StringVar(&f.events, "events", "", "for kubernetes: output of kubectl get events -A -o json")
	flags.StringVar(&f.nodeList, "node-list", "", "the trace's node list, for openb")
	return cmd
}

func importTrace(cmd *cobra.Command, f traceFlags, format string, files []string) error {
	if err := cli.OneOf("FORMAT", format, "dlrm", "openb", "kubernetes"); err != nil {
		return err
	}
	if f.out == "" {
		return cli.Usagef("trace import wants -o SCENARIO; see vppdrill trace import --help")
	}
	if f.name != "" && !scenarios.IsName(f.name) {
		return cli.Usagef("--name %q: lower case words joined by hyphens", f.name)
	}
	cli.PlainOutput(cmd)
	for _, in := range append(slices.Clone(files), f.nodeList, f.auditLog, f.events) {
		if same(f.out, in) {
			return cli.Usagef("trace import: -o %s would overwrite what is read: name another file", f.out)
		}
	}
	if len(files) > 1 && format != "kubernetes" {
		return cli.Usagef("trace import %s takes one file, and got %d", format, len(files))
	}
	s, err := readTrace(f, format, files, cmd.InOrStdin())
	if err != nil {
		return cli.BadInput(err)
	}
	var plain bytes.Buffer
	_, _ = cli.Plain(&plain).Write(s.Marshal()) // a buffer takes everything
	text := plain.Bytes()
	if f.out == "-" {
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	if err := os.WriteFile(f.out, text, 0o644); err != nil {
		return cli.BadInput(err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "vppdrill: wrote %s: %d nodes, %d pods over %s\n", f.out, s.Topology.Nodes, len(s.Workload.Rows),
		scenarios.FormatDuration(s.BreakEnd()))
	for _, note := range s.Notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "vppdrill: %s\n", note)
	}
	return nil
}

// same reports whether two names are of one file that is there.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func readTrace(f traceFlags, format string, files []string, stdin io.Reader) (_ *scenarios.Scenario, err error) {
	o := trace.Options{Name: f.name, Nodes: f.nodes, Repeat: f.repeat, Churn: f.churn}
	switch {
	case f.churn < 0:
		return nil, errors.New("--churn is negative")
	case (f.anonymous || f.auditLog != "" || f.events != "") && format != "kubernetes":
		return nil, errors.New("--anonymous, --audit-log and --events belong to format kubernetes")
	case f.nodeList != "" && format != "openb":
		return nil, errors.New("--node-list belongs to format openb")
	case f.nodeList == "" && format == "openb":
		return nil, errors.New("format openb wants --node-list, the trace's list of nodes")
	}
	file, open := files[0], map[string]io.Reader{}
	for _, name := range append(slices.Clone(files), f.nodeList, f.auditLog, f.events) {
		if name == "" || open[name] != nil {
			continue
		}
		if name == "-" && slices.Contains(files, name) {
			open[name] = stdin
			continue
		}
		opened, oerr := os.Open(name)
		if oerr != nil {
			return nil, oerr
		}
		open[name] = opened
		defer func() { err = errors.Join(err, opened.Close()) }()
	}
	switch format {
	case "kubernetes":
		k := trace.KubernetesOptions{Options: o, Anonymous: f.anonymous}
		if f.auditLog != "" {
			k.AuditLog, k.AuditLogName = open[f.auditLog], filepath.Base(f.auditLog)
		}
		if f.events != "" {
			k.Events, k.EventsName = open[f.events], filepath.Base(f.events)
		}
		for i, more := range files[1:] {
			if slices.Contains(files[:i+1], more) {
				continue // it says the same again
			}
			k.More = append(k.More, trace.Input{Name: filepath.Base(more), Text: open[more]})
		}
		return trace.ImportKubernetes(open[file], filepath.Base(file), k)
	case "dlrm":
		return trace.ImportDLRM(open[file], filepath.Base(file), o)
	}
	return trace.ImportOpenB(open[file], filepath.Base(file), open[f.nodeList], filepath.Base(f.nodeList), o)
}
