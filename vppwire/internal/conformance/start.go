package conformance

import (
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// ErrImage: the image that pods were to run is not to be had, or does not run. Nothing about the cluster's network
// follows of that.
var ErrImage = errors.New("the image does not run there")

// imageReasons are those with which kubelets tell of a container that has its network and does not run for what its
// image is: what pulling says (k8s.io/kubernetes/pkg/kubelet/images/types.go), and what starting says
// (pkg/kubelet/kuberuntime/kuberuntime_container.go).
var imageReasons = []string{"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed",
	"CrashLoopBackOff", "CreateContainerError", "CreateContainerConfigError", "RunContainerError", "StartError", "ContainerCannotRun", "Error"}

// late judges the pods of a round that are not ready in time, of all. Where one has its network and no program to run,
// the run cannot go on.
func (r *run) late(round, all int, waiting []*v1.Pod) (err error) {
	r.Occasions[LawStart] += all
	for _, p := range waiting {
		reason, message := blocked(p)
		where := p.Name + " on " + p.Spec.NodeName
		switch {
		case slices.Contains(imageReasons, reason):
			r.Occasions[LawStart]-- // it is no occasion
			if err == nil {
				err = fmt.Errorf("%w: pod %s: %s%s: name by --image one of the nodes' architecture that has agnhost as its entry point, and that they can pull", ErrImage, where, reason, message)
			}
		case reason == "":
			r.broken(LawStart, round, "pod %s is not ready within %s", where, r.Wait)
		default:
			r.broken(LawStart, round, "pod %s is not ready within %s: %s%s", where, r.Wait, reason, message)
		}
	}
	return err
}

// blocked says why a pod's container does not run, as its kubelet says it, or why it has no node. The message begins
// with a colon, or is empty.
func blocked(p *v1.Pod) (reason, message string) {
	tell := func(reason, message string) (string, string) {
		if message != "" {
			message = ": " + message
		}
		return reason, message
	}
	for _, c := range p.Status.ContainerStatuses {
		switch {
		case c.State.Waiting != nil:
			return tell(c.State.Waiting.Reason, c.State.Waiting.Message)
		case c.State.Terminated != nil:
			return tell(c.State.Terminated.Reason, c.State.Terminated.Message)
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse {
			return tell(c.Reason, c.Message)
		}
	}
	return tell(p.Status.Reason, p.Status.Message) // a node's own refusal
}
