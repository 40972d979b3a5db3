//go:build linux

package cmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/container"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// TestMain makes the test binary vppdrill, for scripts and for the processes that labs start of themselves, and knock,
// which sends a datagram every few milliseconds to an address.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"vppdrill": func() { os.Exit(vppdrill(os.Args[1:])) },
		"knock":    func() { fmt.Fprintln(os.Stderr, knock(os.Args[1])); os.Exit(1) },
	})
}

// vppdrill is main with the commands of this package alone.
func vppdrill(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{Use: "vppdrill", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(Commands(Build{Version: "test"})...)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	code, line := cli.Code(err)
	if line != "" {
		fmt.Fprintln(os.Stderr, "vppdrill: "+line)
	}
	return code
}

func knock(addr string) error {
	conn, err := net.Dial("udp", net.JoinHostPort(addr, "9"))
	if err != nil {
		return err
	}
	for {
		_, _ = conn.Write([]byte("knock")) // nobody listens, which the answer to the one before says
		time.Sleep(5 * time.Millisecond)
	}
}

// TestScripts goal: what a person types builds labs, shows them from all sides, changes and ends them, whatever their
// nodes are made of, and leaves nothing. Method: scripts, run as processes of their own; world.txtar runs in each
// world.
func TestScripts(t *testing.T) {
	for _, b := range backends() {
		t.Run(b.Name(), func(t *testing.T) {
			image := ""
			switch err := check(t.Context(), b); {
			case b.Name() == "container":
				image = packed(t)
			case err != nil:
				t.Skip(err.Error())
			}
			testscript.Run(t, testscript.Params{
				Dir: filepath.Join("testdata", "scripts"), RequireUniqueNames: true,
				Setup: func(e *testscript.Env) error {
					e.Setenv("WORLD", b.Name())
					e.Setenv("VPPDRILL_LABS", filepath.Join(e.WorkDir, "labs"))
					e.Setenv("VPPDRILL_EVIDENCE", filepath.Join(e.WorkDir, "evidence"))
					e.Setenv(container.Environment, image)
					e.Setenv(vppproc.Environment, os.Getenv(vppproc.Environment))
					if image != "" {
						e.Setenv(vppproc.Environment, "/nowhere/vpp") // images bring theirs along
					}
					e.Defer(func() { tidy(t, filepath.Join(e.WorkDir, "labs")) })
					return nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": exitCode, "addr": podAddress, "orphan": orphan, "gone": gone},
			})
		})
	}
}

// packed is an image of this machine's VPP and this test binary. A test is skipped by name where none can be made.
func packed(t *testing.T) string {
	t.Helper()
	ctx := t.Context()
	contents, vpp, err := collect(ctx, "")
	if err != nil {
		t.Skip("needs VPP to pack: " + err.Error())
	}
	name := fmt.Sprintf("vppdrill/test-cmd:%d", os.Getpid())
	self, err := exec.LookPath("vppdrill") // in the folder that testscript puts before PATH
	if err != nil {
		t.Fatal(err)
	}
	b := container.Backend{Image: name, Init: append([]string{self}, container.InitWords...)}
	if _, err := b.Import(ctx, name, contents, vpp); lab.IsCannotRun(err) {
		t.Skip(err.Error())
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c, err := client.New(client.FromEnv)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := c.ImageRemove(context.Background(), name, client.ImageRemoveOptions{Force: true, PruneChildren: true}); err != nil {
			t.Error(err)
		}
		_ = c.Close() // it has answered
	})
	return name
}

// tidy ends what a script that failed has left.
func tidy(t *testing.T, root string) {
	dirs, err := lab.StateDirs(root)
	for _, h := range dirs {
		err = errors.Join(err, down(context.Background(), h))
	}
	if err != nil {
		t.Error(err)
	}
}

// exitCode is the script command `code N vppdrill …`: it runs a program and wants exactly this exit code.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [arguments]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// only is a script's only lab.
func only(ts *testscript.TestScript) lab.StateDir {
	h, err := lab.Find(ts.Getenv("VPPDRILL_LABS"), "")
	ts.Check(err)
	return h
}

// podAddress is the script command `addr POD VARIABLE`: the variable gets the pod's address, which depends on who was
// first.
func podAddress(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: addr POD VARIABLE")
	}
	nodes, err := nodesOf(only(ts))
	ts.Check(err)
	for _, n := range nodes {
		for _, p := range n.Pods {
			if p.Name == args[0] {
				ts.Setenv(args[1], p.Addr.String())
				return
			}
		}
	}
	ts.Fatalf("no pod %s", args[0])
}

// orphan is the script command that kills the owner of the lab, as nobody should.
func orphan(ts *testscript.TestScript, _ bool, _ []string) {
	id, err := spawn.ParseID(only(ts).Owner)
	ts.Check(err)
	ts.Check(id.Kill())
}

// gone is the script command `gone ID`: nothing of that lab is on this machine, whatever its nodes were made of.
func gone(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: gone ID")
	}
	spaces, err := filepath.Glob("/run/netns/vd*-" + args[0] + "-*")
	ts.Check(err)
	if marked := spawn.Marked(args[0]); len(spaces)+len(marked) > 0 {
		ts.Fatalf("left: %v, processes %v", spaces, marked)
	}
	for _, b := range backends() {
		ids, err := b.Strays()
		ts.Check(err)
		for _, id := range ids {
			if id == args[0] {
				ts.Fatalf("left in world %s", b.Name())
			}
		}
	}
}
