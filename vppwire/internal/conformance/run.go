package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Laws that a run judges beside ipam/audit's.
const (
	LawStart   = "pods-start"
	LawPods    = "pods-reach-pods"
	LawService = "pods-reach-services"
	LawGone    = "nothing-stays"
	LawRoll    = "pods-survive-rolls"
	LawDrain   = "nodes-drain"
)

// Laws are those, in the order in which they are told.
func Laws() []string { return []string{LawStart, LawPods, LawService, LawGone, LawRoll, LawDrain} }

// Options are what a run does. Connection is needed.
type Options struct {
	Connection *kube.Connection
	// Image is one with Kubernetes' test program agnhost as its entry point, whose server calls others when asked.
	Image string
	// PodsPerNode run on each ready node at a time; Rounds is how often all of them are replaced by new ones.
	PodsPerNode, Rounds int
	// Calls is how many pairs of pods call each other in each round; all where there are fewer.
	Calls int
	Seed  uint64
	// Roll is the DaemonSet, NAMESPACE/NAME, whose pods are restarted in each round while pods call each other; empty:
	// none.
	Roll string
	// Drain: in each round one node is cordoned, the run's own pods on it are evicted, and it is put back into service.
	Drain bool
	// Wait is how long pods of a round may take to start, and to go.
	Wait time.Duration
	// Patience is how long a call that fails is made again: kube-proxies hear of a pod a moment after it is ready. 0 is
	// not at all.
	Patience time.Duration
	// Audit reads everything that an audit looks at.
	Audit func(ctx context.Context) (audit.Report, error)
	// Say gets a line for each step; nil: nobody.
	Say func(line string)
}

// Result is what a run found, by law. A law that had no occasion was not judged.
type Result struct {
	Namespace string         `json:"namespace"`
	Nodes     int            `json:"nodes"`
	Rounds    int            `json:"rounds"`
	Occasions map[string]int `json:"occasions"`
	Broken    []Violation    `json:"broken"`
	// Paths are the calls between pods by the nodes that they went from and to, in their order.
	Paths []Path   `json:"paths,omitempty"`
	Notes []string `json:"notes,omitempty"`
	// Started is how long the slowest pod of each round took to have an address and be ready.
	Started []time.Duration `json:"started"`
}

// Path is how calls from pods of one node to pods of another fared.
type Path struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed"`
}

// Violation is a law that did not hold.
type Violation struct {
	Law   string `json:"law"`
	Round int    `json:"round"`
	Text  string `json:"text"`
}

// run is one under way.
type run struct {
	Options
	Result
	draw  *rand.Rand
	nodes []string
	// before are the findings of the audit before the run: what was wrong already is not this run's.
	before map[string]bool
	// silent are addresses that somebody did not reach: what is wrong already is no roll's.
	silent map[string]bool
	images images
}

// ErrNoNodes: no node is ready for pods.
var ErrNoNodes = errors.New("no node is ready for pods")

// Run makes pods, judges, and removes them. An error is that it could not be judged; the result holds what was until
// then.
func Run(ctx context.Context, o Options) (result Result, err error) {
	defer func() { err = o.Connection.Explain(err) }()
	r := &run{Options: o, draw: rand.New(rand.NewPCG(o.Seed, 0)), before: map[string]bool{}, silent: map[string]bool{},
		images: images{since: map[string]time.Time{}, running: map[string]time.Time{}}}
	r.Occasions = map[string]int{}
	if r.Say == nil {
		r.Say = func(string) {}
	}
	if err := r.begin(ctx); err != nil {
		return r.Result, err
	}
	defer func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Wait)
		defer cancel()
		err = errors.Join(err, r.end(limited))
		result = r.Result
	}()
	for round := 1; round <= max(1, r.Options.Rounds); round++ {
		if err := r.round(ctx, round); err != nil {
			return r.Result, err
		}
		r.Result.Rounds = round
	}
	return r.Result, nil
}

// begin looks at the cluster as it is and makes the namespace.
func (r *run) begin(ctx context.Context) error {
	if err := r.allowed(ctx, r.needs()); err != nil {
		return err
	}
	list, err := r.client().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for i := range list.Items {
		if n := &list.Items[i]; !n.Spec.Unschedulable && ready(n) {
			r.nodes = append(r.nodes, n.Name)
		}
	}
	slices.Sort(r.nodes)
	if r.Nodes = len(r.nodes); r.Nodes == 0 {
		return ErrNoNodes
	}
	report, err := r.Audit(ctx)
	if err != nil {
		return err
	}
	for _, f := range report.Findings {
		r.before[f.String()] = true
		r.Notes = append(r.Notes, "before the run: "+f.String())
	}
	r.Notes = append(append(r.Notes, report.Unknown...), r.clocks(ctx)...)
	made, err := r.client().Namespaces().Create(ctx, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "vppdrill-conformance-",
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "privileged"}}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("make a namespace: %w", err)
	}
	r.Namespace = made.Name
	if err := r.allowed(ctx, r.needsIn(r.Namespace)); err != nil {
		return errors.Join(err, r.end(context.WithoutCancel(ctx)))
	}
	if _, err = r.client().Services(r.Namespace).Create(ctx, service(), metav1.CreateOptions{}); err == nil {
		err = r.account(ctx)
	}
	if err != nil {
		return fmt.Errorf("make a service in namespace %s: %w", r.Namespace, errors.Join(err, r.end(context.WithoutCancel(ctx))))
	}
	return nil
}

