package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const brokenScenario = `# One node more is expected than there is.
name: expects-too-much
topology: {nodes: 2, podsPerNode: 1}
expect: {nodes: 3}
`

const lostAddress = `{"kind": "List", "items": [
  {"kind": "Node", "metadata": {"name": "w-a"}},
  {"kind": "Pod", "metadata": {"namespace": "shop", "name": "cart"}, "spec": {"nodeName": "w-a"}, "status": {"podIP": "10.60.0.2"}},
  {"kind": "Pod", "metadata": {"namespace": "shop", "name": "till"}, "spec": {"nodeName": "w-a"}, "status": {"podIP": "10.60.0.2"}}]}
`

// Goal: the GitHub action of action.yml and the GitLab template do what they say. Method: their shell steps are run by bash in a folder of
// its own, with the variables, files and expressions that a runner gives them; the program is this one. An earlier step has left its report
// there, of which nothing may be shown again.
func TestBuildServers(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("vppdrill")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, command, args, code, summary string
	}{
		{"passes", "run", "'good one.yaml' --seed 2", "0", "1 passed, 0 failed"},
		{"fails", "run", "*.yaml --shrink 0", "1", "expects-too-much"},
		{"audits", "audit", "lost.json", "1", "duplicate-address"},
		{"conforms", "conformance", "lost.json", "1", "duplicate-address"},
		{"refuses", "run", "--nodes", "2", ""},
		{"knows no such command", "lab", "up", "2", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			t.Chdir(folder)
			for name, text := range map[string]string{"good one.yaml": strings.Replace(brokenScenario, "nodes: 3}", "nodes: 2}", 1), "bad.yaml": brokenScenario, "lost.json": lostAddress} {
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			const stale = "of an earlier step"
			served := []string{"summary.md", "results.sarif", "junit.xml", "codequality.json", "report.html"}
			for _, dir := range [...]string{"the report", "vppdrill-report"} {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				for _, name := range served {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(stale), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			r := runner{t: t, root: root, inputs: map[string]string{"command": test.command, "args": test.args, "program": program, "out": "the report"}}
			code, summary := r.action(filepath.Join(root, "action.yml"))
			if code != test.code || !strings.Contains(summary, test.summary) {
				t.Errorf("the action ends with %s and the summary\n%s\nwant %s and %q in it", code, summary, test.code, test.summary)
			}
			if test.summary == "" && test.command == "run" && (r.steps["judge.sarif"] != "" || summary != "") || strings.Contains(summary, stale) {
				t.Errorf("an earlier step's report is shown: %q, %q", r.steps["judge.sarif"], summary)
			}
			if test.summary != "" {
				if _, err := os.Stat("the report/junit.xml"); err != nil {
					t.Error(err)
				}
				uploadable(t, r.steps["judge.sarif"], test.code != "0")
			}
			code, reports := r.gitlab(filepath.Join(root, ".ci/gitlab.yml"), program)
			if code != test.code {
				t.Errorf("GitLab's job ends with %s, want %s", code, test.code)
			}
			if test.summary == "" {
				if _, err := os.Stat("vppdrill-report/junit.xml"); err == nil && test.command == "run" {
					t.Error("GitLab shows an earlier step's test cases")
				}
				return
			}
			if len(reports) != 2 {
				t.Errorf("GitLab's job has the reports %v", reports)
			}
			for _, name := range reports { // in any order: each must be there
				if _, err := os.Stat(name); err != nil {
					t.Error(err)
				}
			}
			readable(t, reports["codequality"], test.code != "0")
		})
	}
}

// uploadable fails where GitHub's code scanning refuses a SARIF file: a result without a rule that is described, a message, or a place that is
// a relative URI.
func uploadable(t *testing.T, name string, want bool) {
	t.Helper()
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID              string
				Message             struct{ Text string }
				PartialFingerprints map[string]string
				Locations           []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
			}
		}
	}
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &log)
	}
	if err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 || (len(log.Runs[0].Results) > 0) != want {
		t.Errorf("%s: %v\n%s", name, err, text)
		return
	}
	for _, r := range log.Runs[0].Results {
		described := slices.ContainsFunc(log.Runs[0].Tool.Driver.Rules, func(x struct{ ID string }) bool { return x.ID == r.RuleID })
		if !described || r.Message.Text == "" || len(r.Locations) != 1 || len(r.PartialFingerprints) != 1 {
			t.Errorf("code scanning refuses %+v", r)
			continue
		}
		at, err := url.Parse(r.Locations[0].PhysicalLocation.ArtifactLocation.URI)
		if err != nil || at.Path == "" || at.IsAbs() || strings.Contains(at.String(), " ") {
			t.Errorf("code scanning refuses the place %v: %v", at, err)
		}
	}
}

// readable fails where GitLab takes nothing from a code quality report: an issue without one of the fields that it asks for.
func readable(t *testing.T, name string, want bool) {
	t.Helper()
	var issues []struct {
		Description, Fingerprint, Severity string
		Check                              string `json:"check_name"`
		Location                           struct {
			Path  string
			Lines struct{ Begin int }
		}
	}
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &issues)
	}
	if err != nil || (len(issues) > 0) != want {
		t.Errorf("%s: %v\n%s", name, err, text)
	}
	known := map[string]bool{}
	for _, i := range issues {
		if i.Description == "" || i.Check == "" || i.Fingerprint == "" || known[i.Fingerprint] || i.Severity != "critical" || i.Location.Path == "" || i.Location.Lines.Begin != 1 {
			t.Errorf("GitLab shows nothing of %+v", i)
		}
		known[i.Fingerprint] = true
	}
}

