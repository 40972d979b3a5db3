package parity_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/sim/parity"
	"github.com/vppdrill/vppdrill/sim/vppmodel/socket"
)

// clientMax is how long a client may take that waits for an answer that does not come.
const clientMax = time.Minute

// installed are the places of a VPP's files: where it was built, or where its packages put them.
type installed struct {
	programs, libraries string
	headers             []string
	python, api         string
}

var home = regexp.MustCompile(`(?m)^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$`)

// findClients finds what belongs to a VPP.
func findClients(vpp string) installed {
	root := filepath.Dir(filepath.Dir(vpp))
	in := installed{programs: filepath.Dir(vpp), libraries: filepath.Join(root, "lib", "x86_64-linux-gnu"), headers: []string{"/usr/include"}, api: "/usr/share/vpp/api"}
	cache, err := os.ReadFile(filepath.Join(root, "CMakeCache.txt"))
	if err != nil {
		return in
	}
	if m := home.FindSubmatch(cache); m != nil {
		source, made := string(m[1]), filepath.Join(root, "CMakeFiles")
		in.headers = []string{source, filepath.Join(source, "vpp-api"), made, filepath.Join(made, "vpp-api")}
		in.python, in.api = filepath.Join(source, "vpp-api", "python"), made
	}
	return in
}

// Goal: clients that others wrote take the model for a VPP: VPP's test client, its C library and its Python client, none of which share
// code with govpp. Method: each runs against a real VPP and against the model, and prints the same.
func TestClients(t *testing.T) {
	vpp := realVPP(t)
	in := findClients(vpp)
	for name, prepare := range map[string]func(*testing.T, installed) func(string) *exec.Cmd{"vpp_api_test": vatClient, "vapi": cClient, "vpp_papi": pythonClient} {
		t.Run(name, func(t *testing.T) {
			client := prepare(t, in)
			api, _, stop, err := parity.StartVPP(context.Background(), vpp)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			want := say(t, client(api))
			if strings.Count(want, "\n") < 3 {
				t.Fatalf("the client has little to say to a real VPP: %q", want)
			}
			if got := say(t, client(socket.Start(t))); got != want {
				t.Errorf("to VPP:\n%s\nto the model:\n%s", want, got)
			}
		})
	}
}

// noise is what a client prints of itself and its prompts, whose number depends on time.
var noise = regexp.MustCompile(`(?m)^load_one_plugin:.*\n|^\S+\(\d+\): |^vat# |^\n`)

// say runs a client and returns what it prints.
func say(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(clientMax, func() { _ = c.Process.Kill() })
	defer late.Stop()
	if err := c.Wait(); err != nil {
		t.Fatalf("%s: %v\n%s%s", c, err, out.String(), said.String())
	}
	return noise.ReplaceAllString(out.String(), "")
}

func vatClient(t *testing.T, in installed) func(string) *exec.Cmd {
	program := filepath.Join(in.programs, "vpp_api_test")
	if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
		t.Skip("needs VPP's test client: " + program)
	}
	return func(path string) *exec.Cmd {
		return exec.Command(program, "socket-name", path, "in", "testdata/clients/vat.txt")
	}
}

func cClient(t *testing.T, in installed) func(string) *exec.Cmd {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs a C compiler: " + err.Error())
	}
	if found, _ := filepath.Glob(filepath.Join(in.libraries, "libvapiclient.so")); found == nil {
		t.Skip("needs VPP's C library: " + in.libraries + "/libvapiclient.so")
	}
	program := filepath.Join(t.TempDir(), "client")
	args := []string{"-w", "-o", program, "testdata/clients/vapi.c", "-L" + in.libraries, "-Wl,-rpath," + in.libraries}
	for _, h := range in.headers {
		args = append(args, "-I"+h)
	}
	args = append(args, "-lvapiclient", "-lvlibmemoryclient", "-lvlibapi", "-lsvm", "-lvppinfra")
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Skipf("needs VPP's C headers: %v\n%s", err, out)
	}
	return func(path string) *exec.Cmd { return exec.Command(program, path) }
}

func pythonClient(t *testing.T, in installed) func(string) *exec.Cmd {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs Python: " + err.Error())
	}
	env := append(os.Environ(), "PYTHONPATH="+in.python, "PYTHONDONTWRITEBYTECODE=1")
	try := exec.Command(python, "-c", "import vpp_papi")
	try.Env = env
	if out, err := try.CombinedOutput(); err != nil {
		t.Skipf("needs VPP's Python client vpp_papi: %v\n%s", err, out)
	}
	return func(path string) *exec.Cmd {
		c := exec.Command(python, "testdata/clients/papi.py", path, in.api)
		c.Env = env
		return c
	}
}
