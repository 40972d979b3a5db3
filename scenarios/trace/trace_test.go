package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/trace"
)

// nodeList is a node list of openb with two nodes.
const nodeList = "sn,cpu_milli,memory_mib,gpu,model\nopenb-node-0000,32000,262144,0,\nopenb-node-0001,32000,262144,0,\n"

// Goal: a trace becomes a scenario file whose pods, peak and address plan are the trace's; a broken row is one line with
// its place, field and value. Method: story goldens. The rows are made up in the formats' own columns.
func TestImport(t *testing.T) {
	datadriven.Walk(t, "testdata/import", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var o trace.Options
			d.MaybeScanArgs(t, "nodes", &o.Nodes)
			d.MaybeScanArgs(t, "repeat", &o.Repeat)
			d.MaybeScanArgs(t, "name", &o.Name)
			var churn string
			if d.MaybeScanArgs(t, "churn", &churn); churn != "" {
				var err error
				if o.Churn, err = time.ParseDuration(churn); err != nil {
					d.Fatalf(t, "%v", err)
				}
			}
			s, err := importAs(d.Cmd, d.Input, nodeList, o)
			if err != nil {
				return err.Error() + "\n"
			}
			out := s.Marshal()
			again, err := scenarios.Parse("again.yaml", out)
			if err != nil || !again.Equal(s) {
				d.Fatalf(t, "the file reads as another scenario, %v:\n%s", err, out)
			}
			return string(out)
		})
	})
}

func importAs(format, rows, nodes string, o trace.Options) (*scenarios.Scenario, error) {
	switch format {
	case "dlrm":
		return trace.ImportDLRM(strings.NewReader(rows), "dlrm.csv", o)
	case "openb":
		return trace.ImportOpenB(strings.NewReader(rows), "pods.csv", strings.NewReader(nodes), "nodes.csv", o)
	case "kubernetes":
		k := trace.KubernetesOptions{Options: o, Anonymous: o.Name == "anonymous"}
		list, events, hasEvents := strings.Cut(rows, "-- events --\n")
		list, log, hasLog := strings.Cut(list, "-- audit log --\n")
		if hasLog {
			k.AuditLog, k.AuditLogName = strings.NewReader(log), "audit.log"
		}
		if hasEvents {
			k.Events, k.EventsName = strings.NewReader(events), "events.json"
		}
		return trace.ImportKubernetes(strings.NewReader(list), "cluster.json", k)
	case "openb-nodes":
		return trace.ImportOpenB(strings.NewReader("name\n"), "pods.csv", strings.NewReader(rows), "nodes.csv", o)
	}
	return nil, fmt.Errorf("unknown format %q", format)
}

// fuzz holds what every importer promises: no panic, errors of one line with a place, and a file that reads back.
func fuzz(t *testing.T, format, rows, nodes string) {
	s, err := importAs(format, rows, nodes, trace.Options{})
	if err != nil {
		var input *scenarios.InputError
		if !errors.As(err, &input) || input.File == "" || input.Line < 1 || input.Column < 1 || strings.Contains(err.Error(), "\n") {
			t.Fatalf("error without a place: %q", err)
		}
		return
	}
	again, err := scenarios.Parse("again.yaml", s.Marshal())
	if err != nil || !again.Equal(s) {
		t.Fatalf("the file reads as another scenario, %v:\n%s", err, s.Marshal())
	}
}

const dlrmHeader = "instance_sn,role,app_name,max_instance_per_node,creation_time,deletion_time\n"

func FuzzImportDLRM(f *testing.F) {
	f.Add(dlrmHeader + "instance_0,HN,app_0,8,,\ninstance_1,CN,app_0,-1,475.00000000000006,1e3\n")
	f.Add(dlrmHeader + "\"instance_0\",HN,app_0,8,5,4\n")
	f.Fuzz(func(t *testing.T, rows string) { fuzz(t, "dlrm", rows, "") })
}

func FuzzImportOpenB(f *testing.F) {
	f.Add("name,qos,creation_time,scheduled_time,deletion_time\nopenb-pod-0000,LS,0,0,12537496\n", nodeList)
	f.Add("name,qos,creation_time,scheduled_time,deletion_time\na,BE,0,,1\n", "sn\na\na\n")
	f.Fuzz(func(t *testing.T, pods, nodes string) { fuzz(t, "openb", pods, nodes) })
}

// twoNodes is a list of a cluster without pods.
const twoNodes = `{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "a"}, "spec": {"podCIDR": "10.244.0.0/24"}},
{"kind": "Node", "metadata": {"name": "b"}, "spec": {"podCIDR": "10.244.1.0/24"}}]}
`

