package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/net"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// port is where workloads listen; appLabel chooses them.
const (
	port     = 8080
	appLabel = "vppdrill-conformance"
)

func (r *run) client() typedv1.CoreV1Interface { return r.Connection.Client().CoreV1() }

// workload is a pod that answers with its name, and calls others when asked. It goes where others must not: networks
// are everywhere.
func workload(name, node, image string) *v1.Pod {
	now := int64(0)
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": appLabel}}, Spec: v1.PodSpec{
		NodeName: node, TerminationGracePeriodSeconds: &now, AutomountServiceAccountToken: new(bool),
		Tolerations: []v1.Toleration{{Operator: v1.TolerationOpExists}},
		Containers: []v1.Container{{Name: "netexec", Image: image, ImagePullPolicy: v1.PullIfNotPresent, Args: []string{"netexec", fmt.Sprintf("--http-port=%d", port)},
			ReadinessProbe: &v1.Probe{PeriodSeconds: 1, ProbeHandler: v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{Path: "/hostname", Port: intstr.FromInt32(port)}}}}},
	}}
}

func service() *v1.Service {
	return &v1.Service{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: v1.ServiceSpec{Selector: map[string]string{"app": appLabel},
		Ports: []v1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(port)}}}}
}

// call is one pod asking another, or a service.
type call struct {
	from v1.Pod
	// to is an address, want the name that answers there; empty: any pod's.
	to   string
	port int
	want string
	// node is the one of the pod that is called, empty for a service.
	node string
}

// reach has pods call each other and the service, and judges the answers.
func (r *run) reach(ctx context.Context, round int, pods []v1.Pod) error {
	var calls []call
	for _, from := range pods {
		for _, to := range pods {
			if from.Name != to.Name {
				calls = append(calls, call{from, to.Status.PodIP, port, to.Name, to.Spec.NodeName})
			}
		}
	}
	if r.Calls > 0 && len(calls) > r.Calls {
		r.draw.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		calls = calls[:r.Calls]
	}
	if err := r.all(ctx, round, LawPods, calls); err != nil {
		return err
	}
	s, err := r.client().Services(r.Namespace).Get(ctx, "all", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("look at the service: %w", err)
	}
	calls = nil
	for _, from := range pods {
		calls = append(calls, call{from, s.Spec.ClusterIP, 80, "", ""})
	}
	return r.all(ctx, round, LawService, calls)
}

// How often a call is tried; callTime is one try's.
const (
	callTries = 5
	callTime  = 15 * time.Second
)

// all makes calls one after the other.
func (r *run) all(ctx context.Context, round int, law string, calls []call) error {
	for _, c := range calls {
		var why error
		for try := range callTries {
			if try > 0 {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(r.Patience / callTries):
				}
			}
			if why = r.ask(ctx, c); why == nil {
				break
			}
			err := why
			if !keptOut(why) {
				err = r.alive(ctx)
			}
			if err != nil {
				return fmt.Errorf("pod %s of %s calls %s: %w", c.from.Name, c.from.Spec.NodeName, c.to, err)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.Occasions[law]++
		if c.node != "" {
			r.went(c.from.Spec.NodeName, c.node, why != nil)
		}
		if why != nil {
			r.silent[c.to] = true
			r.broken(law, round, "pod %s on %s does not reach %s at %s: %v", c.from.Name, c.from.Spec.NodeName, or(c.want, "the service"), c.to, why)
		}
	}
	return nil
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// How often the API server is asked whether it is there, how long each time, and the pause between: one that starts
// again takes longer than a connection that broke.
const (
	aliveTries = 3
	aliveTime  = 5 * time.Second
	alivePause = time.Second
)

// alive tells whether the API server answers at all: what nobody could ask of a pod is not the network's fault.
func (r *run) alive(ctx context.Context) (err error) {
	for try := range aliveTries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(alivePause):
			}
		}
		limited, cancel := context.WithTimeout(ctx, aliveTime)
		_, err = r.client().RESTClient().Get().AbsPath("/version").MaxRetries(0).DoRaw(limited)
		cancel()
		var answered apierrors.APIStatus
		if err == nil || errors.As(err, &answered) {
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("the API server has not answered %d times: %w", aliveTries, err)
}

// ask has a pod make one call, through the API server's proxy to it. Whoever asks tries again, not the client.
func (r *run) ask(ctx context.Context, c call) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	q := r.client().RESTClient().Get().Namespace(r.Namespace).Resource("pods").SubResource("proxy").Name(net.JoinSchemeNamePort("http", c.from.Name, fmt.Sprint(port))).Suffix("dial")
	// each by itself
	for name, value := range map[string]string{"request": "hostname", "protocol": "http", "host": c.to, "port": fmt.Sprint(c.port), "tries": "1"} {
		q.Param(name, value)
	}
	text, err := q.MaxRetries(0).DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("the API server does not reach it: %w", err)
	}
	var answer struct{ Responses, Errors []string }
	if err := json.Unmarshal(text, &answer); err != nil {
		return fmt.Errorf("it answers %q", text)
	}
	switch {
	case len(answer.Errors) > 0:
		return errors.New(answer.Errors[0])
	case len(answer.Responses) == 0:
		return errors.New("nobody answers")
	case c.want != "" && !slices.Contains(answer.Responses, c.want):
		return fmt.Errorf("%q answers there", answer.Responses)
	}
	return nil
}
