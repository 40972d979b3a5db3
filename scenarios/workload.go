package scenarios

import (
	"math"
	"time"
)

// Workload is pods with recorded times, from a trace of a real cluster. The scheduler places each.
type Workload struct {
	Format string `yaml:"format" enum:"pods/1" doc:"How rows are written."`
	Rows   Rows   `yaml:"rows" doc:"One pod per line: name app create delete maxPerNode; times in seconds, - for before the start, after the end and no limit."`
}

// Rows are a workload's pods in file order.
type Rows []WorkloadPod

// WorkloadPod is one pod of a trace.
type WorkloadPod struct {
	// Name is unique within the workload; the pod's namespace is default.
	Name string
	// App groups pods for MaxPerNode.
	App string
	// Create and Delete are since the start; Create may be BeforeStart, Delete may be AfterEnd. Delete >= Create: a pod may
	// be deleted in the very second of its creation.
	Create, Delete time.Duration
	// MaxPerNode is how many pods of App that have a limit may share a node when this one is placed; 0 is no limit, and
	// such pods do not count against the limits of others: applications of real traces hold both kinds.
	MaxPerNode int
}

// Times of pods that exist before the start or beyond the end.
const (
	BeforeStart time.Duration = -1
	AfterEnd    time.Duration = math.MaxInt64
)

// workloadFormat is the only way to write rows so far.
const workloadFormat = "pods/1"