func FuzzImportKubernetes(f *testing.F) {
	f.Add(twoNodes + "-- audit log --\n" + `{"kind":"Event","stage":"ResponseComplete","verb":"create","objectRef":{"resource":"pods","namespace":"s","name":"w"},"responseStatus":{"code":201},"requestReceivedTimestamp":"2026-11-20T10:00:00.5Z"}
{"kind":"Event","stage":"ResponseComplete","verb":"delete","objectRef":{"resource":"pods","namespace":"s","name":"w"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-11-20T10:05:00Z"}
`)
	f.Add(twoNodes + "-- events --\n" + `{"kind":"EventList","items":[{"metadata":{"name":"e"},"reason":"Scheduled","involvedObject":{"kind":"Pod","namespace":"s","name":"w"},"firstTimestamp":"2026-11-20T10:00:00Z"},
{"metadata":{"name":"f"},"reason":"Killing","regarding":{"kind":"Pod","namespace":"s","name":"w"},"eventTime":"2026-11-20T10:00:09.123456Z","series":{"lastObservedTime":"2026-11-20T10:01:00Z"}}]}`)
	f.Fuzz(func(t *testing.T, text string) { fuzz(t, "kubernetes", text, "") })
}

// Goal: learnt lives are those of the trace, also where most ends were not seen. Method: pods that live one to a hundred minutes, watched
// for a hundred and for thirty: the first of the quantiles agree, and the rest are longer than what was watched.
func TestLearntLives(t *testing.T) {
	learn := func(watched int) []time.Duration {
		var rows strings.Builder
		rows.WriteString(dlrmHeader)
		for i := range 100 {
			end := strconv.Itoa(1 + (i+1)*60)
			if i >= watched {
				end = ""
			}
			fmt.Fprintf(&rows, "i%d,HN,a,-1,1,%s\n", i, end)
		}
		fmt.Fprintf(&rows, "last,HN,a,-1,%d,%d\n", watched*60+1, watched*60+1)
		s, err := importAs("dlrm", rows.String(), "", trace.Options{Churn: 1000 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if every := time.Duration(watched*60+1) * time.Second / 101; s.Churn.Every != every || len(s.Workload.Rows) != 0 {
			t.Errorf("%s, want %s; %d rows", s.Churn.Every, every, len(s.Workload.Rows))
		}
		return s.Churn.Lifetimes
	}
	whole, part := learn(100), learn(30)
	for i, life := range whole {
		if want := time.Duration(i*5+2) * time.Minute; life < want-2*time.Minute || life > want+2*time.Minute {
			t.Errorf("quantile %d is %s, want about %s", i, life, want)
		}
		switch {
		case i < 6 && part[i] != life:
			t.Errorf("quantile %d is %s of all and %s of a part", i, life, part[i])
		case i >= 6 && part[i] != time.Hour:
			t.Errorf("quantile %d is %s, beyond what was seen", i, part[i])
		}
	}
}

// Goal: a generated plan gives every node a different place for any size of cluster that can be asked for. Method: sizes
// from one to the largest; Validate, called by the importer, checks the plan.
func TestPlans(t *testing.T) {
	for _, nodes := range []int{1, 2, 253, 254, 255, 300, 1000, 1523, 5000} {
		for _, pods := range []int{1, 1000, 60_000} {
			var rows strings.Builder
			rows.WriteString(dlrmHeader)
			for i := range pods {
				rows.WriteString("i" + strconv.Itoa(i) + ",HN,a,-1,,\n")
			}
			s, err := importAs("dlrm", rows.String(), "", trace.Options{Nodes: nodes})
			if pods/nodes > 20_000 {
				if err == nil {
					t.Errorf("%d pods on %d nodes have a plan", pods, nodes)
				}
				continue
			}
			if err != nil {
				t.Errorf("%d pods on %d nodes: %v", pods, nodes, err)
				continue
			}
			plan, err := s.Config.IPAM.Plan()
			if err != nil {
				t.Fatal(err)
			}
			if limit := plan.MaxNodeID(); int(limit) < 4*nodes {
				t.Errorf("%d nodes: IDs end at %d", nodes, limit)
			}
			if room := 1<<(32-plan.PodSubnetOneNodePrefixLen) - 4; room < s.Topology.MaxPodsPerNode || room*nodes < 3*pods {
				t.Errorf("%d pods on %d nodes: room for %d on each", pods, nodes, room)
			}
		}
	}
}

// BenchmarkImportDLRM is a month of a real cluster: 24,000 instances.
func BenchmarkImportDLRM(b *testing.B) {
	var rows bytes.Buffer
	rows.WriteString(dlrmHeader)
	for i := range 24_000 {
		fmt.Fprintf(&rows, "instance_%d,HN,app_%d,8,%d.00000000000006,%d.0\n", i, i%156, i*100, i*100+90_000)
	}
	b.SetBytes(int64(rows.Len()))
	for b.Loop() {
		if _, err := trace.ImportDLRM(bytes.NewReader(rows.Bytes()), "dlrm.csv", trace.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Goal: a gzipped audit log is read like a plain one. Method: the same log both ways.
func TestZippedAuditLog(t *testing.T) {
	const cluster = `{"kind": "Node", "metadata": {"name": "a"}, "spec": {"podCIDR": "10.244.0.0/24"}}`
	const log = `{"kind": "Event", "stage": "ResponseComplete", "verb": "create", "objectRef": {"resource": "pods", "subresource": "binding", "namespace": "ci", "name": "b"}, "requestReceivedTimestamp": "2026-01-01T10:00:00Z"}
{"kind": "Event", "stage": "ResponseComplete", "verb": "delete", "objectRef": {"resource": "pods", "namespace": "ci", "name": "b"}, "requestReceivedTimestamp": "2026-01-01T10:01:00Z"}
`
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(log)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	read := func(r io.Reader) string {
		s, err := trace.ImportKubernetes(strings.NewReader(cluster), "cluster.json", trace.KubernetesOptions{AuditLog: r, AuditLogName: "audit.log"})
		if err != nil {
			t.Fatal(err)
		}
		return string(s.Marshal())
	}
	if plain, packed := read(strings.NewReader(log)), read(&zipped); plain != packed || !strings.Contains(plain, "ci-b") {
		t.Errorf("%s\nand zipped\n%s", plain, packed)
	}
	_, err := trace.ImportKubernetes(strings.NewReader(cluster), "cluster.json", trace.KubernetesOptions{AuditLog: strings.NewReader("\x1f\x8bnot"), AuditLogName: "audit.log"})
	if err == nil || !strings.HasPrefix(err.Error(), "audit.log:1:1: not gzip") {
		t.Error(err)
	}
}

// Goal: what a cluster shows of its families, pools and blocks is in the scenario, and a made-up range is said to be one.
// Method: clusters of public reports; each scenario is valid.
func TestShownRanges(t *testing.T) {
	for name, want := range map[string]struct {
		system scenarios.System
		pods   string
		note   string
	}{
		"trace-import-ipv6-only":  {scenarios.NodeIPAM, "fd00:10:244::/62", "The range fd00:10:244::/62 is the shortest"},
		"trace-import-dual-stack": {scenarios.NodeIPAM, "10.244.0.0/22,fd00:10:244::/118", "instead of its own of /64"},
		"calico-used-and-free":    {scenarios.Calico, "10.60.0.0/16", "its blocks are of /26"},
		"antrea-ippool":           {scenarios.NodeIPAM, "10.80.0.0/24", "are made up"},
	} {
		text, err := os.ReadFile("testdata/field/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		s, err := trace.ImportKubernetes(bytes.NewReader(text), name, trace.KubernetesOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c := s.Config.IPAM
		if c.System != want.system || c.PodSubnetCIDR.String() != want.pods || !strings.Contains(strings.Join(s.Notes, "\n"), want.note) {
			t.Errorf("%s: %s, %s, %q", name, c.System, c.PodSubnetCIDR, s.Notes)
		}
	}
}

// Goal: a cluster whose ranges lie where the model has the hosts' network is imported without that network, and says so. Method: pod CIDRs
// within it and beside it.
func TestRangesOverHosts(t *testing.T) {
	for cidr, hosts := range map[string]int{"10.20.3.0/24": 0, "10.30.3.0/24": 1} {
		text := `{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "w-a"}, "spec": {"podCIDR": "` + cidr + `"}}`
		s, err := trace.ImportKubernetes(strings.NewReader(text), "x", trace.KubernetesOptions{})
		if err != nil {
			t.Errorf("%s: %v", cidr, err)
			continue
		}
		if said := strings.Contains(strings.Join(s.Notes, "\n"), "overlaps the hosts' network 10.20.0.0/16"); s.Topology.HostIPs != hosts || said != (hosts == 0) {
			t.Errorf("%s: %d addresses of hosts, %q", cidr, s.Topology.HostIPs, s.Notes)
		}
	}
}

// Goal: a cluster in several files is the same as in one, and of an object that comes twice the last one counts. Method: one list beside its
// halves, with an older state of a pod in the first.
func TestImportFiles(t *testing.T) {
	const node = `{"kind": "Node", "metadata": {"name": "w-1"}, "spec": {"podCIDR": "10.244.1.0/24"}, "status": {"allocatable": {"pods": "110"}}}`
	pod := func(address string) string {
		return `{"kind": "Pod", "metadata": {"namespace": "shop", "name": "cart", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"nodeName": "w-1"}, "status": {"podIP": "` + address + `", "phase": "Running"}}`
	}
	list := func(items ...string) io.Reader {
		return strings.NewReader(`{"kind": "List", "items": [` + strings.Join(items, ", ") + `]}`)
	}
	whole, err := trace.ImportKubernetes(list(node, pod("10.244.1.7")), "cluster.json", trace.KubernetesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := trace.ImportKubernetes(list(pod("10.244.1.6")), "cluster.json", trace.KubernetesOptions{
		More: []trace.Input{{Name: "nodes.json", Text: list(node)}, {Name: "pods.json", Text: list(pod("10.244.1.7"))}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(parts.Marshal()), string(whole.Marshal()); got != want {
		t.Errorf("in parts:\n%s\nas a whole:\n%s", got, want)
	}
	if len(parts.Workload.Rows) != 1 {
		t.Errorf("%d pods, want the one", len(parts.Workload.Rows))
	}
}
