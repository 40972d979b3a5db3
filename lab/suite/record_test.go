package suite_test

import (
	"context"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/suite/ran"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/suite"
)

var record = flag.Bool("record", false, "write how each scenario went into "+ran.File)

// root is the repository's, as this package's tests see it.
const root = "../.."

// recorder writes into the table of runs as specs end, one after the other: what an interrupt leaves is true too, and
// several suites may run different specs at the same time.
type recorder struct {
	t           *testing.T
	all         []*scenarios.Scenario
	hashes      map[string]string
	commit, vpp string
}

// newRecorder finds out what runs here.
func newRecorder(t *testing.T, binary string) *recorder {
	r := &recorder{t: t, hashes: map[string]string{}}
	var err error
	if r.all, err = catalog.All(); err != nil {
		t.Fatal(err)
	}
	for _, s := range r.all {
		r.hashes[s.Name] = ran.Hash(s)
	}
	if r.vpp, _, err = vppproc.Examine(context.Background(), binary); err != nil {
		t.Fatal(err)
	}
	r.commit = commit(t)
	return r
}

// commit is what is checked out; with a plus behind it where more has changed than the table.
func commit(t *testing.T) string {
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %s: %v", args[0], err)
		}
		return strings.TrimSpace(string(out))
	}
	id := git("rev-parse", "--short=9", "HEAD")
	if git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!"+ran.File) != "" {
		id += "+"
	}
	return id
}

// ended notes how one spec ended.
func (r *recorder) ended(spec ginkgo.SpecReport) {
	name := spec.LeafNodeText
	run, known := r.run(spec)
	if !known {
		return
	}
	run.Hash = r.hashes[name]
	if run.Outcome != ran.Refused {
		run.Commit, run.VPP = r.commit, r.vpp
	}
	if err := r.put(name, run); err != nil {
		r.t.Error(err)
	}
}

// put writes one run, while nobody else writes.
func (r *recorder) put(name string, run ran.Run) error {
	f, err := os.OpenFile(filepath.Join(root, ran.File), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // which ends the lock; what was written is there
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	table, err := ran.Parse(string(text))
	if err != nil {
		return err
	}
	table.Forget(r.all)
	table.Put(name, run)
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(table.String()), 0)
	return err
}

// run is what a report says of its scenario; false where it says nothing, as of one that was not chosen.
func (r *recorder) run(spec ginkgo.SpecReport) (run ran.Run, known bool) {
	line, _, _ := strings.Cut(spec.Failure.Message, "\n")
	switch {
	case spec.State == types.SpecStatePassed:
		return ran.Run{Outcome: ran.Passed}, true
	case spec.State == types.SpecStateSkipped && line != "":
		if _, reason, ok := strings.Cut(line, refusal); ok {
			line = reason
		}
		return ran.Run{Outcome: ran.Refused, Reason: line}, true
	case spec.State.Is(types.SpecStateFailureStates):
		run = ran.Run{Outcome: ran.Unjudged, Reason: line}
		for _, e := range spec.ReportEntries {
			if x, ok := e.GetRawValue().(suite.RunEntry); ok && x.Verdict == result.Fail {
				run.Outcome = ran.Failed
			}
		}
		return run, true
	}
	return run, false
}

// Goal: each end of a spec becomes what the table says of it. Method: reports as Ginkgo makes them.
func TestRecorder(t *testing.T) {
	for name, c := range map[string]struct {
		spec ginkgo.SpecReport
		want ran.Run
	}{
		"passed":  {ginkgo.SpecReport{State: types.SpecStatePassed}, ran.Run{Outcome: ran.Passed}},
		"refused": {ginkgo.SpecReport{State: types.SpecStateSkipped, Failure: types.Failure{Message: "build a world for x: unsupported" + refusal + "drain-node (why)"}}, ran.Run{Outcome: ran.Refused, Reason: "drain-node (why)"}},
		"failed": {ginkgo.SpecReport{State: types.SpecStateFailed, Failure: types.Failure{Message: "law settles is broken\nwhy: x"},
			ReportEntries: types.ReportEntries{{Name: suite.EntryRun, Value: types.WrapEntryValue(suite.RunEntry{Verdict: result.Fail})}}}, ran.Run{Outcome: ran.Failed, Reason: "law settles is broken"}},
		"unjudged": {ginkgo.SpecReport{State: types.SpecStateTimedout, Failure: types.Failure{Message: "A spec timeout occurred"}}, ran.Run{Outcome: ran.Unjudged, Reason: "A spec timeout occurred"}},
		"unchosen": {ginkgo.SpecReport{State: types.SpecStateSkipped}, ran.Run{}},
	} {
		if have, known := new(recorder).run(c.spec); have != c.want || known != (c.want.Outcome != "") {
			t.Errorf("%s: %+v, %t", name, have, known)
		}
	}
}
