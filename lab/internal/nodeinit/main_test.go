package nodeinit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/fabric"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// initWord makes the test binary the first process of a node.
const initWord = "test-node-init"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == initWord {
		if err := Main(context.Background(), os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// eventually waits for something that is bound to happen.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// node starts an init in a namespace of its own and returns its socket and its number.
func node(t *testing.T) (socket string, pid int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: network namespaces")
	}
	socket = filepath.Join(t.TempDir(), SocketFile)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, initWord, socket)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("needs the capability SYS_ADMIN: network namespaces")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it runs until then
		_ = cmd.Wait()         // it was killed
	})
	eventually(t, "the init takes orders", func() bool { return Ready(socket) })
	return socket, cmd.Process.Pid
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// Goal: programs start, print, end by Kill, by Stop and by themselves, and each end is told. Method: real programs.
func TestPrograms(t *testing.T) {
	socket, _ := node(t)
	out := filepath.Join(t.TempDir(), "out")
	start := func(argv ...string) *Process {
		t.Helper()
		p, err := Start(context.Background(), socket, Order{Program: &Program{Argv: argv, Env: []string{"WORD=said"}, Output: out}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	<-start("sh", "-c", "echo $WORD").Done()
	if text, err := os.ReadFile(out); err != nil || string(text) != "said\n" {
		t.Errorf("it printed %q, %v", text, err)
	}
	for name, end := range map[string]func(*Process){"kill": (*Process).Kill, "stop": (*Process).Stop} {
		p := start("sleep", "600")
		if !alive(p.PID()) {
			t.Errorf("%s: process %d does not run", name, p.PID())
		}
		end(p)
		if alive(p.PID()) {
			t.Errorf("%s returned before process %d was gone", name, p.PID())
		}
		end(p) // what is gone is gone
	}
	if _, err := Start(context.Background(), socket, Order{Program: &Program{Argv: []string{"/no/such/program"}}}); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("a program that is not there: %v", err)
	}
	if _, err := Start(context.Background(), socket, Order{Program: &Program{}}); err == nil {
		t.Error("a program without a name was started")
	}
	if _, err := Send(context.Background(), socket, Order{}); err == nil {
		t.Error("an empty order was carried out")
	}
}

// Goal: what a lab has kept outlives the lab, and what it has not does not. Method: connections that break.
func TestBrokenConnections(t *testing.T) {
	socket, _ := node(t)
	kept, err := Start(context.Background(), socket, Order{Program: &Program{Argv: []string{"sleep", "600"}}})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte(`{"Program":{"Argv":["sleep","601"]}}`)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 100)
	n, err := conn.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	if _, err := fmt.Sscanf(string(answer[:n]), `{"PID":%d}`, &lost); err != nil || !alive(lost) {
		t.Fatalf("answer %q: %v", answer[:n], err)
	}
	_ = conn.Close() // that is the point
	eventually(t, "an order that was broken off leaves nothing", func() bool { return !alive(lost) })
	_ = kept.talk.conn.Close() // as a lab's end does
	if !alive(kept.PID()) {
		t.Error("a process that was kept went with its lab")
	}
	if err := (spawn.ID{PID: kept.PID()}).Kill(); err != nil {
		t.Error(err)
	}
	_ = syscall.Kill(kept.PID(), syscall.SIGKILL) // the test's own
}

// Goal: a VPP that cannot run is told as what it is. Method: a binary that is none.
func TestNoVPP(t *testing.T) {
	socket, _ := node(t)
	_, err := Start(context.Background(), socket, Order{VPP: &vppproc.Config{Binary: "/bin/false", Dir: t.TempDir()}})
	if !errors.Is(err, vppproc.ErrCannotRun) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

// Goal: pods' namespaces come and go, none twice, none outside their folder.
func TestPods(t *testing.T) {
	socket, _ := node(t)
	name := fmt.Sprintf("vdc-test-%d", os.Getpid())
	send := func(o Order) (Answer, error) { return Send(context.Background(), socket, o) }
	a, err := send(Order{Pod: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = removePod(a.Path) }) // gone unless the test failed
	var flags string
	if err := spawn.Inside(a.Path, func() error {
		lo, err := net.InterfaceByName("lo")
		if err == nil {
			flags = lo.Flags.String()
		}
		return err
	}); err != nil || !strings.Contains(flags, "up") {
		t.Errorf("loopback is %q, %v", flags, err)
	}
	if _, err := send(Order{Pod: name}); err == nil {
		t.Error("a pod was made twice")
	}
	for range 2 {
		if _, err := send(Order{PodGone: a.Path}); err != nil {
			t.Errorf("end of a pod: %v", err)
		}
	}
	if _, err := os.Lstat(a.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its name is still there: %v", err)
	}
	for _, bad := range []string{"..", "a/b"} {
		if _, err := send(Order{Pod: bad}); err == nil {
			t.Errorf("pod %q was made", bad)
		}
	}
	for _, bad := range []string{"/etc/passwd", fabric.Folder + "/..", fabric.Folder + "/.", fabric.Folder, fabric.Folder + "/a/../b"} {
		if _, err := send(Order{PodGone: bad}); err == nil {
			t.Errorf("%s was taken for a pod", bad)
		}
	}
}

// Goal: no thread of the init stays in a pod's namespace, which would outlive the pod with all its links. Method: many
// pods at once, so that the process's first thread, which never ends, makes some of them.
func TestPodsKeepNoThread(t *testing.T) {
	socket, pid := node(t)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			a, err := Send(context.Background(), socket, Order{Pod: fmt.Sprintf("vdc-test-%d-%d", os.Getpid(), i)})
			if err == nil {
				_, err = Send(context.Background(), socket, Order{PodGone: a.Path})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	eventually(t, "all threads are in the node's namespace", func() bool {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/ns/net", pid))
		if err != nil {
			t.Fatal(err)
		}
		spaces := map[string]bool{}
		for _, task := range tasks {
			if space, err := os.Readlink(task); err == nil {
				spaces[space] = true
			}
		}
		return len(spaces) == 1
	})
}

// Goal: orphans are waited for. Method: a program that leaves a child behind, which ends.
func TestOrphans(t *testing.T) {
	socket, pid := node(t)
	out := filepath.Join(t.TempDir(), "out")
	p, err := Start(context.Background(), socket, Order{Program: &Program{Argv: []string{"sh", "-c", "sleep 0.2 & echo $!"}, Output: out}})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	orphan := 0
	text, err := os.ReadFile(out)
	if _, bad := fmt.Sscan(string(text), &orphan); err != nil || bad != nil {
		t.Fatalf("%q: %v, %v", text, err, bad)
	}
	eventually(t, fmt.Sprintf("orphan %d of init %d is waited for", orphan, pid), func() bool { return !alive(orphan) })
}
