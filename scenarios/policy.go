package scenarios

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Policy is a Kubernetes network policy of namespace default, of one rule for each direction that it is about. Several
// policies make several rules.
type Policy struct {
	Name string `yaml:"name" required:"true" pattern:"word" doc:"The policy's name."`
	// Pods select by labels. A pod has its application's name as its label app, and what label-pods gives it.
	Pods []Label `yaml:"pods" pattern:"item" doc:"Labels of the pods that it is for, such as app=web; all when absent."`
	// Directions that it is about: others stay as they are.
	Directions []Direction  `yaml:"directions" enum:"ingress,egress" doc:"Whether it is about what the pods get, what they send, or both; ingress when absent."`
	Peers      []PolicyPeer `yaml:"peers" pattern:"item" doc:"Who may be at the other end: all, labels of pods (app=web), labels of namespaces (namespace:team=a), and prefixes (10.0.0.0/8, with exceptions behind: 10.0.0.0/8-10.1.0.0/16); nobody when absent."`
	Ports      []PolicyPort `yaml:"ports" pattern:"item" doc:"Ports of the destination, such as tcp:80 and udp:8000-8080; all of every protocol when absent."`
}

// Label is KEY=VALUE.
type Label string

// Direction is what a policy is about.
type Direction string

// Directions.
const (
	Ingress Direction = "ingress"
	Egress  Direction = "egress"
)

// PolicyPeer is who may be at the other end.
type PolicyPeer string

// PolicyPort is a range of ports of a protocol.
type PolicyPort string

// Enforcing says who enforces network policies.
type Enforcing string

// Who enforces them: nobody, or VPP.
const (
	EnforcedByNobody Enforcing = "none"
	EnforcedByVPP    Enforcing = "vpp"
)

// ChangePolicy makes a network policy what it says, a new one where there is none of that name.
type ChangePolicy Policy

// RemovePolicy deletes a network policy.
type RemovePolicy struct {
	Policy string `yaml:"policy" required:"true" pattern:"word" doc:"The policy's name."`
}

// LabelPods gives pods labels beside their application's.
type LabelPods struct {
	App    string  `yaml:"app" required:"true" pattern:"word" doc:"Pods of this application."`
	Count  int     `yaml:"count" min:"0" max:"100000" doc:"How many of them; all when absent."`
	Labels []Label `yaml:"labels" pattern:"item" doc:"All their labels beside app from now on; none when absent."`
}

// LabelNamespace gives namespace default, which all pods are in, its labels.
type LabelNamespace struct {
	Labels []Label `yaml:"labels" pattern:"item" doc:"All its labels from now on; none when absent."`
}

func (ChangePolicy) Verb() string   { return "change-policy" }
func (RemovePolicy) Verb() string   { return "remove-policy" }
func (LabelPods) Verb() string      { return "label-pods" }
func (LabelNamespace) Verb() string { return "label-namespace" }

func (a ChangePolicy) String() string   { return actionLine(a) }
func (a RemovePolicy) String() string   { return actionLine(a) }
func (a LabelPods) String() string      { return actionLine(a) }
func (a LabelNamespace) String() string { return actionLine(a) }

// Is reports whether a policy is about a direction.
func (p *Policy) Is(d Direction) bool {
	if len(p.Directions) == 0 {
		return d == Ingress
	}
	return slices.Contains(p.Directions, d)
}

// Split is the label's key and value; false where it is none.
func (l Label) Split() (key, value string, ok bool) {
	key, value, ok = strings.Cut(string(l), "=")
	return key, value, ok && key != "" && !strings.ContainsAny(key, ",: ") && !strings.ContainsAny(value, ",: ")
}

// Selected is who a peer is: everybody, pods with a label, all pods of namespaces with one, or a block.
type Selected struct {
	All             bool
	Pods, Namespace Label
	Block           netip.Prefix
	Except          []netip.Prefix
}

