package conformance

import (
	"context"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// rollPause is between two calls while a DaemonSet rolls.
const rollPause = 100 * time.Millisecond

// roll restarts the pods of the DaemonSet that may be restarted, as kubectl rollout restart does, and has pods that run
// call each other until all of them are others. It ends with the DaemonSet as it was.
func (r *run) roll(ctx context.Context, round int, pods []v1.Pod) error {
	namespace, name, named := strings.Cut(r.Roll, "/")
	if !named || len(pods) < 2 {
		return nil
	}
	r.Say("restarting " + r.Roll)
	sets := r.Connection.Client().AppsV1().DaemonSets(namespace)
	patch := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":%q}}}}}`, time.Now().UTC().Format(time.RFC3339Nano))
	asked, err := sets.Patch(ctx, name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("restart DaemonSet %s: %w", r.Roll, err)
	}
	limit := time.Now().Add(r.Wait)
	for i := 0; ; i++ {
		set, err := sets.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("look at DaemonSet %s: %w", r.Roll, err)
		}
		s := set.Status
		over := s.ObservedGeneration >= asked.Generation && s.UpdatedNumberScheduled >= s.DesiredNumberScheduled && s.NumberUnavailable == 0
		from, to := pods[i%len(pods)], pods[(i+1+i/len(pods))%len(pods)]
		if from.Name != to.Name && !r.silent[to.Status.PodIP] {
			if err := r.all(ctx, round, LawRoll, []call{{from, to.Status.PodIP, port, to.Name, to.Spec.NodeName}}); err != nil {
				return err
			}
		}
		switch {
		case over && i >= len(pods):
			return nil
		case time.Now().After(limit):
			r.broken(LawRoll, round, "DaemonSet %s has not rolled within %s: %d of %d nodes", r.Roll, r.Wait, s.UpdatedNumberScheduled, s.DesiredNumberScheduled)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rollPause):
		}
	}
}
