package scenarios_test

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// actionLines holds at least one line of every verb, in the order of documentation.
var actionLines = []string{
	"create-pods",
	"create-pods count=5 node=node-1 app=web",
	"delete-pods count=3 node=any",
	"delete-pods all=true app=web",
	"delete-pods pod=default/web-0",
	"delete-pods count=2 node=node-1 force=true again=true",
	"create-pods count=2 node=node-1 static=true",
	"replace-sandbox node=node-2 count=2",
	"replace-sandbox pod=default/web-0",
	"lose-sandboxes node=any count=2 gone=true",
	"lose-sandboxes node=node-1 gone=true gc=never",
	"repeat-del node=all count=4",
	"check-pods node=node-1",
	"poll-status node=all",
	"gc node=node-1",
	"gc node=node-1 age=3s",
	"break-wiring what=vpp-route node=all count=2",
	"break-wiring what=namespace pod=default/web-0",
	"add-node",
	"add-node name=spare",
	"add-node count=3",
	"remove-node node=node-4",
	"remove-node node=node-4 finalizer=10m",
	"crash-node node=node-1 for=1m30s",
	"crash-disk node=any",
	"reboot-node node=node-1",
	"recreate-node node=node-1",
	"roll-nodes every=30s count=2",
	"cordon-node node=node-1",
	"uncordon-node node=all",
	"drain-node node=any",
	"kill-agent node=node-3 for=5s",
	"set-clock node=node-3 ahead=1h",
	"set-clock node=any back=1m30s",
	"restart-agent node=all",
	"kill-vpp node=node-3",
	"restart-vpp node=node-2",
	"restart-both node=all",
	"pause-agent node=node-1 for=20s",
	"pause-vpp node=all",
	"pause-kubelet node=node-1 for=2m",
	"kill-plugin node=node-1 command=ADD call=17",
	"kill-plugin node=any command=DEL call=3 alone=true",
	"kill-runtime node=node-1 for=5s",
	"fill-disk node=all",
	"lose-state node=node-2 what=results",
	"stop-store for=20s",
	"change-version node=all version=next every=5s",
	"compact-store",
	"wipe-store",
	"stop-api",
	"stale-watch node=node-1 for=1m",
	"gap-watch node=node-1",
	"duplicate-watch node=node-1 count=3",
	"change-cidr podSubnetCIDR=10.2.0.0/16 podSubnetOneNodePrefixLen=25 vppHostSubnetCIDR=172.31.0.0/16",
	"add-range cidr=10.1.128.0/20",
	"remove-range cidr=10.1.128.0/20",
	"restart-controller ranges=10.1.64.0/20,10.1.80.0/20 podSubnetOneNodePrefixLen=26",
	"lose-leader pause=40s",
	"set-pod-cidr node=node-1 podCIDR=10.9.0.0/24",
	"change-node-address node=node-1 address=192.168.16.77/24",
	"change-management node=node-1 addresses=10.0.0.1,10.0.0.2",
	"change-service name=dns app=dns clusterIP=10.96.0.11 protocol=udp port=53 nodePort=30053 sessionAffinity=3h externalTrafficPolicy=local",
	"change-service name=api hosts=all clusterIP=10.96.0.1 externalIP=20.20.20.20 targetPort=6443 internalTrafficPolicy=local",
	"remove-service service=dns",
	"set-ready app=web count=2",
	"set-ready app=web ready=true",
	"partition between=node-1,api oneWay=true for=20s",
	"claim-address node=node-2 for=20s",
	"unregister-node node=node-2 for=20s",
	"rename-node node=node-2 as=worker-2 leaves=2m",
	"slow-link between=node-1,store delay=200ms loss=0.1 duplicate=0.05",
	`inject fault="(Nth 1 (Request tap_create_v3 Mute))" for=10s`,
	"inject fault=Vanish node=node-1",
	"stop-dhcp for=3m",
	"change-policy name=closed pods=\"app=web\" directions=ingress,egress peers=\"app=shop,namespace:team=a,10.0.0.0/8-10.1.0.0/16\" ports=tcp:80,udp:8000-8080",
	"remove-policy policy=closed",
	"label-pods app=web count=2 labels=\"team=a,old=\"",
	"label-namespace labels=\"team=a\"",
	"settle",
	"heal",
}

