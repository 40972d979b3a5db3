package reports

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// hostile is a name that tries to leave every format it is put into.
const hostile = `"><script>alert(1)</script><!-- ]]> ${x} {{.}} ' & ` + "\x1b[31m\x00"

// sample is a report with one run of every kind that a reader can meet.
func sample() Report {
	laws := []result.LawResult{
		{Name: "one-owner", Rule: "No two pods hold the same address at the same time.", Why: "Two pods with one address steal each other's packets.", Status: result.HeldStatus, Checks: 18240, Occasions: 18240},
		{Name: "add-not-forgotten", Why: "An address that was told and then forgotten is given to somebody else.", Status: result.HeldStatus, Checks: 912, Occasions: 912},
		{Name: "reachable", Why: "A pod that cannot be reached is down, whatever its status says.", Status: result.HeldStatus, Checks: 4400, Occasions: 9100},
		{Name: "books-agree", Why: "What nobody wants any more fills tables until VPP refuses.", Status: result.HeldStatus, Checks: 64, Occasions: 80},
		{Name: "address-rests", Why: "A neighbor still knows the pod that had the address.", Status: result.HeldStatus},
	}
	broken := append([]result.LawResult(nil), laws...)
	broken[0].Status, broken[0].Violations = result.BrokenStatus, 2
	pass := result.Result{
		Scenario: "churn-with-vpp-restart", Goal: "Pods come and go while one VPP restarts; nobody may notice but the pods on that node.",
		File: "scenarios/catalog/vpp/churn_with_vpp_restart.yaml", Labels: []string{"vpp", "restart", "churn"}, World: "sim", Seed: 1, Verdict: result.Pass,
		Digest: "3f2a9c1d77aa01b2c3d4e5f60718293a", Events: 128400, VirtualSeconds: 3600, WallSeconds: 0.412, PeakRSSBytes: 87 << 20,
		Laws: laws, Nodes: 5, Pods: 48, Replay: "vppdrill run scenarios/catalog/vpp/churn_with_vpp_restart.yaml --seed 1",
		Summary:  result.Summary{Adds: 1480, Dels: 1432, VPPCalls: 21860, LinuxCalls: 10021, StoreOps: 140, JournalBytes: 361000, Faults: 31, PeakPods: 55, Reused: 1201, ShortestReuseSeconds: 9.75},
		Timeline: sampleMarks(5), Addresses: sampleAddresses(2, 24, 3600, 9),
	}
	fail := result.Result{
		Scenario: "cidr-change-under-load", Goal: "The pod subnet changes while pods are being created. Live leases stay valid, new pods come from the new subnet, and no address is ever held twice.",
		File: "scenarios/catalog/cidr/change_under_load.yaml", Labels: []string{"cidr"}, World: "sim", Seed: 4711, Verdict: result.Fail,
		Error:  "one-owner on node-2 at 1m12.5s: 10.1.2.7 is held by default/web-3 and by default/db-0",
		Digest: "a81c22fe90aa01b2c3d4e5f60718293a", Events: 51377, VirtualSeconds: 120, WallSeconds: 0.151, PeakRSSBytes: 61 << 20,
		Laws: broken, Nodes: 4, Pods: 40, Replay: "vppdrill run scenarios/catalog/cidr/change_under_load.yaml --seed 4711",
		Summary: result.Summary{Adds: 212, Dels: 180, VPPCalls: 3021, LinuxCalls: 1499, StoreOps: 88, JournalBytes: 51200, Faults: 9, PeakPods: 61,
			PodsWaited: 7, LongestWaitSeconds: 12.4, TotalWaitSeconds: 41, PodsNeverPlaced: 1, PodsRefused: 1, Reused: 33, ShortestReuseSeconds: 0.5,
			Exhausted: []result.RanOut{{Node: "node-2", AtSeconds: 61.5, PodsWaited: 5, WaitSeconds: 33}, {Node: "node-3", AtSeconds: 64, PodsWaited: 2, WaitSeconds: 8}}},
		Failure: &result.Failure{Law: "one-owner", What: "10.1.2.7 is held by default/web-3 and by default/db-0.", Node: "node-2", AtSeconds: 72.5, Event: 31244,
			Line:   "1m12.5s node-2 agent answer pod-add default/db-0 10.1.2.7",
			Before: "block 10.1.2.0/24 draining\n10.1.2.5 default/web-1\n10.1.2.7 default/web-3",
			After:  "block 10.1.2.0/24 draining\n10.1.2.5 default/web-1\n10.1.2.7 default/db-0\n10.1.2.7 default/web-3",
			Tail:   sampleTail()},
		Timeline: sampleMarks(4), Addresses: append(sampleAddresses(4, 60, 120, 3),
			result.Held{Node: "node-2", Addr: "10.1.2.7", Pod: "default/web-3", FromSeconds: 55, UntilSeconds: 96},
			result.Held{Node: "node-2", Addr: "10.1.2.7", Pod: "default/db-0", FromSeconds: 72.5, UntilSeconds: -1}),
	}
	unsupported := result.Result{
		Scenario: "node-loses-power", Goal: "A machine goes dark.", World: "netns", Seed: 1, Verdict: result.Error,
		Error: "power-off node=node-2: unsupported in this world", Digest: "", Events: 12, VirtualSeconds: 3, WallSeconds: 0.02,
		Laws: []result.LawResult{{Name: "one-owner", Why: laws[0].Why, Status: result.NotJudgedStatus, Missing: []fact.Evidence{fact.Leases, fact.Rests}}}, Nodes: 2, Replay: "vppdrill run power.yaml --world netns --seed 1", Unsupported: []string{"power-off", "partition"},
	}
	nasty := pass
	nasty.Scenario, nasty.Goal, nasty.File, nasty.Labels = "evil-"+hostile, hostile, hostile, []string{hostile}
	nasty.Verdict, nasty.Error, nasty.Seed, nasty.Replay, nasty.World = result.Fail, hostile, 18446744073709551615, "vppdrill run '"+hostile+"'", "sim"
	nasty.Laws = []result.LawResult{{Name: "law-" + hostile, Why: hostile, Status: result.BrokenStatus, Checks: 1, Occasions: 1, Violations: 1}}
	nasty.Failure = &result.Failure{Law: "law-" + hostile, What: hostile, Node: hostile, AtSeconds: 1, Event: 1, Line: hostile, Before: hostile, After: hostile + "x", Tail: []string{hostile}}
	nasty.Timeline = []result.Mark{{AtSeconds: 1, EndSeconds: 2, Kind: "fault", Node: hostile, Text: hostile}, {AtSeconds: 1, EndSeconds: 1, Kind: "action", Node: "n", Text: hostile}}
	nasty.Addresses = []result.Held{{Node: hostile, Addr: hostile, Pod: hostile, FromSeconds: 0, UntilSeconds: -1}}
	return Report{
		Version: "v0.1.0",
		Environment: Environment{Command: "vppdrill run --catalog --out out", Started: "2026-01-02T03:04:05Z", Go: "go1.26.8", Platform: "linux/amd64",
			CPUs: 2, GOMAXPROCS: 2, WallSeconds: 1.4},
		Scenarios: []result.Result{pass, fail, unsupported, nasty},
	}
}

