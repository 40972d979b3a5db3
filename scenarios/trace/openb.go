package trace

import (
	"fmt"
	"io"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Columns of the openb trace that matter here (Alibaba cluster-trace-gpu-v2023, openb_pod_list and openb_node_list).
// Times are seconds since the trace's start.
const (
	openbName      = "name"
	openbQoS       = "qos"
	openbCreation  = "creation_time"
	openbScheduled = "scheduled_time"
	openbDeletion  = "deletion_time"
	openbNode      = "sn"
)

// ImportOpenB reads the openb trace: tasks on a GPU cluster and the cluster's nodes. A pod's application is its quality of
// service class. Pods that the trace's scheduler never placed (no scheduled_time) are left out, and the notes say how many. Options.Nodes, when
// set, overrides the number of nodes in the list. Errors are *scenarios.InputError with the place in the file.
func ImportOpenB(pods io.Reader, podsFile string, nodes io.Reader, nodesFile string, o Options) (*scenarios.Scenario, error) {
	count, err := countNodes(nodes, nodesFile)
	if err != nil {
		return nil, err
	}
	t, err := newTable(pods, podsFile, openbName, openbQoS, openbCreation, openbScheduled, openbDeletion)
	if err != nil {
		return nil, err
	}
	var rows rowSet
	unplaced := 0
	for {
		more, err := t.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		pod, err := openbPod(t)
		if err != nil {
			return nil, err
		}
		if t.text(openbScheduled) == "" {
			unplaced++
			continue
		}
		if err := rows.add(t, openbName, pod); err != nil {
			return nil, err
		}
	}
	s, err := o.withDefaults("openb", count).scenario(t, rows)
	if err == nil && unplaced > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("Left out: %d of %d pods have no %s, as the trace's own scheduler never placed them.", unplaced, unplaced+len(rows.pods), openbScheduled))
	}
	return s, err
}

// openbPod reads one row.
func openbPod(t *table) (pod scenarios.WorkloadPod, err error) {
	if pod.Name, err = t.word(openbName); err != nil {
		return pod, err
	}
	if pod.App, err = t.word(openbQoS); err != nil {
		return pod, err
	}
	if _, err = t.seconds(openbScheduled, 0); err != nil {
		return pod, err
	}
	return pod, podTimes(t, &pod, openbCreation, openbDeletion)
}

// countNodes reads the node list, of which only the number of different nodes matters.
func countNodes(r io.Reader, file string) (int, error) {
	t, err := newTable(r, file, openbNode)
	if err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for {
		more, err := t.next()
		switch {
		case err != nil:
			return 0, err
		case !more && len(seen) == 0:
			return 0, &scenarios.InputError{File: file, Line: 2, Column: 1, Message: "the file lists no node"}
		case !more:
			return len(seen), nil
		}
		name, err := t.word(openbNode)
		if err != nil {
			return 0, err
		}
		if seen[name] {
			return 0, t.wrong(openbNode, "is listed already")
		}
		seen[name] = true
	}
}