// Goal: every action prints as one line that reads back as the same action. Method: a table that must hold every verb.
func TestActionLines(t *testing.T) {
	missing := map[string]bool{}
	for _, verb := range scenarios.Verbs() {
		missing[verb] = true
	}
	for _, line := range actionLines {
		a, err := scenarios.ParseAction(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if a.String() != line {
			t.Errorf("%s: prints as %s", line, a)
		}
		delete(missing, a.Verb())
	}
	for verb := range missing {
		t.Errorf("no line of %s", verb)
	}
}

// Goal: an action means the same as a line and as a timeline item. Method: each line goes through a scenario file.
func TestActionInTimeline(t *testing.T) {
	for _, line := range actionLines {
		a, err := scenarios.ParseAction(line)
		if err != nil {
			t.Fatal(err)
		}
		s := scenarios.Default()
		s.Name, s.Topology.Nodes = "x", 5
		switch a.(type) {
		case scenarios.AddRange, scenarios.RemoveRange, scenarios.RestartController, scenarios.LoseLeader:
			s.Config.IPAM.System = scenarios.NodeIPAM
			if remove, is := a.(scenarios.RemoveRange); is {
				s.Config.IPAM.Ranges = []netip.Prefix{remove.CIDR}
			}
		case scenarios.StopDHCP:
			s.Config.IPAM.NodeInterconnectDHCP = true
		case scenarios.ChangePolicy, scenarios.LabelPods, scenarios.LabelNamespace:
			s.Config.Wiring.Policies, s.Config.Wiring.Pod = scenarios.EnforcedByVPP, scenarios.PodVETH
		case scenarios.ChangeService:
			s.Config.Wiring.Services, s.Config.Wiring.Pod = scenarios.ServedByVPP, scenarios.PodTAP
		default:
			s.Config.IPAM.UseExternalIPAM = true
		}
		if a, ok := a.(scenarios.DeletePods); ok && a.App != "" {
			s.Workload = scenarios.Workload{Format: "pods/1", Rows: scenarios.Rows{{Name: "one", App: a.App}}}
		}
		s.Timeline = []scenarios.Step{{Action: a}}
		again, err := scenarios.Parse("x.yaml", s.Marshal())
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !reflect.DeepEqual(again.Timeline, s.Timeline) {
			t.Errorf("%s: the file says %v", line, again.Timeline)
		}
	}
}

// Goal: a wrong line names what is wrong and the nearest word. Method: a table.
func TestActionErrors(t *testing.T) {
	for line, want := range map[string]string{
		"":                                  `do: "" is not an action`,
		"restart-vp node=a":                 `do: "restart-vp" is not an action; did you mean "restart-vpp"?`,
		"restart-vpp":                       `restart-vpp.node: is missing`,
		"restart-vpp nod=a":                 `restart-vpp: unknown argument "nod"; did you mean "node"?`,
		"restart-vpp node=a node=b":         `restart-vpp.node: is given twice`,
		"restart-vpp node":                  `restart-vpp: "node" is not name=value`,
		"restart-vpp node=A":                `restart-vpp.node: "A" is not a node's name, all or any`,
		`restart-vpp node="a`:               `restart-vpp: the quotes of node do not close`,
		`inject fault="(a)"b`:               `inject: "b" follows the quotes of fault`,
		"kill-agent node=a for=-5s":         `kill-agent.for: "-5s" is negative`,
		"create-pods count=0":               `create-pods.count: 0 is less than 1`,
		"partition between=a":               `partition.between: "a" is not a list of 2`,
		"set-pod-cidr node=all podCIDR=a/8": `set-pod-cidr.node: "all" must be one node here`,
	} {
		_, err := scenarios.ParseAction(line)
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n have %v\n want %s", line, err, want)
		}
	}
}

// Goal: what ParseAction accepts, String writes so that it comes back equal, on one line.
func FuzzParseAction(f *testing.F) {
	for _, line := range actionLines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		a, err := scenarios.ParseAction(line)
		if err != nil {
			return
		}
		text := a.String()
		again, err := scenarios.ParseAction(text)
		if err != nil || !reflect.DeepEqual(again, a) || strings.Contains(text, "\n") {
			t.Fatalf("%q became %q, which reads as %v, %v", line, text, again, err)
		}
	})
}
