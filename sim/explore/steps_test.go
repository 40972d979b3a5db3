package explore_test

// step is what a planted fault does wrong, for a judge of chains that knows words alone.
type step struct {
	exhibit string
	// who is the program at fault, exact the words of a line that names the step, or that it is missing, and good those of
	// a line that names its next consequence or the input that it got wrong.
	who, exact, good string
}

// steps are the exhibits whose faulty step is one event of one program, or one that is missing.
var steps = []step{
	{"etcd-lost-ids", "alpha", `alpha's agent acts on node ID 1\b`, `record 1 in the store says that the ID is alpha's`},
	{"subnet-regenerated", "node-2", `record 1 in the store says that the ID is node-2's`, `node-2's agent allocates from 10\.1\.1\.0/24`},
	{"address-reused-at-once", "node-2", `node-2's agent gives 10\.1\.2\.4 to default/churn-3`, `takes 10\.1\.2\.4 back`},
	{"unreported-add-forgotten", "node-1", `node-1's agent is up; its journal holds 0 leases`, `has no address: left out`},
	{"id-released-on-close", "node-1", `record 1 in the store is deleted, which was node-1's`, `record 1 in the store says that the ID is alpha's`},
	{"last-id-out-of-range", "node-4", `node-4's agent allocates from 10\.1\.4\.0/24`, `10\.1\.4\.0/24`},
	{"custom-range-ignored", "node-2", `node-2.*192\.168\.16\.[02]`, `record 2 in the store`},
	{"failed-add-leaks", "node-1", `missing.* takes 10\.1\.1\.4 back from default/pod-1`, `ADD of default/pod-1 on node-1 fails: journal`},
	{"blocks-counted-twice", "controller-manager", `controller-manager-2: event node-4 .*the range is full`, `missing for node-4 .*controller-manager`},
	{"existing-not-occupied", "controller-manager-2", `node-4 is assigned 10\.1\.0\.0/24`, `node-1 is assigned 10\.1\.0\.0/24`},
	{"patch-never-retried", "controller-manager-1", `missing.*controller-manager.*(?:node-3|patch-node|get-node)`, `patch-node.* node-3 .*unavailable`},
	{"deleted-node-loop", "controller-manager-1", `patch-node node-3 .*repeated [0-9]+ times`, `patch-node .*node-3 .*not found`},
	{"released-and-requeued", "controller-manager-1", `node-4 is assigned 10\.1\.3\.0/24`, `node-5 is assigned 10\.1\.3\.0/24`},
	{"strange-node-stops-all", "controller-manager-2", `missing.*controller-manager.*(?:takes no step|node-3|patch-node)`, `CIDRQuarantined`},
	{"waiting-node-not-woken", "controller-manager-1", `missing.*controller-manager.*(?:node-5|patch-node)`, `the range is full|remove-node`},
	{"waits-for-resync", "controller-manager-1", `missing.*controller-manager.*(?:node-3|patch-node)`, `controller-manager-1 is notified: .*node-3`},
	{"one-node-at-a-time", "controller-manager-1", `patch-node.* node-2 .*which this run does at event|controller-manager-1 takes no step`, `controller-manager-1 tries again later`},
	{"recreated-node-swallowed", "controller-manager-1", `missing.*controller-manager.*(?:node-2|patch-node)`, `controller-manager-1 is notified: .*node-2`},
	{"two-controllers", "controller-manager-1", `node-5 is assigned 10\.1\.3\.0/24`, `node-4 is assigned 10\.1\.3\.0/24`},
	{"leases-forgotten", "node-1", `node-1's agent is up; its journal holds 0 leases`, `gives 10\.1\.1\.2 to default/pod-1`},
	{"repeated-del-frees-other", "node-1", `takes 10\.1\.0\.225 back from default/pod-6`, `gives 10\.1\.0\.225 to default/pod-9`},
	{"del-of-unknown-refused", "node-1", `answer.* code=3 "unknown pod"`, `repeat-del`},
	{"slow-add-expires", "node-1", `takes 10\.1\.0\.9 back from default/pod-1`, `gives 10\.1\.0\.9 to default/pod-2`},
	{"peers-removed-before-sync", "node-2", `node-2's agent takes away .*192\.168\.16\.1`, `lacks: the store has not answered`},
	{"failed-pick-leaks", "node-1", `ADD of default/node-1-pod-0 on node-1 fails: interface of the address`, `gives 10\.1\.0\.[78] to default/node-1-pod-0`},
	{"router-address-lost", "node-1", `node-1's agent gives 10\.1\.0\.1 to default/pod-1`, `restart-agent`},
	{"service-address-lost", "node-1", `node-1's agent gives 10\.1\.0\.14 to default/pod-1`, `restart-agent`},
	{"restore-gives-up", "node-1", `node-1's agent is up; its journal holds 0 leases`, `10\.1\.1\.0/24 \(draining\)`},
	{"used-and-released", "node-1", `node-1's agent allocates from 10\.1\.0\.6/32`, `gives 10\.1\.0\.6 `},
	{"deposed-leader-forgotten", "cilium-operator", `node-1 is assigned .*10\.1\.0\.64/28`, `node-2 is assigned .*10\.1\.0\.64/28`},
	{"extended-pool-forgets", "cilium-operator", `node-2 is assigned .*10\.1\.0\.0/28`, `add-range`},
	{"returned-before-restore", "node-1", `node-1 is assigned no block|the Node object has no pod CIDR`, `restart-agent`},
	{"no-demand-no-block", "node-1", `missing.*(?:resource-ask|asks the API server)`, `node-1's agent wants`},
	{"empty-list-frees-all", "node-2", `takes 10\.1\.0\.208 back from default/node-2-pod-0`, `gives 10\.1\.0\.208 to default/pod-41`},
	{"del-names-another-container", "node-1", `DEL of sandbox [0-9a-f]+|written no record about it`, `answers the DEL of default/node-1-pod-1`},
	{"checkpoint-buffered", "node-1", `node-1's agent is up; its journal holds 2 leases`, `relies on records 7`},
	{"unknown-taken-for-dead", "node-1", `takes 10\.1\.0\.226 back from default/node-1-pod-2`, `takes away .*10\.1\.0\.226`},
	{"del-after-restart-lost", "node-1", `missing.*default/node-1-pod-1|written no record about it`, `answers the DEL of default/node-1-pod-1`},
	{"cooling-too-short", "node-1", `gives 10\.1\.0\.16 to default/pod-17`, `takes 10\.1\.0\.16 back`},
	{"cooling-lost-on-restart", "node-1", `gives 10\.1\.0\.224 to default/pod-1\b`, `takes 10\.1\.0\.224 back`},
	{"last-endpoint-stays", "node-1", `missing.*nat44`, `nat44.*10\.96\.0\.10:80`},
	{"stale-endpoint-kept", "node-2", `missing.*(?:node-2.*nat44|nat44.*node-2)`, `nat44.*10\.20\.0\.3`},
	{"unready-endpoint-served", "node-1", `nat44.*10\.1\.2\.3:8080`, `set-ready`},
	{"node-port-missing-on-a-new-node", "node-3", `missing.*(?:node-3.*nat44|nat44.*node-3|30080)`, `add-node`},
	{"first-endpoint-missed", "node-2", `missing.*(?:node-2.*nat44|nat44.*node-2)`, `nat44.*10\.96\.0\.10`},
}
