package mutation

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Outcome is what came of a mutant.
type Outcome string

// Outcomes. Only Caught counts: a user was told of the fault by a law's name, by an expectation that did not come true,
// or by a limit that a run did not end within.
const (
	Caught   Outcome = "caught"
	Survived Outcome = "survived"
	// Crashed: the program died, and said so as programs do.
	Crashed Outcome = "crashed"
	// Unreached: no run came to where the fault makes a difference.
	Unreached Outcome = "not reached"
)

// Trial is a mutant with what came of it.
type Trial struct {
	*Mutant
	Outcome Outcome `json:"outcome"`
	// By is the law that caught it, "expectation", "limit" for runs that did not end, or "error" for one that could not be
	// judged.
	By string `json:"by,omitempty"`
	// Scenario and Seed are where, What is the law's sentence or the first line of a crash.
	Scenario string `json:"scenario,omitempty"`
	Seed     uint64 `json:"seed,omitempty"`
	What     string `json:"what,omitempty"`
	// CPUSeconds is the processor time that was spent, Runs how many random runs that come by its place it was enough for.
	CPUSeconds float64 `json:"cpuSeconds"`
	Runs       int     `json:"runs"`
	// Differing is how many runs of the catalogue and units of random runs did anything else than without the fault. A
	// fault that survives with none is equivalent, or what it changes never mattered.
	Differing int `json:"differing"`

	// Searches is how many units of random runs were looked at, Searched how many of them were done, Changed how many of
	// those the fault changed.
	Searches uint64 `json:"searches"`
	Searched uint64 `json:"searched"`
	Changed  uint64 `json:"changed"`
	// Origins are runs that it changed, Varied how many units of variations of them were done.
	Origins []origin `json:"origins,omitempty"`
	Varied  uint64   `json:"varied"`

	// begun: the catalogue has been run.
	begun bool
	// exhausted: no surveyed unit that asks its switch is left, so that variations of those that it changed are all that
	// can be done.
	exhausted bool
	// reported: the last program wrote its whole report, so that it did not die.
	reported bool
}

// memoryMost is how much address space a planted program may have, in KiB: a mutant that never stops collecting must
// not take the machine along.
const memoryMost = 8 << 20

// trial runs the planted program.
type trial struct {
	program string
	// asked is the file of switches that were asked, empty for none.
	asked string
	// survey is what the program does without a fault.
	survey *survey
	// said, where set, takes what each of the catalogue's runs did, by scenario and seed; usual, where set, is what they
	// do without a fault.
	said, usual map[string]string
}

// failure is what tells a failure from others.
type failure struct {
	Scenario string `json:"scenario"`
	By       string `json:"by"`
}

// catalogue runs the catalogue until the first failure.
func (t trial) catalogue(ctx context.Context, m *Trial, budget time.Duration) error {
	args := []string{"run", "--catalog", "--jobs", "1"}
	return t.process(ctx, m, max(budget, catalogueLeast), args, func(out io.Reader, stop func()) error {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		failed := false
		for lines.Scan() {
			words := strings.Fields(lines.Text())
			switch {
			case len(words) == 0:
			case words[0] == "pass":
				v := verdictOf(words)
				if t.said != nil {
					t.said[v.run()] = v.did
				}
				if t.usual != nil && t.usual[v.run()] != v.did {
					m.Differing++
					m.changedRun(v.scenario, v.seed)
				}
			case words[0] == "FAIL" || words[0] == "ERROR":
				failed = true
				v := verdictOf(words)
				m.Outcome, m.Scenario, m.Seed, m.By = Caught, v.scenario, v.seed, "expectation"
				if words[0] == "ERROR" {
					m.By = "error"
				}
			case failed && words[0] == "law":
				m.By = words[1]
			case failed && (words[0] == "what" || words[0] == "error"):
				m.What = strings.Join(words[1:], " ")
			case failed && words[0] == "replay":
				stop()
				return nil
			}
		}
		return lines.Err()
	})
}

// search does the next unit of random runs that asks the fault's switch, or of variations of one that the fault
// changed.
func (t trial) search(ctx context.Context, m *Trial, budget time.Duration) error {
	if m.varies() {
		return t.vary(ctx, m, budget)
	}
	known, err := t.survey.of(ctx, m.Searches)
	for err == nil && known != nil && !known.asks(m.Number) {
		m.Searches++
		known, err = t.survey.of(ctx, m.Searches)
	}
	if err != nil {
		return err
	}
	if known == nil {
		m.exhausted = true
		return nil
	}
	u := unitOf(m.Searches)
	m.Searches++
	r, err := t.unit(ctx, m, u, budget)
	if err != nil || r == nil {
		return err
	}
	m.Runs += known.Runs
	m.Searched++
	if m.judge(r, known); r.Explored.Digest == known.Digest {
		return nil
	}
	m.Differing++
	m.Changed++
	if m.Outcome == Survived {
		err = t.changedIn(ctx, m, u, budget)
	}
	return err
}

// judge counts the first failure of a unit's that it has not got without the fault.
func (m *Trial) judge(r *found, known *surveyed) {
	for _, res := range r.Scenarios {
		f, failed := failureOf(res)
		if !failed || known.usual(f) {
			continue
		}
		m.Outcome, m.Scenario, m.Seed, m.By, m.What = Caught, res.Scenario, res.Seed, f.By, res.Error
		if res.Failure != nil {
			m.What = res.Failure.What
		}
		return
	}
}

