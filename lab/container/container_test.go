package container_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/container"
	"github.com/vppdrill/vppdrill/lab/internal/image"
	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/lab/internal/nodeinit"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Words that make the test binary something else: an agent, a node's first process, a lab's owner, a look for an
// engine.
const (
	agentWord = "test-node-agent"
	initWord  = "test-node-init"
	ownerWord = "test-owner"
	checkWord = "test-check"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		ctx := context.Background()
		does := map[string]func() error{
			agentWord: func() error { return nodeagent.Main(ctx, os.Args[2]) },
			initWord:  func() error { return nodeinit.Main(ctx, os.Args[2]) },
			ownerWord: func() error { return own(ctx, os.Args[2]) },
			checkWord: func() error { return (container.Backend{}).Check(ctx) },
		}
		if do := does[os.Args[1]]; do != nil {
			if err := do(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	code := m.Run()
	if made.name != "" {
		if e, err := testcontainers.NewDockerClientWithOpts(context.Background()); err == nil {
			// an image that stays does no harm
			_, _ = e.ImageRemove(context.Background(), made.name, client.ImageRemoveOptions{PruneChildren: true})
		}
	}
	os.Exit(code)
}

// made is the image of all tests, made by the first that needs one.
var made struct {
	once sync.Once
	name string
	err  error
}

// backend is one whose nodes are made of this machine's VPP and this test binary. A test is skipped by name where there
// is no engine or no VPP.
func backend(t *testing.T) container.Backend {
	t.Helper()
	vpp, err := vppproc.Find("")
	if err != nil {
		t.Skip("needs VPP: " + err.Error())
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := container.Backend{Image: fmt.Sprintf("vppdrill/test:%d", os.Getpid()), Init: []string{self, initWord}}
	if err := b.Check(context.Background()); errors.Is(err, lab.ErrCannotRun) && !strings.Contains(err.Error(), "needs the image") {
		t.Skip(err.Error())
	}
	made.once.Do(func() {
		var c *image.Contents
		if c, made.err = image.Collect(context.Background(), image.Source{VPP: vpp, Program: self, ProgramPath: container.Program}); made.err != nil {
			return
		}
		var got container.Image
		if got, made.err = b.Import(context.Background(), b.Image, c, vpp); made.err == nil {
			made.name = got.Name
			t.Logf("%+v", got)
		}
	})
	if made.err != nil {
		t.Fatal(made.err)
	}
	return b
}

// left is everything of a lab that is still there.
func left(t *testing.T, id string) []string {
	t.Helper()
	e, err := testcontainers.NewDockerClientWithOpts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }() // reading only
	list, err := e.ContainerList(context.Background(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", "vppdrill.lab="+id)})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range list.Items {
		out = append(out, c.Names...)
	}
	spaces, err := filepath.Glob("/run/netns/vdc-" + id + "-*")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, spaces...)
}

func options(b container.Backend, root, id string) lab.Options {
	return lab.Options{Backend: b, Agent: []string{b.Init[0], agentWord}, Root: root, ID: id, TimeScale: 10, RunOptions: lab.RunOptions{Laws: check.All()}}
}

const story = `# Whatever can be switched off in a container is, and comes back.
name: in-containers
topology: {nodes: 2, podsPerNode: 2}
timeline:
  - {when: settled, do: restart-vpp, node: node-1}
  - {when: settled, do: restart-agent, node: node-2}
  - {when: settled, do: reboot-node, node: node-2}
  - {when: settled, do: change-cidr, podSubnetCIDR: 10.3.0.0/16}
  - {when: settled, do: create-pods, node: node-1, count: 1}
`

// Goal: a lab of containers does what every lab does, all laws hold on it, and nothing is left. Method: a scenario that
// restarts each of the things that a container makes different.
func TestLab(t *testing.T) {
	b := backend(t)
	s, err := scenarios.Parse("test.yaml", []byte(story))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	t.Setenv("VPPDRILL_EVIDENCE", filepath.Join(root, "evidence"))
	o := options(b, root+"/labs", "tlab")
	if testing.Verbose() {
		o.Events = func(_ int64, _ time.Duration, line []byte) { t.Logf("%s", line) }
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	r, err := lab.Run(ctx, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != result.Pass {
		t.Errorf("%s: %s", r.Verdict, r.Error)
	}
	if l := left(t, "tlab"); len(l) > 0 {
		t.Errorf("left: %v", l)
	}
}

// own makes a lab and waits for its end.
func own(ctx context.Context, root string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s, err := scenarios.Parse("test.yaml", []byte("# One node.\nname: one\ntopology: {nodes: 1, podsPerNode: 1}\n"))
	if err != nil {
		return err
	}
	b := container.Backend{Image: os.Getenv("TEST_IMAGE"), Init: []string{self, initWord}}
	if _, err := lab.New(ctx, s, options(b, root, "towner")); err != nil {
		return err
	}
	fmt.Println("stands")
	select {}
}

// Goal: what a killed lab has left is found and removed, and a living one, of this folder or another, is left
// alone. Method: an owner that dies by signal 9.
func TestCensus(t *testing.T) {
	b := backend(t)
	root := t.TempDir()
	cmd := exec.Command(b.Init[0], ownerWord, root)
	cmd.Env, cmd.Stderr = append(os.Environ(), "TEST_IMAGE="+b.Image), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Sweep("towner", "") }) // gone unless the test failed
	if n, err := out.Read(make([]byte, 10)); err != nil || n == 0 {
		t.Fatalf("the owner: %v, %v", err, cmd.Wait())
	}
	for _, other := range []string{root, t.TempDir()} {
		if gone, err := lab.Census(other, b); err != nil || len(gone) > 0 {
			t.Errorf("of a living lab, %v was removed, %v", gone, err)
		}
	}
	if l := left(t, "towner"); len(l) < 2 {
		t.Errorf("of a living lab, only %v is there", l)
	}
	if _, err := os.Stat(b.NodePath("towner", "node-1")); err != nil {
		t.Errorf("the namespace of a node: %v", err)
	}
	if _, err := os.Stat(b.NodePath("towner", "node-2")); err == nil {
		t.Error("a node that is not there has a namespace")
	}
	_ = cmd.Process.Kill() // it runs
	_ = cmd.Wait()         // it was killed
	if gone, err := lab.Census(t.TempDir(), b); err != nil || len(gone) > 0 {
		t.Errorf("the lab of another folder: %v was removed, %v", gone, err)
	}
	if gone, err := lab.Census(root, b); err != nil || len(gone) != 1 || gone[0] != "towner" {
		t.Errorf("census removed %v, %v", gone, err)
	}
	if l := left(t, "towner"); len(l) > 0 {
		t.Errorf("left: %v", l)
	}
}

// Goal: a machine without an engine is told in one line as what it is. Method: an engine's address where there is none.
func TestNoEngine(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: what is asked for first")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, checkWord, "x")
	cmd.Env = append(os.Environ(), "DOCKER_HOST=unix://"+t.TempDir()+"/no.sock", "HOME="+t.TempDir())
	text, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(text), "world container needs a Docker engine: ") || !strings.Contains(string(text), "no.sock, which DOCKER_HOST names") || strings.Count(string(text), "\n") != 1 {
		t.Errorf("%v: %s", err, text)
	}
}

// Goal: an image that is missing, or that cannot be a node, is told in one line, and names nothing.
func TestBadImages(t *testing.T) {
	b := backend(t)
	ctx := context.Background()
	missing := container.Backend{Image: "vppdrill/no-such-image:1"}
	if err := missing.Check(ctx); !errors.Is(err, lab.ErrCannotRun) || !strings.Contains(err.Error(), "lab image --from-host") {
		t.Errorf("an image that is not there: %v", err)
	}
	empty := &image.Contents{Texts: map[string]string{"/etc/motd": "nothing\n"}}
	if _, err := b.Import(ctx, "vppdrill/test-empty:1", empty, "/usr/bin/vpp"); !errors.Is(err, lab.ErrCannotRun) || bytes.ContainsRune([]byte(err.Error()), '\n') {
		t.Errorf("an image of nothing: %v", err)
	}
	if err := (container.Backend{Image: "vppdrill/test-empty:1"}).Check(ctx); err == nil {
		t.Error("the name of a useless image was given")
	}
}
