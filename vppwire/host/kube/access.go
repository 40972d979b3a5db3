package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	authv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrNotReady: the cluster lacks what this program needs of it, and somebody has to give it that.
var ErrNotReady = errors.New("the cluster is not ready for this program")

// mendManifests is what gives a cluster everything that agents and controllers need, mendReviews what everybody may do.
const (
	mendManifests  = "kubectl apply -k fixtures/kubernetes/base"
	mendCiliumNode = "kubectl apply -f fixtures/kubernetes/crd/ciliumnode.yaml"
	mendCalico     = "kubectl apply -f fixtures/kubernetes/calico/definitions.yaml"
	mendReviews    = "kubectl create clusterrolebinding system:basic-user --clusterrole=system:basic-user --group=system:authenticated"
)

// Need is what a program does with objects of one kind.
type Need struct {
	Group, Resource string
	// Version is set of custom resources that fixtures/kubernetes defines: the server must serve them in it.
	Version string
	// Kind and Fields are set of those that this program writes: what it writes, which the server must keep.
	Kind   string
	Fields []string
	// Mend has a server serve them with those fields; empty: the manifests.
	Mend string
	// Namespace is empty for all, or for objects that have none. Name is empty for any.
	Namespace, Name string
	Verbs           []string
}

// AgentUse is what of a cluster an agent uses beyond nodes, pods and node IDs.
type AgentUse struct {
	// PoolsNamespace and PoolsName are as in FactsConfig.
	PoolsNamespace, PoolsName string
	// Services, Policies, PoolNode, CiliumNode and NodeConfigs: it serves services, enforces network policies, asks for blocks in its
	// PoolNode, has addresses of its CiliumNode or of Calico's blocks, heeds NodeConfig resources.
	Services, Policies, PoolNode, CiliumNode, CalicoBlocks, NodeConfigs bool
}

// AgentNeeds are those of an agent. ClusterRole vppdrill-agent grants them.
func AgentNeeds(use AgentUse) []Need {
	podVerbs := []string{"list"}
	if use.Policies {
		podVerbs = append(podVerbs, "watch")
	}
	needs := []Need{
		{Resource: "nodes", Verbs: []string{"list", "watch"}},
		{Resource: "pods", Verbs: podVerbs},
		{Group: "networking.k8s.io", Resource: "networkpolicies", Verbs: []string{"list", "watch"}},
		{Group: Group, Version: RecordVersion, Resource: RecordResource, Kind: RecordKind, Fields: recordFields, Verbs: []string{"get", "list", "watch", "create", "update", "delete"}},
		{Resource: "events", Verbs: []string{"create", "patch"}},
	}
	switch {
	case use.PoolsNamespace != "":
		needs = append(needs, Need{Resource: "configmaps", Namespace: use.PoolsNamespace, Name: use.PoolsName, Verbs: []string{"list", "watch"}})
	case use.PoolsName != "":
		needs = append(needs, Need{Group: Group, Version: RecordVersion, Resource: IPAMConfigResource, Verbs: []string{"list", "watch"}})
	}
	if use.NodeConfigs {
		needs = append(needs, Need{Group: NodeConfigGroup, Version: NodeConfigVersion, Resource: NodeConfigResource, Verbs: []string{"list", "watch"}})
	}
	if use.Policies {
		needs = append(needs, Need{Resource: "namespaces", Verbs: []string{"list", "watch"}})
	}
	if use.Services {
		needs = append(needs, Need{Resource: "services", Verbs: []string{"list", "watch"}},
			Need{Group: "discovery.k8s.io", Resource: "endpointslices", Verbs: []string{"list", "watch"}})
	}
	if use.PoolNode {
		needs = append(needs, Need{Group: Group, Version: RecordVersion, Resource: PoolNodeResource, Kind: PoolNodeKind, Fields: poolFields, Verbs: []string{"list", "watch", "create", "update"}})
	}
	if use.CiliumNode {
		needs = append(needs, Need{Group: CiliumGroup, Version: CiliumVersion, Resource: CiliumNodeResource, Kind: CiliumNodeKind, Fields: addressFields, Mend: mendCiliumNode, Verbs: []string{"list", "watch", "create", "update"}},
			Need{Group: CiliumGroup, Resource: CiliumNodeResource + "/status", Verbs: []string{"update"}})
	}
	if use.CalicoBlocks {
		needs = append(append(needs, calicoNeeds()...), Need{Resource: "pods", Verbs: []string{"get"}}, Need{Resource: "namespaces", Verbs: []string{"get"}})
	}
	return needs
}

