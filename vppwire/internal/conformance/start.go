package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// ErrImage: the image that pods were to run is not to be had, or does not run. Nothing about the cluster's network
// follows of that.
var ErrImage = errors.New("the image does not run there")

// pullReasons and runReasons are those with which kubelets tell of a container that has its network and does not run for
// what its image is: what pulling says (k8s.io/kubernetes/pkg/kubelet/images/types.go), and what starting says
// (pkg/kubelet/kuberuntime/kuberuntime_container.go). No other try mends a finalReason.
var (
	pullReasons  = []string{"ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"}
	runReasons   = []string{"CrashLoopBackOff", "CreateContainerError", "CreateContainerConfigError", "RunContainerError", "StartError", "ContainerCannotRun", "Error", "Completed"}
	finalReasons = []string{"InvalidImageName", "ErrImageNeverPull"}
)

// How long an image may be the reason before a run ends for it. A kubelet pulls again 10 s after the first try
// (images.NewImageManager's back-off), and starts again at once and after 10 s. A program that listens says so within
// a second. None of them is more than a quarter of Wait.
const (
	pullPatience  = 15 * time.Second
	runPatience   = 5 * time.Second
	quietPatience = 5 * time.Second
)

// listens is what agnhost's log has once it listens (netexec.go, startServer).
const listens = "HTTP server"

// patienceWith is how long a reason may last before a run ends for it; false: it is none of an image.
func patienceWith(reason string) (time.Duration, bool) {
	switch {
	case slices.Contains(finalReasons, reason):
		return 0, true
	case slices.Contains(pullReasons, reason):
		return pullPatience, true
	case slices.Contains(runReasons, reason):
		return runPatience, true
	}
	return 0, false
}

// images watches whether pods are not ready because of their image.
type images struct {
	// since is when a pod was first seen with an image as its reason, running when it was first seen running and not
	// ready.
	since, running map[string]time.Time
	// serves: a log has shown that the image is the right one, or logs cannot be read.
	serves bool
}

// unfit is an error if the pods that wait do so for their image, as soon as that is certain.
func (r *run) unfit(ctx context.Context, waiting []*v1.Pod) error {
	now := time.Now()
	for _, p := range waiting {
		reason, message := blocked(p)
		if patience, image := patienceWith(reason); image {
			since, seen := r.images.since[p.Name]
			if !seen {
				since = now
				r.images.since[p.Name] = now
				r.Say(fmt.Sprintf("pod %s on %s: %s%s", p.Name, p.Spec.NodeName, reason, message))
			}
			if now.Sub(since) >= min(patience, r.Wait/4) {
				return imageError(p, reason+message)
			}
		}
		if err := r.quiet(ctx, p, now, min(quietPatience, r.Wait/4)); err != nil {
			return err
		}
	}
	return nil
}

// quiet is an error if the pod's program has run for that long and is not the one that answers: its log comes by another
// way than the network which is judged.
func (r *run) quiet(ctx context.Context, p *v1.Pod, now time.Time, patience time.Duration) error {
	if r.images.serves || p.Status.Phase != v1.PodRunning || len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Running == nil {
		return nil
	}
	since, seen := r.images.running[p.Name]
	if !seen {
		r.images.running[p.Name], since = now, now
	}
	if now.Sub(since) < patience {
		return nil
	}
	bytes := int64(1 << 14)
	text, err := r.client().Pods(r.Namespace).GetLogs(p.Name, &v1.PodLogOptions{LimitBytes: &bytes}).DoRaw(ctx)
	if err != nil || strings.Contains(string(text), listens) {
		r.images.serves = true // or it cannot be known
		return nil
	}
	return imageError(p, "its program runs, and its log does not say that it serves as agnhost's does")
}

func imageError(p *v1.Pod, why string) error {
	return fmt.Errorf("%w: pod %s on %s: %s: name by --image one of the nodes' architecture that has agnhost as its entry point, and that they can pull", ErrImage, p.Name, p.Spec.NodeName, why)
}

// late judges the pods of a round that are not ready in time, of all. Where one has its network and no program to run,
// the run cannot go on.
func (r *run) late(ctx context.Context, round, all int, waiting []*v1.Pod) (err error) {
	for _, p := range waiting {
		if err := r.quiet(ctx, p, time.Now(), 0); err != nil {
			return err
		}
	}
	r.Occasions[LawStart] += all
	for _, p := range waiting {
		reason, message := blocked(p)
		where := p.Name + " on " + p.Spec.NodeName
		_, image := patienceWith(reason)
		switch {
		case image:
			r.Occasions[LawStart]-- // it is no occasion
			if err == nil {
				err = imageError(p, reason+message)
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
