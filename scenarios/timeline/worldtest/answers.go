package worldtest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Scenario is the cluster that the examples are for.
const Scenario = `# Every action of the language, one after the other.
name: every-action
topology: {nodes: 3, podsPerNode: 2}
`

// examples have each verb once. Whatever lasts ends by itself.
var examples = map[string]string{
	"create-pods":     "create-pods count=2",
	"delete-pods":     "delete-pods count=1",
	"replace-sandbox": "replace-sandbox node=any",
	"lose-sandboxes":  "lose-sandboxes node=node-1",
	"repeat-del":      "repeat-del node=all count=2",
	"check-pods":      "check-pods node=all",
	"gc":              "gc node=all age=1s",
	"poll-status":     "poll-status node=all",
	"break-wiring":    "break-wiring what=route node=node-1",

	"kill-plugin":  "kill-plugin node=node-1 command=ADD call=5",
	"kill-runtime": "kill-runtime node=node-1 for=2s",
	"fill-disk":    "fill-disk node=node-2 for=2s",
	"lose-state":   "lose-state node=node-3 what=results",

	"add-node":        "add-node name=node-9",
	"remove-node":     "remove-node node=node-9",
	"unregister-node": "unregister-node node=node-1 for=2s",
	"rename-node":     "rename-node node=node-3 as=node-8",
	"crash-node":      "crash-node node=node-2 for=2s",
	"crash-disk":      "crash-disk node=node-2",
	"reboot-node":     "reboot-node node=node-1",
	"recreate-node":   "recreate-node node=node-2",
	"roll-nodes":      "roll-nodes every=1s count=2",
	"claim-address":   "claim-address node=node-2 for=2s",
	"cordon-node":     "cordon-node node=node-1",
	"uncordon-node":   "uncordon-node node=node-1",
	"drain-node":      "drain-node node=node-2",

	"kill-agent":     "kill-agent node=node-1 for=2s",
	"restart-agent":  "restart-agent node=all",
	"kill-vpp":       "kill-vpp node=node-2 for=2s",
	"restart-vpp":    "restart-vpp node=node-2",
	"restart-both":   "restart-both node=any",
	"pause-agent":    "pause-agent node=node-1 for=2s",
	"pause-vpp":      "pause-vpp node=node-2 for=2s",
	"pause-kubelet":  "pause-kubelet node=node-1 for=2s",
	"set-clock":      "set-clock node=node-1 ahead=1h",
	"change-version": "change-version node=all version=next every=2s",

	"stop-store":      "stop-store for=2s",
	"stop-dhcp":       "stop-dhcp for=2s",
	"compact-store":   "compact-store",
	"wipe-store":      "wipe-store",
	"stop-api":        "stop-api for=2s",
	"stale-watch":     "stale-watch node=node-1 for=2s",
	"gap-watch":       "gap-watch node=node-2",
	"duplicate-watch": "duplicate-watch node=node-2 count=2",

	"change-cidr":         "change-cidr podSubnetCIDR=10.2.0.0/16",
	"add-range":           "add-range cidr=10.2.64.0/18",
	"remove-range":        "remove-range cidr=10.2.64.0/18",
	"lose-leader":         "lose-leader",
	"restart-controller":  "restart-controller",
	"set-pod-cidr":        "set-pod-cidr node=node-1 podCIDR=10.2.9.0/24",
	"change-node-address": "change-node-address node=node-1 address=192.168.16.77/24",
	"change-management":   "change-management node=node-2 addresses=10.20.9.9",

	"change-service": "change-service name=web app=per-node clusterIP=10.96.0.10",
	"remove-service": "remove-service service=web",
	"set-ready":      "set-ready app=per-node ready=true",

	"change-policy":   "change-policy name=closed pods=app=per-node peers=app=per-node",
	"remove-policy":   "remove-policy policy=closed",
	"label-pods":      "label-pods app=per-node labels=team=a",
	"label-namespace": "label-namespace labels=team=a",

	"partition": "partition between=node-1,store for=2s",
	"slow-link": "slow-link between=node-2,api delay=100ms for=2s",
	"inject":    `inject fault="(Nth 1 (Request tap_create_v3 Mute))" for=2s`,
}

// rest is how long each action has before the cluster must become quiet, limit how long it may take.
const (
	rest  = 4 * time.Second
	limit = 5 * time.Minute
)

// Timeline is every action once, in the order of documentation, but for those that result.Run does.
func Timeline(t *testing.T) []scenarios.Step {
	t.Helper()
	for _, verb := range slices.Sorted(maps.Keys(examples)) {
		if !slices.Contains(scenarios.Verbs(), verb) {
			t.Errorf("%s is no verb", verb)
		}
	}
	var steps []scenarios.Step
	for _, verb := range scenarios.Verbs() {
		if verb == (scenarios.Settle{}).Verb() || verb == (scenarios.Heal{}).Verb() {
			continue
		}
		a, err := scenarios.ParseAction(examples[verb])
		if err != nil {
			t.Errorf("%s has no example: %v", verb, err)
			continue
		}
		steps = append(steps, scenarios.Step{Action: a})
	}
	return steps
}

// World is one that knows beforehand what it cannot do, and why.
type World interface {
	result.World
	result.Supporter
	result.Refuser
}

// Answers lets w, made of Scenario, do every action and returns the verbs that it refuses.
func Answers(t *testing.T, w World) (refused []string) {
	t.Helper()
	ctx := context.Background()
	for _, step := range Timeline(t) {
		a := step.Action
		if err := w.Settle(ctx, limit); err != nil {
			t.Fatalf("before %s: %v", a, err)
		}
		err, why := w.Do(ctx, a), w.Refusal(a)
		switch {
		case w.Supports(a) != (why == ""):
			t.Errorf("%s: supported %t, refused because %q", a, w.Supports(a), why)
		case why == "" && err != nil:
			t.Errorf("%s: %v", a, err)
		case why != "" && (!errors.Is(err, result.ErrUnsupported) || !strings.Contains(err.Error(), why)):
			t.Errorf("%s is refused with %v, want the reason %q", a, err, why)
		case why != "":
			refused = append(refused, a.Verb())
		}
		if err := w.Advance(ctx, w.Now()+rest); err != nil {
			t.Fatalf("after %s: %v", a, err)
		}
	}
	if err := errors.Join(w.Heal(ctx), w.Settle(ctx, limit)); err != nil {
		t.Error(err)
	}
	return refused
}