// calicoNeeds are those of who reads Calico's settings and writes its blocks, affinities and handles.
func calicoNeeds() []Need {
	verbs, beside := []string{"get", "list", "watch", "create", "update", "delete"}, []string{"get", "create", "update", "delete", "list"}
	return []Need{
		{Group: CalicoGroup, Version: CalicoVersion, Resource: IPPoolResource, Mend: mendCalico, Verbs: []string{"list", "watch"}},
		{Group: CalicoGroup, Version: CalicoVersion, Resource: CalicoConfigResource, Mend: mendCalico, Verbs: []string{"list", "watch"}},
		{Group: CalicoGroup, Version: CalicoVersion, Resource: IPAMBlockResource, Kind: IPAMBlockKind, Fields: blockFields, Mend: mendCalico, Verbs: verbs},
		{Group: CalicoGroup, Version: CalicoVersion, Resource: BlockAffinityResource, Kind: BlockAffinityKind, Fields: affinityFields, Mend: mendCalico, Verbs: beside},
		{Group: CalicoGroup, Version: CalicoVersion, Resource: IPAMHandleResource, Kind: IPAMHandleKind, Fields: handleFields, Mend: mendCalico, Verbs: beside},
	}
}

// CalicoControllerNeeds are those of a CalicoController with a lease in this namespace.
func CalicoControllerNeeds(leaseNamespace string) []Need {
	return append([]Need{
		{Resource: "nodes", Verbs: []string{"get", "list", "watch"}},
		{Group: "coordination.k8s.io", Resource: "leases", Namespace: leaseNamespace, Verbs: []string{"get", "create", "update"}},
		{Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"list"}},
	}, calicoNeeds()...)
}

// AddressOperatorNeeds are those of an Operator of single addresses, with both the lease and its AddressBook, if it has one, in this
// namespace.
func AddressOperatorNeeds(namespace string, book bool) []Need {
	needs := []Need{{Resource: "nodes", Verbs: []string{"get"}}}
	if book {
		needs = []Need{
			{Resource: "nodes", Verbs: []string{"list"}},
			{Resource: "configmaps", Namespace: namespace, Verbs: []string{"create"}},
			{Resource: "configmaps", Namespace: namespace, Name: AddressBookName, Verbs: []string{"get", "update"}},
		}
	}
	return append(needs, []Need{
		{Resource: "events", Verbs: []string{"create", "patch"}},
		{Group: "coordination.k8s.io", Resource: "leases", Namespace: namespace, Verbs: []string{"get", "create", "update"}},
		{Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"list"}},
		{Group: CiliumGroup, Version: CiliumVersion, Resource: CiliumNodeResource, Kind: CiliumNodeKind, Fields: addressFields, Mend: mendCiliumNode, Verbs: []string{"list", "watch", "update"}},
		{Group: CiliumGroup, Resource: CiliumNodeResource + "/status", Verbs: []string{"update"}},
	}...)
}

// ControllerNeeds are those of a node IPAM controller with a lease in this namespace.
func ControllerNeeds(leaseNamespace string) []Need {
	return []Need{
		{Resource: "nodes", Verbs: []string{"get", "list", "watch", "patch"}},
		{Resource: "nodes/status", Verbs: []string{"patch"}},
		{Group: "networking.k8s.io", Resource: "servicecidrs", Verbs: []string{"list", "watch"}},
		{Resource: "events", Verbs: []string{"create", "patch"}},
		{Group: "coordination.k8s.io", Resource: "leases", Namespace: leaseNamespace, Verbs: []string{"get", "create", "update"}},
		{Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"list"}},
	}
}

