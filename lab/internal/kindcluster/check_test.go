package kindcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/exec"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/image"
)

// fakeEngine answers what of Docker's API is asked before a cluster is made. Whatever else is asked fails its test.
type fakeEngine struct {
	images     map[string]string            // architecture by name
	networks   map[string]map[string]string // labels by name
	containers map[string]string            // kind cluster by name
	program    string                       // that of images; empty: none
}

// serve has the engine answer on the socket that DOCKER_HOST names.
func (f fakeEngine) serve(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "docker.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		path := r.URL.Path
		if i := strings.Index(path[1:], "/"); strings.HasPrefix(path, "/v1.") {
			path = path[1+i:]
		}
		answer, known := f.answer(path, r)
		if !known {
			w.WriteHeader(http.StatusNotFound)
			answer = map[string]string{"message": "no such thing: " + path}
		}
		_ = json.NewEncoder(w).Encode(answer) // who is gone has no use for it
	}))
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	t.Setenv("DOCKER_HOST", "unix://"+socket)
}

func (f fakeEngine) answer(path string, r *http.Request) (any, bool) {
	switch {
	case path == "/_ping":
		return "OK", true
	case path == "/version":
		return map[string]string{"Version": "20.10.24", "ApiVersion": "1.41"}, true
	case path == "/networks":
		var list []map[string]any
		for name, labels := range f.networks { // in any order, as an engine's
			if labels[labelCluster] != "" {
				list = append(list, map[string]any{"Name": name, "Labels": labels})
			}
		}
		return list, true
	case path == "/containers/json":
		list := []map[string]any{}
		for name, cluster := range f.containers { // in any order, as an engine's
			if strings.Contains(r.URL.Query().Get("filters"), labelKind+"="+cluster+`"`) {
				list = append(list, map[string]any{"Id": name, "Names": []string{"/" + name}})
			}
		}
		return list, true
	}
	if name, ok := strings.CutPrefix(path, "/networks/"); ok {
		labels, there := f.networks[name]
		return map[string]any{"Name": name, "Labels": labels}, there
	}
	if name, ok := strings.CutPrefix(path, "/images/"); ok {
		architecture, there := f.images[strings.TrimSuffix(name, "/json")]
		config := map[string]any{"Labels": map[string]string{image.LabelProgram: f.program}}
		return map[string]any{"Id": "sha256:1", "Architecture": architecture, "Config": config}, there
	}
	return nil, false
}