func sampleMarks(nodes int) []result.Mark {
	marks := []result.Mark{
		{AtSeconds: 10, EndSeconds: 10, Kind: "action", Node: "node-2", Text: "restart-vpp node=node-2"},
		{AtSeconds: 15, EndSeconds: 20, Kind: "fault", Node: "node-3", Text: "kill-agent node=node-3 for=5s"},
		{AtSeconds: 17, EndSeconds: 42, Kind: "fault", Node: "node-3", Text: "drop-reply probability=0.01"},
		{AtSeconds: 30, EndSeconds: 30, Kind: "action", Node: "", Text: "change-cidr podSubnetCIDR=10.2.0.0/16"},
		{AtSeconds: 35, EndSeconds: 55, Kind: "fault", Node: "node-1", Text: "partition between=node-1,api for=20s"},
		{AtSeconds: 58, EndSeconds: 58, Kind: "action", Node: "node-4", Text: "remove-node node=node-4"},
		{AtSeconds: 60, EndSeconds: 60, Kind: "action", Node: "node-2", Text: "scale pods=12"},
		{AtSeconds: 110, EndSeconds: 110, Kind: "settled", Text: "quiet after 8s"},
	}
	return marks[:min(len(marks), nodes*2+1)]
}

// sampleAddresses is a made-up history: every address changes hands a few times, at times that differ from row to row.
func sampleAddresses(nodes, addrs int, until float64, turns int) []result.Held {
	var held []result.Held
	for n := 1; n <= nodes; n++ {
		for a := 2; a < addrs+2; a++ {
			at := float64((a*7+n*13)%29) / 60 * until
			for i := 0; i < 1+(a+n)%turns && at < until*0.97; i++ {
				end := at + until*(0.04+float64((a*11+i*17+n)%23)/90)
				if end >= until {
					end = -1
				}
				held = append(held, result.Held{Node: fmt.Sprintf("node-%d", n), Addr: fmt.Sprintf("10.1.%d.%d", n, a),
					Pod: fmt.Sprintf("default/web-%d", (a*5+i)%37), FromSeconds: at, UntilSeconds: end})
				if end < 0 {
					break
				}
				at = end + until*0.015
			}
		}
	}
	return held
}

func sampleTail() []string {
	var tail []string
	for i := range 14 {
		at := time.Duration(72_100+i*30) * time.Millisecond
		tail = append(tail, fmt.Sprintf("%s node-2 vpp call ip_route_add_del table=1 prefix=10.1.2.%d/32 -> ok", at, i+3))
	}
	return append(tail, "1m12.5s node-2 agent answer pod-add default/db-0 10.1.2.7")
}