// OperatorNeeds are those of an Operator with a lease in this namespace, which answers PoolNodes or gives Node objects
// their pod CIDRs.
func OperatorNeeds(leaseNamespace string, requested bool) []Need {
	needs := []Need{
		{Group: Group, Version: RecordVersion, Resource: RecordResource, Kind: RecordKind, Fields: recordFields, Verbs: []string{"get", "list", "create", "update", "delete"}},
		{Resource: "events", Verbs: []string{"create", "patch"}},
		{Group: "coordination.k8s.io", Resource: "leases", Namespace: leaseNamespace, Verbs: []string{"get", "create", "update"}},
		{Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"list"}},
	}
	if requested {
		return append(needs, Need{Group: Group, Version: RecordVersion, Resource: PoolNodeResource, Kind: PoolNodeKind, Fields: poolFields, Verbs: []string{"list", "watch", "update"}})
	}
	return append(needs, Need{Resource: "nodes", Verbs: []string{"list", "watch", "patch"}})
}

// How often a server is asked whose answer may be another in a moment, and the pause between.
const (
	changeTries = 3
	changePause = time.Second
)

// Check asks the server whether this program may do what it needs, and has what it needs; ErrNotReady names the first
// thing that is missing and the command that mends it, ErrUnauthorized says that its credentials are refused, and what
// renews them. A server that does not answer is no error: a dataplane outlives it. mend is what gives the cluster and
// the account what is needed; empty: the manifests.
func (c *Connection) Check(ctx context.Context, needs []Need, mend string) (err error) {
	ctx, cancel := context.WithTimeout(logged(ctx, c.log), answerTime)
	defer cancel()
	for try := 1; ; try++ {
		if err = c.check(ctx, needs, cmp.Or(mend, mendManifests)); !mayChange(err) || try == changeTries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(changePause):
		}
	}
}

// KeepRights returns what Check says once the server has refused something and, so much later, a right is missing
// still; nil when ctx ends. A server that has just started forbids for a moment what it allows.
func (c *Connection) KeepRights(ctx context.Context, needs []Need, patience time.Duration) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.refusals.forbidden:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(patience):
		}
		if err := c.Check(ctx, needs, ""); errors.Is(err, ErrNotReady) && ctx.Err() == nil {
			return err
		}
	}
}

func (c *Connection) check(ctx context.Context, needs []Need, mend string) error {
	for _, n := range needs {
		if n.Version != "" {
			if err := c.served(ctx, n, cmp.Or(n.Mend, mend)); err != nil {
				return err
			}
		}
		if len(n.Fields) > 0 {
			if err := c.keeps(ctx, n); err != nil {
				return err
			}
		}
		for _, verb := range n.Verbs {
			allowed, err := c.may(ctx, n, verb)
			if statusCode(err) == http.StatusForbidden {
				return c.reviewsForbidden()
			}
			if err != nil {
				return c.silent(verb+" "+n.Resource, err)
			}
			if !allowed {
				return fmt.Errorf("%w: this program's account may not %s %s: %s", ErrNotReady, verb, n, mend)
			}
		}
	}
	return nil
}

// String names the objects as kubectl does.
func (n Need) String() string {
	s := n.Resource
	if n.Group != "" {
		s += "." + n.Group
	}
	if n.Name != "" {
		s += "/" + n.Name
	}
	if n.Namespace != "" {
		s += " in namespace " + n.Namespace
	}
	return s
}

func (c *Connection) may(ctx context.Context, n Need, verb string) (bool, error) {
	resource, sub, _ := strings.Cut(n.Resource, "/")
	review := &authv1.SelfSubjectAccessReview{Spec: authv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authv1.ResourceAttributes{
		Namespace: n.Namespace, Verb: verb, Group: n.Group, Resource: resource, Subresource: sub, Name: n.Name}}}
	done, err := c.client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return done.Status.Allowed, nil
}
