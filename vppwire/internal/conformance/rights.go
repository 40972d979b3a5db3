package conformance

import (
	"context"
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// mendRights is what lets an account do what a run does.
const mendRights = "kubectl create clusterrolebinding vppdrill-conformance --clusterrole=cluster-admin --user=USER by somebody who may; kubectl auth whoami by this kubeconfig says who USER is"

// needs are what a run does beyond its namespace: nothing is made before all of it is allowed.
func (o Options) needs() []kube.Need {
	needs := []kube.Need{
		{Resource: "nodes", Verbs: []string{"list"}},
		{Resource: "pods", Verbs: []string{"list"}},
		{Resource: "services", Verbs: []string{"list"}},
		{Resource: "namespaces", Verbs: []string{"create", "delete"}},
	}
	if namespace, name, named := strings.Cut(o.Roll, "/"); named {
		needs = append(needs, kube.Need{Group: "apps", Resource: "daemonsets", Namespace: namespace, Name: name, Verbs: []string{"get", "patch"}})
	}
	if o.Drain {
		needs = append(needs, kube.Need{Resource: "nodes", Verbs: []string{"patch"}})
	}
	return needs
}

// needsIn are what a run does in its own namespace. Where who makes a namespace becomes its owner, that is not known
// before.
func (o Options) needsIn(namespace string) []kube.Need {
	needs := []kube.Need{
		{Resource: "services", Namespace: namespace, Verbs: []string{"create", "get"}},
		{Resource: "serviceaccounts", Namespace: namespace, Verbs: []string{"get"}},
		{Resource: "pods", Namespace: namespace, Verbs: []string{"create", "get", "list", "deletecollection"}},
		{Resource: "pods/proxy", Namespace: namespace, Verbs: []string{"get"}},
	}
	if o.Drain {
		needs = append(needs, kube.Need{Resource: "pods/eviction", Namespace: namespace, Verbs: []string{"create"}})
	}
	return needs
}

func (r *run) allowed(ctx context.Context, needs []kube.Need) error {
	return r.Connection.Check(ctx, needs, mendRights)
}

// keptOut reports whether the API server itself has let a request go no further: what could not be asked of a pod is
// not the network's fault.
func keptOut(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && (status.Status().Code == http.StatusUnauthorized || status.Status().Code == http.StatusForbidden)
}
