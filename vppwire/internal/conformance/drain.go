package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// drain takes one node out of service and back: it is cordoned, the run's own pods on it are evicted and must be gone,
// those of other nodes go on calling each other, and after the node is back new pods start there and are reached. Pods
// of others are left where they are.
func (r *run) drain(ctx context.Context, round int, pods []v1.Pod) (err error) {
	if !r.Drain || len(pods) == 0 {
		return nil
	}
	node := pods[r.draw.IntN(len(pods))].Spec.NodeName
	r.Say("draining " + node + " of this run's pods")
	var leaving, staying []v1.Pod
	for _, p := range pods {
		if p.Spec.NodeName == node {
			leaving = append(leaving, p)
		} else {
			staying = append(staying, p)
		}
	}
	if err := r.cordon(ctx, node, true); err != nil {
		return err
	}
	defer func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
		defer cancel()
		err = errors.Join(err, r.cordon(limited, node, false))
	}()
	limit := time.Now().Add(r.Wait)
	for _, p := range leaving {
		if err := r.evict(ctx, p.Name, limit); err != nil {
			return err
		}
	}
	if err := r.left(ctx, round, leaving, limit); err != nil {
		return err
	}
	if err := r.all(ctx, round, LawDrain, ring(staying)); err != nil {
		return err
	}
	report, err := r.Audit(ctx) // of the evicted no record may stay
	if err != nil {
		return err
	}
	r.judge(round, report)
	if err := r.cordon(ctx, node, false); err != nil {
		return err
	}
	for i := range leaving {
		p := workload(fmt.Sprintf("r%d-d%d-%s", round, i, short(node)), node, r.Image)
		if _, err := r.client().Pods(r.Namespace).Create(ctx, p, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("make pod %s: %w", p.Name, err)
		}
	}
	now, err := r.started(ctx, round)
	if err != nil {
		return err
	}
	return r.all(ctx, round, LawDrain, ring(now))
}

// ring has each pod call the next one.
func ring(pods []v1.Pod) (calls []call) {
	for i, from := range pods {
		if to := pods[(i+1)%len(pods)]; to.Name != from.Name {
			calls = append(calls, call{from, to.Status.PodIP, port, to.Name, to.Spec.NodeName})
		}
	}
	return calls
}

// cordon lets a node take no pods, or take them again.
func (r *run) cordon(ctx context.Context, node string, off bool) error {
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, off)
	if _, err := r.client().Nodes().Patch(ctx, node, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("kubectl %s %s: %w", map[bool]string{true: "cordon", false: "uncordon"}[off], node, err)
	}
	return nil
}

// evictPause is between tries while a disruption budget forbids an eviction.
const evictPause = time.Second

func (r *run) evict(ctx context.Context, pod string, limit time.Time) error {
	for {
		err := r.client().Pods(r.Namespace).EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: r.Namespace}})
		switch {
		case err == nil, apierrors.IsNotFound(err):
			return nil
		case !apierrors.IsTooManyRequests(err) || time.Now().After(limit):
			return fmt.Errorf("evict pod %s: %w", pod, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(evictPause):
		}
	}
}

// left waits until evicted pods are gone.
func (r *run) left(ctx context.Context, round int, pods []v1.Pod, limit time.Time) error {
	for _, p := range pods {
		r.Occasions[LawDrain]++
		for {
			_, err := r.client().Pods(r.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				break
			}
			if err != nil {
				return fmt.Errorf("look at pod %s: %w", p.Name, err)
			}
			if time.Now().After(limit) {
				r.broken(LawDrain, round, "pod %s is still on %s %s after its eviction", p.Name, p.Spec.NodeName, r.Wait)
				break
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
	return nil
}