// Goal: what a machine lacks for a cluster, or has that is not lab up's to change, is one line that says what mends it,
// and a reason not to begin; Up asks for nothing else before it knows. Method: an engine that holds each of these.
func TestUpDoesNotBegin(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	const vpp, node = "vppdrill/vpp:1", "podnode:1"
	both := map[string]string{vpp: runtime.GOARCH, node: runtime.GOARCH}
	for what, c := range map[string]struct {
		engine fakeEngine
		want   string
	}{
		"no VPP image":             {fakeEngine{images: map[string]string{node: runtime.GOARCH}}, "`vppdrill lab image --from-host` makes one of this machine's VPP"},
		"no node image":            {fakeEngine{images: map[string]string{vpp: runtime.GOARCH}}, "there is no node image podnode:1; docker pull podnode:1, or"},
		"VPP of another machine":   {fakeEngine{images: map[string]string{vpp: "s390x", node: runtime.GOARCH}}, "image vppdrill/vpp:1 is for s390x, and this machine is " + runtime.GOARCH + "; `vppdrill lab image"},
		"node of another machine":  {fakeEngine{images: map[string]string{vpp: runtime.GOARCH, node: "s390x"}}, "node image podnode:1 is for s390x, and this machine is " + runtime.GOARCH + "; docker pull --platform linux/"},
		"VPP beside another build": {fakeEngine{images: both, program: "another"}, "image vppdrill/vpp:1 holds another build of vppdrill than this one; `vppdrill lab image --from-host` makes"},
		"a cluster of somebody's":  {fakeEngine{images: both, containers: map[string]string{"vppdrill-x-control-plane": "vppdrill-x"}}, "`kind delete cluster --name vppdrill-x` ends it, or take another name by --lab"},
		"a network of somebody's":  {fakeEngine{images: both, networks: map[string]map[string]string{"vppdrill-x": nil}}, "`docker network rm vppdrill-x` removes it, or"},
		"a cluster of other labs":  {fakeEngine{images: both, networks: map[string]map[string]string{"vppdrill-x": {labelCluster: "x", labelDir: other}}}, "of the labs in " + other + "; `vppdrill lab down --labs " + other + " x` ends it"},
		"a cluster of IPv6": {fakeEngine{images: both, networks: map[string]map[string]string{"vppdrill-x": {labelCluster: "x", labelDir: dir, labelFamily: "ipv6"}}},
			"cluster vppdrill-x stands with IP family ipv6, and a cluster's is never changed; `vppdrill lab down x` ends it"},
	} {
		t.Run(what, func(t *testing.T) {
			c.engine.serve(t)
			_, err := Up(t.Context(), Options{ID: "x", Nodes: 2, NodeImage: node, VPPImage: vpp, Program: os.Args[0], Dir: dir})
			if !lab.IsCannotRun(err) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || HalfMade(err) || errors.Is(err, ErrStands) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
	fakeEngine{images: map[string]string{node: runtime.GOARCH}}.serve(t)
	if err := Check(t.Context(), Options{ID: "x", NodeImage: node, Dir: dir}); err != nil {
		t.Errorf("without an image that is to be made: %v", err)
	}
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(dir, "none"))
	if _, err := Up(t.Context(), Options{ID: "x", Nodes: 2, VPPImage: vpp, Dir: dir}); !lab.IsCannotRun(err) || !strings.Contains(err.Error(), "world kind needs a Docker engine: ") || HalfMade(err) {
		t.Errorf("without an engine: %v", err)
	}
}

// Goal: a folder of labs is the same one by whatever path it is named, from whatever folder. Method: a cluster that was
// made under the absolute path, and the folder's other names.
func TestFoldersByAnyName(t *testing.T) {
	top := t.TempDir()
	t.Chdir(top)
	dir := filepath.Join(top, "labs")
	for _, err := range []error{os.MkdirAll(filepath.Join(top, "others"), 0o755), os.Mkdir(dir, 0o755), os.Symlink("labs", filepath.Join(top, "link")),
		os.WriteFile(Kubeconfig(dir, "x"), nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	fakeEngine{networks: map[string]map[string]string{"vppdrill-x": {labelCluster: "x", labelDir: dir}}}.serve(t)
	for name, want := range map[string][]string{dir: {"x"}, "labs": {"x"}, "./labs/": {"x"}, "link": {"x"}, "others": nil, "missing": nil} {
		ids, strays, err := List(t.Context(), name)
		if err != nil || !slices.Equal(ids, want) || len(strays) > 0 {
			t.Errorf("%s: %v, strays %v, %v, want %v", name, ids, strays, err, want)
		}
	}
}

// deafNode is a control plane whose kubectl reaches no API server, or one that refuses what is asked of it.
type deafNode struct {
	nodes.Node
	deaf bool
}

func (deafNode) String() string { return "vppdrill-x-control-plane" }

// CommandContext implements nodes.Node.
func (n deafNode) CommandContext(_ context.Context, _ string, args ...string) exec.Cmd {
	return &deafCmd{fails: n.deaf || !slices.Contains(args, "--raw=/livez"), bounded: slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "timeout=") })}
}

type deafCmd struct {
	exec.Cmd
	fails, bounded bool
	said           io.Writer
}

func (c *deafCmd) SetStdout(io.Writer) exec.Cmd   { return c }
func (c *deafCmd) SetStderr(w io.Writer) exec.Cmd { c.said = w; return c }

// Run implements exec.Cmd.
func (c *deafCmd) Run() error {
	switch {
	case !c.bounded:
		return errors.New("it would wait for ever")
	case c.fails:
		fmt.Fprintln(c.said, "The connection to the server was refused")
		return errors.New("exit status 1")
	}
	return nil
}

// Goal: an API server that goes away while a cluster is made or changed is told as that, with what mends it, in one
// line; what stood before is left alone, what was made is to be removed; every request is bounded. Method: a control
// plane whose kubectl fails as it does then.
func TestServerGoneMidway(t *testing.T) {
	for _, c := range []struct {
		deaf, stood bool
		want        string
	}{
		{true, true, "the cluster stands as it was: its API server does not answer; docker restart vppdrill-x-control-plane: kubectl apply -k"},
		{true, false, "the API server of cluster vppdrill-x does not answer any more; docker logs vppdrill-x-control-plane says more"},
		{false, true, "the cluster stands as it was: kubectl apply -k manifests: The connection to the server was refused"},
		{false, false, "kubectl apply -k manifests: The connection to the server was refused"},
	} {
		m := &maker{Options: Options{ID: "x"}, control: deafNode{deaf: c.deaf}, stood: c.stood, began: true}
		_, err := m.kubectl(t.Context(), "apply", "-k", "manifests")
		err = m.explain(t.Context(), err)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || lab.IsCannotRun(err) != c.deaf || errors.Is(err, ErrStands) != c.stood || HalfMade(err) == c.stood {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
