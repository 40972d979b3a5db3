package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/nodeinit"
)

// Program is where this program is in every container.
const Program = "/usr/bin/vppdrill"

// bootTime is how long a container may take from its start until its init takes orders; most of it is the engine's.
const bootTime = 60 * time.Second

// boxSpec is what a container is made of.
type boxSpec struct {
	image, name, hostname string
	// dir is mounted under its own path: orders, sockets and logs are there.
	dir string
	// init is the command line of the first process up to the socket; its program is mounted as Program.
	init   []string
	labels map[string]string
}

// boxName is what a node's container is called.
func boxName(id, node string) string { return "vppdrill-" + id + "-" + node }

func (s boxSpec) socket() string { return filepath.Join(s.dir, nodeinit.SocketFile) }

// request is the container in testcontainers' words. Nodes are privileged: VPP and agents make namespaces, interfaces
// and AF_PACKET sockets. They get no network, the fabric joins them.
func (s boxSpec) request() testcontainers.GenericContainerRequest {
	return testcontainers.GenericContainerRequest{ProviderType: testcontainers.ProviderDocker, ContainerRequest: testcontainers.ContainerRequest{
		Image: s.image, Name: s.name, Labels: s.labels, Env: nodeinit.Environment(),
		Entrypoint: append(append([]string{Program}, s.init[1:]...), s.socket()),
		// Boots begin with an empty /run, as a machine's do: no namespace outlives one.
		Tmpfs:      map[string]string{"/run": "rw,exec,mode=755"},
		WaitingFor: initReady(s.socket()),
		ConfigModifier: func(c *container.Config) {
			c.Hostname = s.hostname
			c.StopSignal = "SIGKILL"
		},
		HostConfigModifier: func(h *container.HostConfig) {
			h.Privileged, h.NetworkMode = true, "none"
			// One number for a process, whoever tells it. The engine kills whatever is left of such a container with its init.
			h.PidMode = "host"
			h.Binds = []string{s.dir + ":" + s.dir, s.init[0] + ":" + Program + ":ro"}
		},
	}}
}

// initReady waits until the init takes orders.
type initReady string

// WaitUntilReady implements wait.Strategy.
func (r initReady) WaitUntilReady(ctx context.Context, target wait.StrategyTarget) error {
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	for i := 1; !nodeinit.Ready(string(r)); i++ {
		if i%50 == 0 {
			if state, err := target.State(ctx); err == nil && !state.Running {
				return errors.New("its first process ended")
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("its first process takes no orders after %s", bootTime)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// box is a container.
type box struct {
	spec   boxSpec
	engine engine
	c      testcontainers.Container
}

// newBox makes a container that does not run.
func newBox(ctx context.Context, e engine, s boxSpec) (*box, error) {
	quiet()
	c, err := testcontainers.GenericContainer(ctx, s.request())
	b := &box{spec: s, engine: e, c: c}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create container %s: %w", s.name, err), b.remove(ctx))
	}
	return b, nil
}

// start boots the container and returns the number of its first process on this machine.
func (b *box) start(ctx context.Context) (pid int, err error) {
	if err := os.Remove(b.spec.socket()); err != nil && !errors.Is(err, os.ErrNotExist) { // of the last boot
		return 0, err
	}
	if err := b.c.Start(ctx); err != nil {
		return 0, fmt.Errorf("start container %s: %w%s", b.spec.name, err, b.lastWords(ctx))
	}
	state, err := b.c.State(ctx)
	if err != nil {
		return 0, fmt.Errorf("look at container %s: %w", b.spec.name, err)
	}
	// A process of that number may be anybody's where the engine is somewhere else.
	if group, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", state.Pid)); err != nil || !strings.Contains(string(group), b.spec.socket()) {
		return 0, lab.Cannot("the Docker engine at %s runs its containers out of this machine's sight", b.engine.DaemonHost())
	}
	return state.Pid, nil
}

// lastWords is the last line that the container printed, for an error; empty when it said nothing.
func (b *box) lastWords(ctx context.Context) string {
	logs, err := b.c.Logs(ctx)
	if err != nil {
		return ""
	}
	defer func() { _ = logs.Close() }() // it has been read
	text, err := io.ReadAll(io.LimitReader(logs, 1<<20))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return ": " + last
	}
	return ""
}

// kill takes the container's power and returns when nothing of it runs; one that does not run is fine.
func (b *box) kill(ctx context.Context) error {
	wait := b.engine.ContainerWait(ctx, b.c.GetContainerID(), client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	_, err := b.engine.ContainerKill(ctx, b.c.GetContainerID(), client.ContainerKillOptions{Signal: "SIGKILL"})
	if err != nil && !errdefs.IsConflict(err) && !errdefs.IsNotFound(err) { // conflict: it does not run
		return fmt.Errorf("kill container %s: %w", b.spec.name, err)
	}
	select {
	case <-wait.Result:
		return nil
	case err := <-wait.Error:
		if errdefs.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("wait for the end of container %s: %w", b.spec.name, err)
	}
}

// remove takes the container away.
func (b *box) remove(ctx context.Context) error {
	if b.c == nil || b.c.GetContainerID() == "" {
		return nil
	}
	return b.engine.drop(ctx, b.c.GetContainerID())
}
