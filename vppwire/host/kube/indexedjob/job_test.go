package indexedjob

import (
	"bytes"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"
)

// ended is a server on which a Job ends as soon as it is looked at, and whose pods wait for a reason.
func ended(how batchv1.JobConditionType, waiting string) *fake.Clientset {
	client := fake.NewClientset()
	client.PrependReactor("create", "jobs", func(a ktesting.Action) (bool, runtime.Object, error) {
		job := a.(ktesting.CreateAction).GetObject().(*batchv1.Job)
		if how != "" {
			job.Status.Conditions = []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue, Reason: "Because", Message: "so"}}
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "shard-0", Namespace: a.GetNamespace(), Labels: map[string]string{batchv1.JobNameLabel: job.Name}}}
		pod.Status.Phase = corev1.PodPending
		if waiting != "" {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: waiting, Message: "no such image"}}}}
		}
		return false, nil, client.Tracker().Add(pod)
	})
	return client
}

// Goal: Run returns when the Job is over, says why it failed, and leaves neither Job nor ConfigMap. Method: a fake
// server on which Jobs end in each way, and what stands there afterwards.
func TestRunEnds(t *testing.T) {
	for _, c := range []struct {
		how           batchv1.JobConditionType
		waiting, want string
	}{
		{batchv1.JobComplete, "", ""},
		{batchv1.JobFailed, "", "job lab/e failed: Because: so"},
		{"", "ErrImagePull", "pod shard-0: ErrImagePull: no such image"},
	} {
		client := ended(c.how, c.waiting)
		err := Run(t.Context(), client, Order{Name: "e", Namespace: "lab", Image: "i", Shards: 2, Task: []byte("task")}, func([]byte) {})
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s %s: %v, want %q", c.how, c.waiting, err, c.want)
		}
		made := false
		for _, a := range client.Actions() {
			made = made || a.Matches("create", "configmaps")
		}
		jobs, _ := client.BatchV1().Jobs("lab").List(t.Context(), metav1.ListOptions{})
		maps, _ := client.CoreV1().ConfigMaps("lab").List(t.Context(), metav1.ListOptions{})
		if !made || len(jobs.Items)+len(maps.Items) > 0 {
			t.Errorf("%s %s: a ConfigMap was made: %v; %d Jobs and %d ConfigMaps are left", c.how, c.waiting, made, len(jobs.Items), len(maps.Items))
		}
	}
	client := fake.NewClientset()
	err := Run(t.Context(), client, Order{Name: "e", Namespace: "lab", Task: make([]byte, TaskMost+1)}, nil)
	if err == nil || !strings.Contains(err.Error(), "give fewer points") || len(client.Actions()) > 0 {
		t.Errorf("a task that is too large: %v, %d requests", err, len(client.Actions()))
	}
}

// Goal: only whole lines are handed on. Method: a log that was cut off in its second line.
func TestLinesCut(t *testing.T) {
	var got []string
	f := &follower{line: func(text []byte) { got = append(got, string(text)) }}
	f.lines(bytes.NewReader([]byte("one\ntw")))
	if len(got) != 1 || got[0] != "one\n" {
		t.Errorf("%q", got)
	}
}
