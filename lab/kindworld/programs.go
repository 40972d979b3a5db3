package kindworld

import (
	"context"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/kindcluster"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// agentSelector chooses the agents' pods.
const agentSelector = "app.kubernetes.io/name=vppdrill-agent"

// Exit codes of programs that somebody has ended: by signal 9 and by signal 15.
const (
	exitKilled     = 137
	exitTerminated = 143
)

// deaths are the ends of agents that were told, by container.
type deaths map[string]bool

// look turns agents' pods into the ends of those that have died by themselves: with an exit code that no signal of a
// scenario explains.
func (d deaths) look(pods []v1.Pod) (facts []fact.Fact) {
	for i := range pods {
		p := &pods[i]
		for j := range p.Status.ContainerStatuses {
			c := &p.Status.ContainerStatuses[j]
			for _, t := range []*v1.ContainerStateTerminated{c.LastTerminationState.Terminated, c.State.Terminated} {
				if t == nil || d[t.ContainerID] {
					continue
				}
				d[t.ContainerID] = true
				if t.ExitCode != 0 && t.ExitCode != exitKilled && t.ExitCode != exitTerminated {
					facts = append(facts, fact.Fact{Node: p.Spec.NodeName, What: fact.ProgramCrash{Why: strings.TrimSpace(fmt.Sprintf("the agent ended with code %d %s", t.ExitCode, t.Message))}})
				}
			}
		}
	}
	return facts
}

// lookAtPrograms tells of agents that have died by themselves.
func (w *World) lookAtPrograms(ctx context.Context) error {
	list, err := w.client.CoreV1().Pods(kindcluster.Namespace).List(ctx, meta.ListOptions{ResourceVersion: "0", LabelSelector: agentSelector})
	if err != nil {
		return fmt.Errorf("list agents: %w", err)
	}
	for _, f := range w.deaths.look(list.Items) {
		crash, _ := f.What.(fact.ProgramCrash)
		w.Record.Tell(f, f.Node+": "+crash.Why)
	}
	return nil
}

// refusals are the ADDs whose refusals were told, by event and how often it came.
type refusals map[string]int32

// Words of containerd in a kubelet's event of an ADD that was refused, around the sandbox's ID and the plugin's own
// words.
const (
	failedSandbox = "FailedCreatePodSandBox"
	sandboxWord   = `network for sandbox "`
	addWord       = "failed (add): "
)

// look turns events of pods into refused ADDs. An event that names no sandbox or no plugin is about something else.
func (r refusals) look(events []v1.Event) (facts []fact.Fact) {
	for i := range events {
		e := &events[i]
		count := max(1, e.Count)
		if e.Reason != failedSandbox || r[string(e.UID)] >= count {
			continue
		}
		r[string(e.UID)] = count
		_, after, ok := strings.Cut(e.Message, sandboxWord)
		id, after, named := strings.Cut(after, `"`)
		_, why, refused := strings.Cut(after, addWord)
		if !ok || !named || !refused {
			continue
		}
		facts = append(facts, fact.Fact{Node: e.Source.Host, What: fact.Refused{Owner: ownerOf(id), Pod: e.InvolvedObject.Namespace + "/" + e.InvolvedObject.Name,
			PodUID: string(e.InvolvedObject.UID), Why: why, Code: 0, Exhausted: lab.Exhausted(why), Wait: 0}})
	}
	return facts
}

// lookAtEvents tells of ADDs that were refused, as kubelets say so.
func (w *World) lookAtEvents(ctx context.Context) error {
	list, err := w.client.CoreV1().Events(podNamespace).List(ctx, meta.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return fmt.Errorf("list events: %w", err)
	}
	for _, f := range w.refusals.look(list.Items) {
		refused, _ := f.What.(fact.Refused)
		w.Record.Tell(f, f.Node+" refused "+refused.Pod+": "+refused.Why)
	}
	return nil
}
