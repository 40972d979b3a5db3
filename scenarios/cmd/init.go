package cmd

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

func initCommand(c Config) *cobra.Command {
	var goSuite bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a commented scenario and agent configuration to start from",
		Long: `Write scenario.yaml and agent.yaml into a folder, by default the current one, each with its schema for editors. The
scenario is small and passes; the configuration is for a node agent with the same address plan. Existing files are kept.

--go-suite writes a Go module instead: the scenario below testdata with a test that runs every file there, a law of your
own, and a test with a fault.`,
		Example: `  vppdrill init rehearsal
  vppdrill run rehearsal/scenario.yaml
  vppdrill ipam plan rehearsal/scenario.yaml
  vppdrill init --go-suite rehearsals`,
		Args: cli.Args(0, 1, "at most one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
				if ext := filepath.Ext(dir); ext == ".yaml" || ext == ".yml" {
					return cli.BadInput(fmt.Errorf("init: %s: wants a folder, in which it writes scenario.yaml: vppdrill init %s", dir, quote(strings.TrimSuffix(dir, ext))))
				}
			}
			schema := string(scenarios.Schema(lawsOf(c)...))
			if goSuite {
				return writeStart(cmd, dir, append(suiteFiles(), startFile{filepath.Join("testdata", scenarios.SchemaFile), schema}), suiteNext(dir))
			}
			files := []startFile{{"scenario.yaml", startScenario}, {scenarios.SchemaFile, schema}, {"agent.yaml", c.AgentSchema.Comment + startAgent}}
			if s := c.AgentSchema; s.Text != nil {
				files = append(files, startFile{s.File, string(s.Text())})
			}
			return writeStart(cmd, dir, files, "vppdrill run "+quote(filepath.Join(dir, "scenario.yaml")))
		},
	}
	cmd.Flags().BoolVar(&goSuite, "go-suite", false, "write a Go module with a suite, a law and a fault")
	return cmd
}

// startFile is a file to start from.
type startFile struct{ name, text string }

//go:embed start/*.txt
var goFiles embed.FS

// suiteFiles are a Go module.
func suiteFiles() []startFile {
	files := []startFile{{"go.mod", "module rehearsals\n\ngo 1.26\n"}, {filepath.Join("testdata", "scenario.yaml"), startScenario}}
	if v := Version(); released.MatchString(v) {
		files[0].text += "\nrequire github.com/vppdrill/vppdrill " + v + "\n"
	}
	list, err := goFiles.ReadDir("start")
	if err != nil {
		panic(err) // they are in the program
	}
	for _, f := range list {
		text, err := goFiles.ReadFile("start/" + f.Name())
		if err != nil {
			panic(err) // as before
		}
		files = append(files, startFile{strings.TrimSuffix(f.Name(), ".txt"), string(text)})
	}
	return files
}

// released is a version that a module can require.
var released = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// suiteNext is what makes a new module's tests run.
func suiteNext(dir string) string {
	get := "go mod tidy"
	if !released.MatchString(Version()) {
		// No release has what this build has, so the module takes the source that it was built of.
		get = "go mod edit -require=github.com/vppdrill/vppdrill@v0.0.0 -replace=github.com/vppdrill/vppdrill=CHECKOUT && " + get
		return "cd " + quote(dir) + " && " + get + " && go test ./..., where CHECKOUT is the folder of the source that this program was built of"
	}
	return "cd " + quote(dir) + " && " + get + " && go test ./..."
}

// writeStart writes the files, or none where one is there already, and says what comes next.
func writeStart(cmd *cobra.Command, dir string, files []startFile, next string) error {
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f.name)); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				err = fmt.Errorf("%s is there already", filepath.Join(dir, f.name))
			}
			return cli.BadInput(err)
		}
	}
	var wrote []string
	for _, f := range files {
		name := filepath.Join(dir, f.name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			wrote = append(wrote, name)
			err = os.WriteFile(name, []byte(f.text), 0o644)
		}
		if err != nil { // a full disk, say: half of the files are nothing to start from
			for _, name := range wrote {
				_ = os.Remove(name) // it was not there before
			}
			return cli.BadInput(err)
		}
	}
	for _, name := range wrote {
		fmt.Fprintln(cmd.OutOrStdout(), "wrote "+name)
	}
	fmt.Fprintln(cmd.OutOrStdout(), "next: "+next)
	return nil
}

const startScenario = scenarios.SchemaComment + `# What this scenario is for, in one or two sentences: reports print it.
name: my-rehearsal
labels: [mine]                              # words to select scenarios by
topology: {nodes: 3, podsPerNode: 4}        # node-1 to node-3
config:
  ipam:
    # system: contiv                        # or cilium, nodeipam, datastore: vppdrill describe settings config.ipam
    podSubnetCIDR: 10.1.0.0/16
    podSubnetOneNodePrefixLen: 24           # a /24 for each node
  wiring: {pod: macvlan, node: vxlan, mtu: 1450}
churn: {every: 2s, lifetime: 20s}           # pods that come and go by themselves
timeline:                                   # what happens, in this order: vppdrill describe actions
  - {at: 10s, do: restart-vpp, node: node-2}
  - {at: 20s, do: kill-agent, node: any, for: 5s}
  - {when: settled, do: add-node}
  # - {after: 30s, do: partition, between: [node-1, store], for: 20s}
faults: {dropReply: 0.01}                   # by chance, until the end of the timeline: vppdrill describe faults
# laws: [one-owner, reachable]              # all when absent: vppdrill describe laws
expect: {waiting: 0}                        # what else must be so at the end: no pod waits for an address
seeds: 3                                    # vppdrill run takes seeds 1 to 3
`

const startAgent = `# The configuration of vppdrill agent --config FILE: Contiv's file; vppdrill describe agent lists its keys.
TCPstackDisabled: true                      # has to be said: pods are not wired to VPP's own TCP stack
# UseTAPInterfaces: false                   # pods share one AF_PACKET interface by macvlans
MTUSize: 1450
IPAMConfig:
  podSubnetCIDR: 10.1.0.0/16
  podSubnetOneNodePrefixLen: 24
  nodeInterconnectCIDR: 192.168.16.0/24
  vxlanCIDR: 192.168.30.0/24
  vppHostSubnetCIDR: 172.30.0.0/16
  vppHostSubnetOneNodePrefixLen: 24
# NodeConfig:                               # what differs by node, the same file on all of them
#   - NodeName: node-1
#     gateway: 192.168.16.254
`
