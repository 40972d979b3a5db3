package cmd

import (
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/vppdrill/vppdrill/fixtures/kubernetes"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// Goal: a controller shows that it is alive and whether it leads for as long as it runs; where another one shows itself
// it does not begin, and one line says what to do. Method: one at a socket, before a server that knows no lease, and
// another at the same.
func TestControllerShowsItself(t *testing.T) {
	socket := filepath.Join(shortDir(t), "rest.sock")
	args := []string{"controller", "--cluster-cidr", "10.0.0.0/16", "--kubeconfig", cluster(t, "vppdrill-node-ipam", ""), "--rest", "unix:" + socket}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}, DisableKeepAlives: true}}
	get := func(path string) (int, string) {
		resp, err := client.Get("http://controller" + path)
		if err != nil {
			return 0, err.Error()
		}
		defer func() { _ = resp.Body.Close() }() // it was read
		text, err := io.ReadAll(resp.Body)
		must(t, err)
		return resp.StatusCode, string(text)
	}
	ended := make(chan string, 1)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		_, err := commandUntil(ctx, args...)
		_, line := cli.Code(err)
		ended <- line
	}()
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "leads by lease kube-system/vppdrill-node-ipam\n"} {
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			code, text := get(path)
			if code == 200 && text == want {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: %d %q", path, code, text)
			}
		}
	}
	_, err := command(t, args...)
	if code, line := cli.Code(err); code != cli.ExitCannotRun || line != "controller: REST socket "+socket+`: another program listens there; --rest names another address, --rest "" none` {
		t.Errorf("%d %q", code, line)
	}
	stop()
	if line := <-ended; line != "" {
		t.Errorf("it ends with %q", line)
	}
	_, err = command(t, append(args, "--rest", "0.0.0.0:9998")...)
	if code, line := cli.Code(err); code != cli.ExitUsage || !strings.HasPrefix(line, `controller: --rest: "0.0.0.0:9998": there is no authentication`) {
		t.Errorf("%d %q", code, line)
	}
}

// Goal: the Deployment's probes ask where controllers show themselves by default, at a port that no two of its pods
// have on one node, before, during and after they are exchanged. Method: the manifest beside the flag's default.
func TestControllerDeployment(t *testing.T) {
	text, err := fs.ReadFile(kubernetes.Files, "controller/controller.yaml")
	must(t, err)
	type probe struct {
		HTTPGet struct{ Host, Path, Port string }
	}
	var d struct {
		Spec struct {
			Strategy struct {
				RollingUpdate struct{ MaxSurge, MaxUnavailable int }
			}
			Template struct {
				Spec struct {
					HostNetwork bool
					Containers  []struct {
						Ports []struct {
							Name          string
							ContainerPort int
						}
						ReadinessProbe, LivenessProbe probe
					}
				}
			}
		}
	}
	must(t, yaml.Unmarshal(text, &d))
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	if len(c.Ports) != 1 || !pod.HostNetwork {
		t.Fatalf("ports %v, on the host's network %t", c.Ports, pod.HostNetwork)
	}
	for p, path := range map[probe]string{c.ReadinessProbe: "/readyz", c.LivenessProbe: "/healthz"} {
		if at := net.JoinHostPort(p.HTTPGet.Host, strconv.Itoa(c.Ports[0].ContainerPort)); at != defaultControllerREST || p.HTTPGet.Path != path || p.HTTPGet.Port != c.Ports[0].Name {
			t.Errorf("%+v asks at %s, controllers answer at %s", p, at, defaultControllerREST)
		}
	}
	if r := d.Spec.Strategy.RollingUpdate; r.MaxSurge != 0 || r.MaxUnavailable != 1 {
		t.Errorf("a pod that has to end before the next begins: %+v", r)
	}
}
