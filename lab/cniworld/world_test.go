package cniworld_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/cniworld"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline/worldtest"
)

// reference builds the reference plugins from their module, once.
var reference = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "vppdrill-cni-")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-C", "reference", "-o", dir, "tool")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		os.RemoveAll(dir)
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return lines[len(lines)-1], err
	}
	// A tool is named after its folder, and whereabouts' is cmd.
	return dir, os.Rename(filepath.Join(dir, "cmd"), filepath.Join(dir, "whereabouts"))
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := reference(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// plugins is the folder of the reference plugins; the test is skipped by name where they cannot be built or run.
func plugins(t *testing.T) string {
	t.Helper()
	if err := cniworld.Check(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("iptables"); err != nil {
		t.Skip("plugins that masquerade need iptables (Debian's package iptables)")
	}
	dir, err := reference()
	if err != nil {
		t.Skipf("the reference plugins cannot be built from github.com/containernetworking/plugins: %s", dir)
	}
	return dir
}

// chain is a chain of testdata, whose plugins are also looked for in further folders.
func chain(t *testing.T, name string, more ...string) *cniworld.Chain {
	t.Helper()
	c, err := cniworld.Load(filepath.Join("testdata", name+".conflist"), strings.Join(append(more, plugins(t)), ":"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// refused are the verbs that no chain of plugins can do.
const refused = "unregister-node rename-node crash-disk kill-agent restart-agent kill-vpp restart-vpp restart-both pause-agent pause-vpp set-clock change-version stop-store stop-dhcp " +
	"compact-store wipe-store stale-watch gap-watch duplicate-watch add-range remove-range restart-controller lose-leader change-node-address change-management " +
	"change-service remove-service set-ready change-policy remove-policy label-pods label-namespace claim-address partition slow-link inject"

// Goal: the world does every action or says by name and with a reason that it cannot. Method: every action of the
// language with bridge and host-local on three nodes.
func TestEveryAction(t *testing.T) {
	s, err := scenarios.Parse("every-action", []byte(worldtest.Scenario))
	if err != nil {
		t.Fatal(err)
	}
	w, err := cniworld.New(t.Context(), s, cniworld.Options{Chain: chain(t, "bridge"), TimeScale: 10, RunOptions: lab.RunOptions{Options: result.Options{Seed: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	have := map[string]bool{}
	for _, verb := range worldtest.Answers(t, w) {
		have[verb] = true
	}
	for verb := range strings.FieldsSeq(refused) {
		if !have[verb] {
			t.Errorf("%s is not refused", verb)
		}
		delete(have, verb)
	}
	for verb := range have {
		t.Errorf("%s is refused", verb)
	}
}

// vague is what differs from run to run: IDs of containers, hashes of them, links' random names, which of several pods it
// is, and times.
var vague = regexp.MustCompile(`[0-9a-f]{64}|CNI-[A-Z-]*[0-9a-f]{16,}|veth[0-9a-f]{8}|pod default/[a-z0-9-]+ \(sandbox [0-9a-f]+\)|\d+\.\d+m?s|10\.1\.0\.\d+`)

// Goal: what laws say of the reference plugins is written down, what they hold and what they break. Method: golden
// verdicts of short scenarios.
func TestStories(t *testing.T) {
	plugins(t)
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s, err := scenarios.Parse("story.yaml", []byte("# A story.\nname: story\n"+d.Input+"\n"))
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return verdict(t, s, chain(t, d.Cmd))
		})
	})
}

// verdict is what became of a run, without what chance decides.
func verdict(t *testing.T, s *scenarios.Scenario, c *cniworld.Chain) string {
	t.Helper()
	res, err := cniworld.Run(t.Context(), s, cniworld.Options{Chain: c, TimeScale: 4, RunOptions: lab.RunOptions{Laws: check.All(), Options: result.Options{Seed: 1}}})
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	if res.Failure == nil {
		return strings.TrimSpace(string(res.Verdict)+" "+res.Error) + "\n"
	}
	return res.Failure.Law + ": " + vague.ReplaceAllString(res.Failure.What, "*") + "\n"
}

// Goal: each law sees a plugin that breaks it, and an honest one of the same kind breaks none. Method: a script around
// bridge that forgets, repeats or says yes, in one scenario.
func TestPlantedFaults(t *testing.T) {
	const scenario = `# A plugin is wrapped.
name: wrapped
topology: {nodes: 1, podsPerNode: 2}
limits: {settle: 4s}
timeline:
  - {when: settled, do: check-pods, node: node-1}
  - {when: settled, do: delete-pods, all: true}
  - {when: settled, do: create-pods, count: 2, node: node-1}
  - {when: settled, do: break-wiring, what: route, node: node-1}
  - {after: 0s, do: check-pods, node: node-1}
  - {when: settled, do: repeat-del, node: node-1, count: 3}
  - {when: settled, do: delete-pods, all: true}
`
	s, err := scenarios.Parse("wrapped.yaml", []byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(plugins(t), "bridge")
	for _, c := range []struct{ name, script, want string }{
		{"honest", "exec $REAL", "pass"},
		{"forgets DEL", `[ $CNI_COMMAND = DEL ] && [ -e /var/lib/cni/warm ] && exit 0; [ $CNI_COMMAND = DEL ] && touch /var/lib/cni/warm; exec $REAL`, "nothing-stays"},
		{"gives one address twice", `[ $CNI_COMMAND = ADD ] && { exec 9>/var/lib/cni/one; flock 9; rm -rf /var/lib/cni/networks; }; exec $REAL`, "one-owner"},
		{"CHECK says yes", `[ $CNI_COMMAND = CHECK ] && exit 0; exec $REAL`, "check-tells"},
		{"CHECK says no", `[ $CNI_COMMAND = CHECK ] && { echo '{"code": 11, "msg": "no"}'; exit 1; }; exec $REAL`, "check-tells"},
		{"DEL of what is gone fails", `[ $CNI_COMMAND = DEL ] && [ -n "$CNI_NETNS" ] || { [ $CNI_COMMAND = DEL ] && exit 1; }; exec $REAL`, "same-answer"},
		{"DEL never succeeds", `[ $CNI_COMMAND = DEL ] && [ -e /var/lib/cni/warm2 ] && exit 1; [ $CNI_COMMAND = DEL ] && { [ -e /var/lib/cni/warm1 ] && touch /var/lib/cni/warm2; touch /var/lib/cni/warm1; }; exec $REAL`, "settles"},
		{"pods do not reach each other", `$REAL; code=$?; [ $CNI_COMMAND = ADD ] && [ -e /var/lib/cni/warm ] && ip link set cni0 down; [ $CNI_COMMAND = DEL ] && touch /var/lib/cni/warm; exit $code`, "pods-reach-pods"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			text := "#!/bin/sh\nREAL=" + real + "\n" + c.script + "\n"
			if err := os.WriteFile(filepath.Join(dir, "wrapped"), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			s := *s
			if c.want == "one-owner" { // the plugin's book is broken too, and shows it first
				s.Laws = []string{c.want}
			}
			have := verdict(t, &s, chain(t, "wrapped", dir))
			if law, _, _ := strings.Cut(strings.TrimSpace(have), ":"); law != c.want {
				t.Errorf("%s, want %s", have, c.want)
			}
		})
	}
}

// Goal: nothing of a world is left, whatever its end. Method: the namespaces and disks after a run that fails to be built,
// as its plugin does not work.
func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "wrapped"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Parse("one.yaml", []byte("# One.\nname: one\ntopology: {nodes: 2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	have := verdict(t, s, chain(t, "wrapped", dir))
	if !strings.Contains(have, "does not connect a pod even undisturbed") {
		t.Error(have)
	}
	for _, left := range leftover(t) {
		t.Errorf("left: %s", left)
	}
}

// leftover are namespaces and mounts of worlds that are this process's, or nobody's.
func leftover(t *testing.T) (list []string) {
	t.Helper()
	spaces, err := filepath.Glob("/run/netns/vdcni-*")
	if err != nil {
		t.Fatal(err)
	}
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`vdcni-(c[a-z0-9]+)-|/run/vppdrill/cni/(c[a-z0-9]+)/`)
	for _, text := range append(spaces, strings.Split(string(mounts), "\n")...) {
		m := id.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		owner, err := os.ReadFile(filepath.Join("/run/vppdrill/cni", m[1]+m[2], "owner"))
		pid, _, _ := strings.Cut(string(owner), " ")
		if err != nil || pid == strconv.Itoa(os.Getpid()) {
			list = append(list, text)
		}
	}
	return list
}
