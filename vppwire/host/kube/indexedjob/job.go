package indexedjob

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Order is what to run where.
type Order struct {
	// Name is the Job's and the ConfigMap's, Namespace where both are.
	Name, Namespace string
	// Image holds the program as /usr/bin/vppdrill. Args are its arguments; TaskFile is where it finds Task.
	Image string
	Args  []string
	Task  []byte
	// Shards are the Job's indexes, all at a time; JOB_COMPLETION_INDEX tells a pod its own, from 0 on.
	Shards int
}

// TaskFile is where a pod finds its task.
const TaskFile = "/task/task.gz"

// TaskMost is how large a task may be, in bytes: a ConfigMap holds 1 MiB, names and all.
const TaskMost = 1000 << 10

const (
	lookEvery = time.Second
	// deaths is how often the pod of one index may die: nodes drain, and somebody may be trying just that.
	deaths = 20
	// deleteTime bounds the cleaning up behind an interrupt.
	deleteTime = 20 * time.Second
	// lineMost is the longest line that a pod may print.
	lineMost = 16 << 20
)

// Run makes the Job, hands each line that its pods print to line, one at a time, and returns when the Job is over.
func Run(ctx context.Context, client kubernetes.Interface, o Order, line func(text []byte)) (err error) {
	if len(o.Task) > TaskMost {
		return fmt.Errorf("the task has %d bytes, and a ConfigMap takes %d: give fewer points, or a scenario with fewer pods", len(o.Task), TaskMost)
	}
	defer func() {
		again, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTime)
		defer cancel()
		err = errors.Join(err, remove(again, client, o))
	}()
	if err := remove(ctx, client, o); err != nil { // of one that was killed
		return err
	}
	if _, err := client.CoreV1().ConfigMaps(o.Namespace).Create(ctx, o.configMap(), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create ConfigMap %s/%s: %w", o.Namespace, o.Name, err)
	}
	if _, err := client.BatchV1().Jobs(o.Namespace).Create(ctx, o.job(), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create Job %s/%s: %w", o.Namespace, o.Name, err)
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	f := &follower{client: client, order: o, line: line, seen: map[string]bool{}}
	defer func() {
		if err != nil {
			stop() // else logs are read to their ends
		}
		f.wait.Wait()
	}()
	for {
		if err := f.look(following); err != nil {
			return err
		}
		job, err := client.BatchV1().Jobs(o.Namespace).Get(ctx, o.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("look at Job %s/%s: %w", o.Namespace, o.Name, err)
		}
		for _, c := range job.Status.Conditions {
			switch {
			case c.Status != corev1.ConditionTrue:
			case c.Type == batchv1.JobComplete:
				return nil
			case c.Type == batchv1.JobFailed:
				return fmt.Errorf("job %s/%s failed: %s: %s", o.Namespace, o.Name, c.Reason, c.Message)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

func (o Order) configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: o.Name}, BinaryData: map[string][]byte{"task.gz": o.Task}}
}

func (o Order) job() *batchv1.Job {
	indexed, shards, most, grace := batchv1.IndexedCompletion, int32(o.Shards), int32(deaths), int64(1)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: o.Name},
		Spec: batchv1.JobSpec{
			CompletionMode: &indexed, Completions: &shards, Parallelism: &shards, BackoffLimitPerIndex: &most,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: &grace,
				Containers: []corev1.Container{{
					Name: "shard", Image: o.Image, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"/usr/bin/vppdrill"}, Args: o.Args,
					VolumeMounts: []corev1.VolumeMount{{Name: "task", MountPath: "/task", ReadOnly: true}},
				}},
				Volumes: []corev1.Volume{{Name: "task", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: o.Name}}}}},
			}},
		},
	}
}

// remove deletes what Run makes, and waits until the Job is gone.
func remove(ctx context.Context, client kubernetes.Interface, o Order) error {
	behind := metav1.DeletePropagationForeground
	err := client.BatchV1().Jobs(o.Namespace).Delete(ctx, o.Name, metav1.DeleteOptions{PropagationPolicy: &behind})
	for err == nil {
		if _, err = client.BatchV1().Jobs(o.Namespace).Get(ctx, o.Name, metav1.GetOptions{}); err == nil {
			select {
			case <-ctx.Done():
				return fmt.Errorf("job %s/%s is still being deleted: %w", o.Namespace, o.Name, ctx.Err())
			case <-time.After(lookEvery):
			}
		}
	}
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete Job %s/%s: %w", o.Namespace, o.Name, err)
	}
	if err := client.CoreV1().ConfigMaps(o.Namespace).Delete(ctx, o.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete ConfigMap %s/%s: %w", o.Namespace, o.Name, err)
	}
	return nil
}

// follower reads the logs of a Job's pods while they run.
type follower struct {
	client kubernetes.Interface
	order  Order
	seen   map[string]bool
	wait   sync.WaitGroup

	mu   sync.Mutex
	line func([]byte)
}

// look starts reading the logs of pods that have some.
func (f *follower) look(ctx context.Context) error {
	pods, err := f.client.CoreV1().Pods(f.order.Namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + f.order.Name})
	if err != nil {
		return fmt.Errorf("list the pods of Job %s/%s: %w", f.order.Namespace, f.order.Name, err)
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		for _, c := range p.Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil && (w.Reason == "ErrImageNeverPull" || w.Reason == "InvalidImageName" || w.Reason == "ErrImagePull" || w.Reason == "ImagePullBackOff") {
				return fmt.Errorf("pod %s: %s: %s", p.Name, w.Reason, w.Message)
			}
		}
		if p.Status.Phase == corev1.PodPending || f.seen[p.Name] {
			continue
		}
		f.seen[p.Name] = true
		f.wait.Go(func() { f.read(ctx, p.Name) })
	}
	return nil
}

// read hands a pod's lines on until it ends. What is lost with a pod that is killed is missing, and whoever counts the
// lines sees it.
func (f *follower) read(ctx context.Context, pod string) {
	logs, err := f.client.CoreV1().Pods(f.order.Namespace).GetLogs(pod, &corev1.PodLogOptions{Follow: true}).Stream(ctx)
	if err != nil {
		return
	}
	defer func() { _ = logs.Close() }() // it was read to its end, or nobody wants the rest
	f.lines(logs)
}

// lines hands on what has an end: a line that was cut off is nobody's.
func (f *follower) lines(r io.Reader) {
	in := bufio.NewReaderSize(r, 1<<16)
	for {
		text, err := in.ReadBytes('\n')
		if err != nil || len(text) > lineMost {
			return
		}
		f.mu.Lock()
		f.line(text)
		f.mu.Unlock()
	}
}