// account waits for the namespace's service account, which a controller makes, and without which no pod is taken.
func (r *run) account(ctx context.Context) error {
	for limit := time.Now().Add(r.Wait); ; {
		_, err := r.client().ServiceAccounts(r.Namespace).Get(ctx, "default", metav1.GetOptions{})
		if err == nil || time.Now().After(limit) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func ready(n *v1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c v1.NodeCondition) bool {
		return c.Type == v1.NodeReady && c.Status == v1.ConditionTrue
	})
}

// round starts pods on every node, judges, and takes them away.
func (r *run) round(ctx context.Context, round int) error {
	r.Say(fmt.Sprintf("round %d: %d pods on each of %d nodes", round, r.PodsPerNode, len(r.nodes)))
	began := time.Now()
	for _, node := range r.nodes {
		for i := range r.PodsPerNode {
			p := workload(fmt.Sprintf("r%d-%d-%s", round, i, short(node)), node, r.Image)
			if _, err := r.client().Pods(r.Namespace).Create(ctx, p, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("make pod %s: %w", p.Name, err)
			}
		}
	}
	pods, err := r.started(ctx, round)
	if err != nil {
		return err
	}
	r.Started = append(r.Started, time.Since(began))
	report, err := r.Audit(ctx)
	if err != nil {
		return err
	}
	r.judge(round, report)
	if err := r.reach(ctx, round, pods); err != nil {
		return err
	}
	if err := r.roll(ctx, round, pods); err != nil {
		return err
	}
	if err := r.drain(ctx, round, pods); err != nil {
		return err
	}
	if err := r.gone(ctx, round); err != nil {
		return err
	}
	if report, err = r.Audit(ctx); err != nil {
		return err
	}
	r.judge(round, report)
	return nil
}

// went counts a call between the pods of two nodes.
func (r *run) went(from, to string, failed bool) {
	i, found := slices.BinarySearchFunc(r.Paths, [2]string{from, to}, func(p Path, want [2]string) int {
		return cmp.Or(strings.Compare(p.From, want[0]), strings.Compare(p.To, want[1]))
	})
	if !found {
		r.Paths = slices.Insert(r.Paths, i, Path{From: from, To: to})
	}
	r.Paths[i].Calls++
	if failed {
		r.Paths[i].Failed++
	}
}

func (r *run) broken(law string, round int, format string, args ...any) {
	r.Broken = append(r.Broken, Violation{law, round, fmt.Sprintf(format, args...)})
}

// judge takes what an audit finds that was not there before the run.
func (r *run) judge(round int, report audit.Report) {
	for law, n := range report.Judged { // each by itself
		r.Occasions[law] += n
	}
	for _, f := range report.Findings {
		if line := f.String(); !r.before[line] {
			r.before[line] = true
			r.broken(f.Law, round, "%s: %s", f.Subject, f.Text)
		}
	}
}

// started waits until every pod is ready; those that are not in time break a law and are left out.
func (r *run) started(ctx context.Context, round int) (up []v1.Pod, err error) {
	limit := time.Now().Add(r.Wait)
	for {
		list, err := r.client().Pods(r.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list pods: %w", err)
		}
		up = nil
		var waiting []*v1.Pod
		for i := range list.Items {
			p := &list.Items[i]
			if p.Status.Phase == v1.PodRunning && p.Status.PodIP != "" && podReady(p) {
				up = append(up, *p)
			} else {
				waiting = append(waiting, p)
			}
		}
		if len(waiting) == 0 || time.Now().After(limit) {
			return up, r.late(ctx, round, len(list.Items), waiting)
		}
		if err := r.unfit(ctx, waiting); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func podReady(p *v1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodReady && c.Status == v1.ConditionTrue })
}

// gone takes the round's pods away and waits until they are.
func (r *run) gone(ctx context.Context, round int) error {
	now := int64(0)
	if err := r.client().Pods(r.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("delete pods: %w", err)
	}
	for limit := time.Now().Add(r.Wait); ; {
		list, err := r.client().Pods(r.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list pods: %w", err)
		}
		if len(list.Items) == 0 || time.Now().After(limit) {
			r.Occasions[LawGone]++
			for i := range list.Items {
				r.broken(LawGone, round, "pod %s is there %s after its deletion", list.Items[i].Name, r.Wait)
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// end removes everything of the run.
func (r *run) end(ctx context.Context) error {
	r.Say("removing namespace " + r.Namespace)
	if err := r.client().Namespaces().Delete(ctx, r.Namespace, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("kubectl delete namespace %s: %w", r.Namespace, err)
	}
	return nil
}

// short is a node's name as a part of a pod's.
func short(node string) string {
	return strings.Trim(strings.ReplaceAll(node[max(0, len(node)-40):], ".", "-"), "-")
}
