package trace

import (
	"io"
	"strconv"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Columns of the dlrm trace that matter here (Alibaba cluster-trace-gpu-v2025, disaggregated_DLRM_trace.csv). Times are
// seconds since the trace's start; an empty creation_time lies before it, an empty deletion_time after its end.
const (
	dlrmName     = "instance_sn"
	dlrmRole     = "role"
	dlrmApp      = "app_name"
	dlrmLimit    = "max_instance_per_node"
	dlrmCreation = "creation_time"
	dlrmDeletion = "deletion_time"
)

// dlrmNodesDefault holds the trace's peak of 8,984 pods at 30 pods per node.
const dlrmNodesDefault = 300

// ImportDLRM reads the dlrm trace: instances of recommendation services over a month. An instance is a pod of the
// application app-role, because max_instance_per_node limits instances of one application and role; -1 is no limit.
// The limit may differ between instances of one application. Errors are *scenarios.InputError with the place in file.
func ImportDLRM(r io.Reader, file string, o Options) (*scenarios.Scenario, error) {
	t, err := newTable(r, file, dlrmName, dlrmRole, dlrmApp, dlrmLimit, dlrmCreation, dlrmDeletion)
	if err != nil {
		return nil, err
	}
	var rows rowSet
	for {
		more, err := t.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		pod, err := dlrmPod(t)
		if err != nil {
			return nil, err
		}
		if err := rows.add(t, dlrmName, pod); err != nil {
			return nil, err
		}
	}
	return o.withDefaults("dlrm", dlrmNodesDefault).scenario(t, rows)
}

// dlrmPod reads one row.
func dlrmPod(t *table) (pod scenarios.WorkloadPod, err error) {
	if pod.Name, err = t.word(dlrmName); err != nil {
		return pod, err
	}
	app, err := t.word(dlrmApp)
	if err != nil {
		return pod, err
	}
	role, err := t.word(dlrmRole)
	if err != nil {
		return pod, err
	}
	if pod.App = app + "-" + role; len(pod.App) > nameMax {
		return pod, t.wrong(dlrmApp, "and "+strconv.Quote(t.text(dlrmRole))+" are too long together")
	}
	limit, err := t.whole(dlrmLimit, -1, 65535)
	if err != nil {
		return pod, err
	}
	switch limit {
	case 0:
		return pod, t.wrong(dlrmLimit, "leaves the instance no node; -1 is no limit")
	case -1:
	default:
		pod.MaxPerNode = limit
	}
	return pod, podTimes(t, &pod, dlrmCreation, dlrmDeletion)
}
