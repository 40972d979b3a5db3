package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	anonymous bool
	churn     time.Duration
}

func traceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "trace",
		Short:   "Turn recorded traces of real clusters into scenarios",
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
		Use:   "import FORMAT FILE -o SCENARIO",
		Short: "Make a scenario of a trace file",
		Long: `Make a scenario of a recorded trace. FORMAT is one of
  dlrm    instances with creation and deletion times (Alibaba cluster-trace-gpu, dlrm)
  openb   pods with creation, scheduling and deletion times (Alibaba openb); --node-list names its node list
  kubernetes  a cluster, as kubectl get nodes,pods -A -o json prints it: its nodes, pods, ranges and address management as found;
          --churn lets pods come and go as often as the ages of those that are there tell`,
		Example: `  vppdrill trace import dlrm instances.csv -o dlrm.yaml --nodes 300
  vppdrill trace import openb pod_list.csv --node-list node_list.csv -o openb.yaml --repeat 4
  kubectl get nodes,pods -A -o json > cluster.json && vppdrill trace import kubernetes cluster.json -o cluster.yaml --churn 1h`,
		Args: cli.Args(2, 2, "a format and one trace file"),
		RunE: func(cmd *cobra.Command, args []string) error { return importTrace(cmd, f, args[0], args[1]) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "the scenario file to write; - for standard output")
	flags.StringVar(&f.name, "name", "", "the scenario's name; the format's when empty")
	flags.IntVar(&f.nodes, "nodes", 0, "nodes of the cluster; 0 takes the trace's own number")
	flags.IntVar(&f.repeat, "repeat", 1, "how often each pod comes, to make a sparse trace denser")
	flags.BoolVar(&f.anonymous, "anonymous", false, "for kubernetes: numbers in place of the names of pods and workloads")
	flags.DurationVar(&f.churn, "churn", 0, "for kubernetes: how long pods come and go; 0 is a cluster at rest")
	flags.StringVar(&f.nodeList, "node-list", "", "the trace's node list, for openb")
	return cmd
}

func importTrace(cmd *cobra.Command, f traceFlags, format, file string) error {
	if err := cli.OneOf("FORMAT", format, "dlrm", "openb", "kubernetes"); err != nil {
		return err
	}
	if f.out == "" {
		return cli.Usagef("trace import wants -o SCENARIO; see vppdrill trace import --help")
	}
	if f.name != "" && !scenarios.IsName(f.name) {
		return cli.Usagef("--name %q: lower case words joined by hyphens", f.name)
	}
	s, err := readTrace(f, format, file)
	if err != nil {
		return cli.BadInput(err)
	}
	text := s.Marshal()
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

func readTrace(f traceFlags, format, file string) (_ *scenarios.Scenario, err error) {
	o := trace.Options{Name: f.name, Nodes: f.nodes, Repeat: f.repeat}
	pods, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pods.Close()) }()
	if (f.anonymous || f.churn != 0) && format != "kubernetes" {
		return nil, errors.New("--anonymous and --churn belong to format kubernetes")
	}
	if format == "kubernetes" {
		if f.nodeList != "" || f.repeat != 1 || f.churn < 0 {
			return nil, errors.New("--node-list and --repeat belong to other formats, and --churn is not negative")
		}
		return trace.ImportKubernetes(pods, filepath.Base(file), trace.KubernetesOptions{Options: o, Anonymous: f.anonymous, Churn: f.churn})
	}
	if format == "dlrm" {
		if f.nodeList != "" {
			return nil, errors.New("--node-list belongs to format openb")
		}
		return trace.ImportDLRM(pods, filepath.Base(file), o)
	}
	if f.nodeList == "" {
		return nil, errors.New("format openb wants --node-list, the trace's list of nodes")
	}
	nodes, err := os.Open(f.nodeList)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, nodes.Close()) }()
	return trace.ImportOpenB(pods, filepath.Base(file), nodes, filepath.Base(f.nodeList), o)
}