// found is what a search prints.
type found struct {
	Scenarios []result.Result
	Explored  struct {
		Runs   int
		Digest string
	}
}

// broken are the failures of a unit.
func (r *found) broken() (list []failure) {
	for _, res := range r.Scenarios {
		if f, failed := failureOf(res); failed {
			list = append(list, f)
		}
	}
	return list
}

// unit does a unit of random runs; nil when the program died before it reported, which the trial then says.
func (t trial) unit(ctx context.Context, m *Trial, u unit, budget time.Duration) (*found, error) {
	args := []string{"explore", "--random", "--from", strconv.FormatUint(u.from, 10), "--seeds", strconv.Itoa(u.seeds), "--jobs", "1", "--format", "json"}
	around := strconv.FormatUint(u.around, 10)
	switch {
	case u.scenario != "":
		args = append(args, u.scenario, "--seed", around)
	case u.around != 0:
		args = append(args, "--profile", u.profile, "--around", around)
	default:
		args = append(args, "--profile", u.profile)
	}
	var report *found
	err := t.process(ctx, m, max(budget, limitLeast), args, func(out io.Reader, _ func()) error {
		text, err := io.ReadAll(out)
		if err != nil || len(bytes.TrimSpace(text)) == 0 {
			return err
		}
		var r found
		if json.Unmarshal(text, &r) == nil { // else it died while it wrote, which is seen by how it ended
			report, m.reported = &r, true
		}
		return nil
	})
	return report, err
}

// failureOf is the failure of a run that did not pass.
func failureOf(r result.Result) (failure, bool) {
	f := failure{r.Scenario, "expectation"}
	switch {
	case r.Failure != nil:
		f.By = r.Failure.Law
	case r.Verdict == result.Error:
		f.By = "error"
	}
	return f, r.Verdict != result.Pass
}

// process runs the program with a mutant on and at most this much processor time; read is given what it prints.
func (t trial) process(whole context.Context, m *Trial, budget time.Duration, args []string, read func(out io.Reader, stop func()) error) error {
	ctx, cancel := context.WithTimeout(whole, 30*budget+time.Minute) // a machine that is shared gives a thirtieth at worst
	defer cancel()
	limits := fmt.Sprintf("ulimit -t %d; ulimit -v %d; ulimit -c 0; exec \"$@\"", int(budget/time.Second)+1, memoryMost)
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limits, "sh", t.program}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOTRACEBACK=single")
	if t.asked != "" {
		cmd.Env = append(cmd.Env, askedVariable+"="+t.asked)
	}
	if m.Mutant != nil {
		cmd.Env = append(cmd.Env, mutantVariable+"="+strconv.Itoa(m.Number))
	}
	said := &head{most: 16 << 10} // of progress too
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the planted program: %w", err)
	}
	stopped := false
	m.reported = false
	readErr := read(out, func() { stopped = true; cancel() })
	waitErr := cmd.Wait()
	m.CPUSeconds += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if readErr != nil && ctx.Err() == nil {
		return fmt.Errorf("read what the planted program prints: %w", readErr)
	}
	if waitErr != nil && !stopped && !m.reported && m.Outcome != Caught && whole.Err() == nil {
		m.judgeEnd(waitErr, said.String(), ctx)
		if m.By == limit {
			m.What = fmt.Sprintf("runs did not end within %s of processor time", budget)
		}
	}
	return nil
}

// refusedInput is vppdrill's exit code for input that it refuses.
const refusedInput = 2

// limitLeast and catalogueLeast are how much processor time a unit of random runs and the catalogue get, whatever is
// left of a fault's budget: without a fault they take a tenth of a second and ten seconds, so that what has not ended
// by then does not end.
const limitLeast, catalogueLeast = 20 * time.Second, time.Minute

// neverEnds is what the program says of a step that does not, before it gives up.
const neverEnds = ": a step does not end: "

// judgeEnd says how a program ended that told of no failure.
func (m *Trial) judgeEnd(err error, said string, ctx context.Context) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		m.Outcome, m.What = Crashed, err.Error()
		return
	}
	status, _ := exit.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && (status.Signal() == syscall.SIGXCPU || status.Signal() == syscall.SIGKILL), ctx.Err() != nil,
		strings.Contains(said, "SIGXCPU"):
		m.Outcome, m.By = Caught, limit
	case strings.Contains(said, neverEnds):
		m.Outcome, m.By, m.What = Caught, "error", firstLine(said)
	case status.ExitStatus() == refusedInput && !strings.Contains(said, "panic:") && !strings.Contains(said, "fatal error:"):
		m.Outcome, m.By, m.What = Caught, "error", firstLine(said) // a scenario or a configuration that is right is refused
	default:
		m.Outcome, m.What = Crashed, firstLine(said)
	}
}

// limit is what caught a fault with which runs do not end. A step that does not is told by the program itself before
// that.
const limit = "limit"

// firstLine is the first line of what a dying program said that names its cause.
func firstLine(said string) string {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") || strings.HasPrefix(line, "vppdrill:") && !strings.Contains(line, " done, ") {
			return line
		}
	}
	return ""
}

// head keeps the beginning of what is written to it.
type head struct {
	bytes.Buffer
	most int
}

func (h *head) Write(b []byte) (int, error) {
	if room := h.most - h.Len(); room > 0 {
		h.Buffer.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}