// Goal: what is fetched is a release's program, and only where its checksum is the release's. Method: a folder with an archive, as releases
// have it, by a file address; then with another checksum.
func TestFetch(t *testing.T) {
	program, err := exec.LookPath("vppdrill")
	if err != nil {
		t.Fatal(err)
	}
	releases := t.TempDir()
	script := `set -e
mkdir "$0/v0.1.0"; cd "$0/v0.1.0"
printf '#!/bin/sh\nexec %s "$@"\n' "$1" > vppdrill; chmod +x vppdrill
tar -czf "$2" vppdrill; rm vppdrill
sha256sum "$2" > checksums.txt`
	archive := "vppdrill_0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	if out, err := exec.Command("bash", "-c", script, releases, program, archive).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	r := runner{t: t, root: root}
	env := []string{"RELEASES=file://" + releases, "VERSION=v0.1.0", "RUNNER_TEMP=" + t.TempDir(), "STEP=" + filepath.Join(root, ".ci/step")}
	fetch := `bash "$STEP" fetch | grep "^vppdrill "`
	if code := r.shell(fetch, env); code != "0" {
		t.Errorf("a release is fetched with code %s", code)
	}
	if err := os.WriteFile(filepath.Join(releases, "v0.1.0", "checksums.txt"), []byte(strings.Repeat("0", 64)+"  "+archive+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code := r.shell(`bash "$STEP" fetch`, env); code != "3" {
		t.Errorf("what has another checksum ends with code %s, want 3", code)
	}
}

// runner does what a build server's runner does with shell steps.
type runner struct {
	t      *testing.T
	root   string
	inputs map[string]string
	// steps are the outputs of the action's steps, as id.output.
	steps map[string]string
}

type actionFile struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Steps []struct {
			ID, Shell, Run, Uses, If string
			Env                      map[string]string
		}
	}
}

var expression = regexp.MustCompile(`\$\{\{ *(inputs|steps)\.([a-z-]+)(?:\.outputs\.([a-z]+))? *\}\}`)

// action runs the steps of an action that have a shell, in their order, until one fails; the code is the last one's.
func (r *runner) action(name string) (code, summary string) {
	r.t.Helper()
	var a actionFile
	r.read(name, &a)
	r.steps = map[string]string{}
	for _, s := range a.Runs.Steps {
		if s.Uses != "" {
			continue // of another repository
		}
		output, page := filepath.Join(r.t.TempDir(), "output"), filepath.Join(r.t.TempDir(), "summary")
		env := []string{"GITHUB_ACTION_PATH=" + r.root, "GITHUB_OUTPUT=" + output, "GITHUB_STEP_SUMMARY=" + page}
		for key, value := range s.Env {
			env = append(env, key+"="+expression.ReplaceAllStringFunc(value, func(text string) string {
				m := expression.FindStringSubmatch(text)
				if m[1] == "steps" {
					return r.steps[m[2]+"."+m[3]]
				}
				if given, ok := r.inputs[m[2]]; ok {
					return given
				}
				if _, ok := a.Inputs[m[2]]; !ok {
					r.t.Errorf("%s names no input", text)
				}
				return a.Inputs[m[2]].Default
			}))
		}
		code = r.shell(s.Run, env)
		text, _ := os.ReadFile(output) // not every step has outputs
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			r.steps[s.ID+"."+key] = value
		}
		text, _ = os.ReadFile(page) // nor a summary
		summary += string(text)
		if code != "0" {
			return code, summary
		}
	}
	return code, summary
}

// gitlab runs the template's job, with the step's script from this folder, and gives the files of its reports.
func (r *runner) gitlab(name, program string) (code string, reports map[string]string) {
	r.t.Helper()
	var jobs map[string]struct {
		Variables map[string]string
		Script    []string
		Artifacts struct{ Reports map[string]string }
	}
	r.read(name, &jobs)
	job := jobs[".vppdrill"]
	job.Variables["VPPDRILL_STEP"] = "file://" + filepath.Join(r.root, ".ci/step")
	job.Variables["VPPDRILL_PROGRAM"], job.Variables["VPPDRILL_COMMAND"], job.Variables["VPPDRILL_ARGS"] = program, r.inputs["command"], r.inputs["args"]
	var env []string
	for key, value := range job.Variables {
		env = append(env, key+"="+value)
	}
	return r.shell(strings.Join(job.Script, "\n"), env), job.Artifacts.Reports
}

// shell runs a step as runners do, and gives its exit code.
func (r *runner) shell(script string, env []string) string {
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	r.t.Logf("%s\n%s", script, out)
	if cmd.ProcessState == nil {
		r.t.Fatal(err)
	}
	return fmt.Sprint(cmd.ProcessState.ExitCode())
}

func (r *runner) read(name string, into any) {
	r.t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}
