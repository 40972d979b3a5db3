package kube

import (
	"context"
	"fmt"
	"net/netip"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// want is what a pod asks for by its runtime, its annotations, and those and the labels of its namespace, as Calico's
// plugin reads them for each ADD. A pod that the API server does not know asks for what its runtime says. The error is
// for the pod's kubelet, which tries again.
func (h *CalicoHost) want(ctx context.Context, s agent.Sandbox, wanted []netip.Addr) (calico.Want, error) {
	var pod, namespace, labels map[string]string
	if s.PodName != "" && s.PodNamespace != "" {
		ctx, cancel := context.WithTimeout(ctx, h.cfg.RequestTimeout)
		defer cancel()
		core := h.cfg.Client.CoreV1()
		p, err := core.Pods(s.PodNamespace).Get(ctx, s.PodName, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return calico.Want{}, fmt.Errorf("what pod %s/%s asks for is not known: %w", s.PodNamespace, s.PodName, err)
		default:
			pod = p.Annotations
		}
		n, err := core.Namespaces().Get(ctx, s.PodNamespace, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return calico.Want{}, fmt.Errorf("what namespace %s asks for is not known: %w", s.PodNamespace, err)
		default:
			namespace, labels = n.Annotations, n.Labels
		}
	}
	return calico.WantOf(pod, namespace, labels, wanted), nil
}