// Read says who a peer is; false where that cannot be read.
func (p PolicyPeer) Read() (s Selected, ok bool) {
	text := string(p)
	if text == "all" {
		return Selected{All: true}, true
	}
	if label, is := strings.CutPrefix(text, "namespace:"); is {
		_, _, ok = Label(label).Split()
		return Selected{Namespace: Label(label)}, ok
	}
	if strings.Contains(text, "=") {
		_, _, ok = Label(text).Split()
		return Selected{Pods: Label(text)}, ok
	}
	for i, part := range strings.Split(text, "-") {
		b, err := netip.ParsePrefix(part)
		if err != nil || b != b.Masked() {
			return Selected{}, false
		}
		if i == 0 {
			s.Block = b
		} else {
			s.Except = append(s.Except, b)
		}
	}
	return s, true
}

// Read is the port's protocol with its first and last number; false where that cannot be read.
func (p PolicyPort) Read() (proto Protocol, first, last uint16, ok bool) {
	word, numbers, _ := strings.Cut(string(p), ":")
	from, to, ranged := strings.Cut(numbers, "-")
	if !ranged {
		to = from
	}
	a, err := strconv.ParseUint(from, 10, 16)
	b, err2 := strconv.ParseUint(to, 10, 16)
	proto = Protocol(word)
	return proto, uint16(a), uint16(b), (proto == TCP || proto == UDP) && err == nil && err2 == nil && 0 < a && a <= b
}

// problem says what is wrong with a policy by itself.
func (p Policy) problem() (field, message string) {
	for _, l := range p.Pods {
		if _, _, ok := l.Split(); !ok {
			return "pods", fmt.Sprintf("%q is not KEY=VALUE", l)
		}
	}
	for _, x := range p.Peers {
		if _, ok := x.Read(); !ok {
			return "peers", fmt.Sprintf("%q is neither all, KEY=VALUE, namespace:KEY=VALUE nor a prefix with its exceptions behind hyphens", x)
		}
	}
	for _, x := range p.Ports {
		if _, _, _, ok := x.Read(); !ok {
			return "ports", fmt.Sprintf("%q is not tcp or udp with a port or a range, as in tcp:80 or udp:8000-8080", x)
		}
	}
	return "", ""
}

func (a ChangePolicy) problem() (field, message string) { return Policy(a).problem() }
func (a LabelPods) problem() (field, message string) {
	for _, l := range a.Labels {
		if key, _, _ := l.Split(); key == "app" {
			return "labels", fmt.Sprintf("%q: a pod's label app is its application's name", l)
		}
	}
	return labelProblem(a.Labels)
}

func (a LabelNamespace) problem() (field, message string) { return labelProblem(a.Labels) }

func labelProblem(list []Label) (field, message string) {
	if _, message = (Policy{Pods: list}).problem(); message != "" {
		return "labels", message
	}
	return "", ""
}

// PolicyState is what policies depend on, as the API server has it, for laws.
type PolicyState struct {
	// Policies are in name order.
	Policies []Policy
	// Labels are all those of pods, app among them, by "namespace/name"; Namespace those of their namespace.
	Labels    map[string][]Label
	Namespace []Label
}

// checkPolicies: policies are listed where VPP enforces them, each once, and pods have interfaces of their own there.
func (s *Scenario) checkPolicies() *InputError {
	w := &s.Config.Wiring
	if len(s.Policies) > 0 && w.Policies != EnforcedByVPP {
		return s.wrongAt("policies", "need config.wiring.policies: vpp; nothing else here enforces them")
	}
	if w.Policies == EnforcedByVPP && w.Pod == PodMACVLAN {
		return s.wrongAt("config.wiring.policies", "vpp needs pods of veth or tap: those of macvlan share one interface of VPP")
	}
	for i, step := range s.Timeline {
		switch step.Action.(type) {
		case ChangePolicy, LabelPods, LabelNamespace:
			if w.Policies != EnforcedByVPP {
				return s.wrongAt(fmt.Sprintf("timeline[%d].do", i), "%s needs config.wiring.policies: vpp; nothing else here enforces policies", step.Action.Verb())
			}
		}
	}
	seen := map[string]bool{}
	for i, p := range s.Policies {
		path := fmt.Sprintf("policies[%d]", i)
		if seen[p.Name] {
			return s.wrongAt(path+".name", "%s is listed twice", p.Name)
		}
		seen[p.Name] = true
		if field, message := p.problem(); message != "" {
			return s.wrongAt(path+"."+field, "%s", message)
		}
	}
	return nil
}
