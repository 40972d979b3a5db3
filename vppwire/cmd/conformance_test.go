package cmd

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/internal/conformance"
)

// Goal: files are judged by the laws that files can show, each other one is told as not judged, a report is made of it,
// and what goes only with pods is refused before anything is read. Method: files as kubectl prints them, and what is
// handed to who writes reports.
func TestConformanceFiles(t *testing.T) {
	dir := t.TempDir()
	put, good, more := kubectlFiles(t, dir)
	leak := put("leak.json", `{"kind":"CiliumNode","metadata":{"name":"n"},"spec":{"ipam":{"podCIDRs":["10.0.0.0/24"]}},"status":{"ipam":{"used":{"10.0.0.5":{"owner":"d/a"},"10.0.0.9":{"owner":"d/gone"}}}}}`)
	little := put("little.json", `{"kind":"Service","metadata":{"namespace":"d","name":"s"},"spec":{"clusterIP":"10.96.0.1"}}`)
	bad := put("bad.json", "[]")
	for _, test := range []struct {
		args   []string
		code   int
		text   string
		broken []string // laws of the report; nil: there is none
	}{
		{[]string{good}, 0, "held  duplicate-address    1 occasion\n", []string{}},
		{[]string{good}, 0, "\nnot judged, as files show no pods at work: pods-start, pods-reach-pods, ", []string{}},
		{[]string{good, more}, 1, "1 of 6 laws broken: duplicate-address, 13 not judged; 1 node, 0 rounds: files show no more\n\nbroken duplicate-address, 1 time: Packets for one of two pods go to the other.\n  10.0.0.5: pods d/a on n and d/b on n have it\n", []string{audit.LawDuplicate}},
		{[]string{good, more, "--format", "json"}, 1, `"law": "duplicate-address"`, []string{audit.LawDuplicate}},
		{[]string{good, leak}, 1, "  10.0.0.9: CiliumNode n has it for pod d/gone, which does not run\n", []string{audit.LawLeak}},
		{[]string{little}, 2, "neither pods with addresses nor nodes with ranges in it", nil},
		{[]string{bad}, 2, "conformance: " + bad + ":1: want Kubernetes objects as JSON", nil},
		{[]string{dir + "/none"}, 2, "conformance: stat", nil},
		{[]string{good, "--rounds", "5"}, 2, "--rounds is for clusters in which pods are made", nil},
		{[]string{dir + "/none", "--kubeconfig", good}, 2, "--kubeconfig is for clusters in which pods are made", nil},
		{nil, 2, "--kubeconfig FILE is needed", nil},
	} {
		var saved *Judgement
		root := &cobra.Command{Use: "vppdrill", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(conformanceCommand(func(_ string, j Judgement) error { saved = &j; return nil }))
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs(slices.Concat([]string{"conformance", "--out", filepath.Join(dir, "out")}, test.args))
		code, line := cli.Code(root.ExecuteContext(context.Background()))
		if code != test.code || !strings.Contains(out.String()+line, test.text) || strings.Contains(line, "\n") || code == 2 && out.Len() > 0 {
			t.Errorf("%q: %d %q %q", test.args, code, out.String(), line)
		}
		var broken []string
		if saved != nil {
			broken = []string{}
			for _, l := range saved.Laws {
				if l.Why == "" {
					t.Errorf("law %s: a report would not say what breaks with it", l.Name)
				}
				if len(l.Broken) > 0 {
					broken = append(broken, l.Name)
				}
			}
			if len(saved.Laws) != len(conformance.Laws())+len(audit.Laws()) || strings.Contains(saved.Goal, "rounds") {
				t.Errorf("%q: %+v", test.args, saved)
			}
		}
		if (broken == nil) != (test.broken == nil) || !slices.Equal(broken, test.broken) {
			t.Errorf("%q: the report has broken laws %q", test.args, broken)
		}
	}
}
