package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says what a Finding means for an installation.
type Severity string

// Severities. Error: something that the configuration asks for cannot work. Warning: it works, and will hurt later.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one thing that is wrong with a configuration.
type Finding struct {
	// Name is the rule's.
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	// Where is the configuration's key, with its value where there is one.
	Where string `json:"where"`
	// What is wrong, and what to Do, a sentence each without a full stop.
	What string `json:"what"`
	Do   string `json:"do"`
}

// String is one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s %s: %s: %s; %s", f.Severity, f.Name, f.Where, f.What, f.Do)
}

// Rule is one rule of the lint.
type Rule struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Names of the rules.
const (
	ruleRefused     = "refused"
	ruleIgnored     = "ignored"
	ruleSplit       = "split"
	ruleFamilies    = "families"
	ruleOverlap     = "overlap"
	ruleService     = "service-range"
	ruleServiceSize = "service-size"
	ruleHost        = "host-network"
	ruleSpecial     = "special-range"
	rulePublic      = "public-range"
	ruleGateway     = "gateway"
	ruleSubnet      = "subnet-size"
	ruleSize        = "cluster-size"
	rulePods        = "node-size"
	ruleMaxPods     = "max-pods"
	ruleZones       = "zones"
	ruleGrowth      = "growth"
	ruleReuse       = "reuse-room"
	ruleStranded    = "stranded"
	rulePodIf       = "pod-interfaces"
	ruleExternal    = "external-ipam"
	ruleWarmIdle    = "warm-idle"
	ruleWarmNothing = "warm-nothing"
	ruleWarmCalls   = "warm-calls"
	ruleWarmShort   = "warm-short"
	rulePieces      = "prefix-pieces"
)

var rules = []Rule{
	{ruleRefused, "the system itself refuses the configuration"},
	{ruleIgnored, "a key has no effect beside another one"},
	{ruleSplit, "a prefix length for one node does not split its range into usable blocks"},
	{ruleFamilies, "ranges that have to be of one address family are not"},
	{ruleOverlap, "two ranges share addresses, so two things can get the same one"},
	{ruleService, "the service range and another one share addresses, so a service hides a pod or a node"},
	{ruleServiceSize, "the service range is larger or smaller than the API server takes, or has no room for the cluster's DNS"},
	{ruleHost, "a range shares addresses with a network that the hosts are attached to, so one of the two cannot be reached"},
	{ruleSpecial, "a range lies in addresses that hosts do not forward"},
	{rulePublic, "a range lies in addresses of the internet, which pods then cannot reach"},
	{ruleGateway, "the default gateway is no address that nodes can use"},
	{ruleSubnet, "EC2 has no subnets of this size"},
	{ruleSize, "more nodes are expected than fit"},
	{rulePods, "more pods are expected on a node than it can have addresses for"},
	{ruleMaxPods, "the kubelet starts more pods on a node than it can have addresses for, or fewer than are expected"},
	{ruleZones, "subnets of several zones end at different numbers of nodes, and nodes are spread evenly"},
	{ruleGrowth, "the cluster cannot grow as much as expected"},
	{ruleReuse, "a full node has so few spare addresses that a released one is used again at once"},
	{ruleStranded, "a range has many times the room that the shortest one lets the cluster use"},
	{rulePodIf, "the range of pod interfaces is smaller than a block, so some pods have no interface address"},
	{ruleExternal, "pod ranges come from Node objects, so what is planned here does not decide them"},
	{ruleWarmIdle, "nodes keep more addresses ready than their pods use"},
	{ruleWarmNothing, "nothing is kept ready, so each pod that finds no address waits for EC2"},
	{ruleWarmCalls, "the targets make nodes ask EC2 again and again for what they will need anyway"},
	{ruleWarmShort, "there is too little to keep as many addresses ready as the targets say"},
	{rulePieces, "single addresses in a subnet break up what could be prefixes"},
}

// Rules are the lint's rules in their order.
func Rules() []Rule { return slices.Clone(rules) }

// sortFindings brings errors before warnings, each in the order of rules; equal ones stay as they were found.
func sortFindings(list []Finding) {
	rank := func(f Finding) int {
		i := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == f.Name })
		if i < 0 {
			panic("plan: no rule is called " + f.Name)
		}
		return i
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(rank(a), rank(b)))
	})
}
