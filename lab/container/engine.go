package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Labels of everything that a lab makes. labelOwner is the identity of the process that the lab lives as long as.
const (
	labelLab   = "vppdrill.lab"
	labelDir   = "vppdrill.lab.dir"
	labelOwner = "vppdrill.lab.owner"
	labelNode  = "vppdrill.node"
)

// labels are those of one of a lab's containers.
func labels(id, dir, node string) map[string]string {
	return map[string]string{labelLab: id, labelDir: dir, labelOwner: spawn.Self().String(), labelNode: node}
}

// answerTime is how long an engine may take to say that it is there.
const answerTime = 5 * time.Second

// quiet makes testcontainers say nothing and start nothing of its own.
var quiet = sync.OnceFunc(func() {
	// Its reaper is an image of a registry, and labs are cleaned up by their labels. It is read once, from the environment
	// only.
	_ = os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true") // it fails for names that are none
	log.SetDefault(log.NewNoopLogger())
})

// engine speaks to Docker.
type engine struct{ *testcontainers.DockerClient }

// connect returns an engine that answers; it is ErrCannotRun when there is none.
func connect(ctx context.Context) (engine, error) {
	quiet()
	if _, err := lab.Docker(ctx); err != nil {
		return engine{}, lab.Cannot("world container needs a Docker engine: %s", err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if err := answers(ctx); err != nil {
		return engine{}, err
	}
	c, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return engine{}, lab.Cannot("no Docker engine: %s", lastOf(err))
	}
	if _, err := c.Ping(ctx, client.PingOptions{}); err != nil {
		return engine{}, errors.Join(lab.Cannot("no Docker engine answers at %s: %s", c.DaemonHost(), lastOf(err)), c.Close())
	}
	return engine{c}, nil
}

// answers tries the engine that DOCKER_HOST names: testcontainers passes over one that does not answer and takes
// another.
func answers(ctx context.Context) error {
	host := os.Getenv(client.EnvOverrideHost)
	if host == "" {
		return nil
	}
	c, err := client.New(client.FromEnv)
	if err != nil {
		return lab.Cannot("no Docker engine: %s=%s: %s", client.EnvOverrideHost, host, lastOf(err))
	}
	if _, err = c.Ping(ctx, client.PingOptions{}); err != nil {
		err = lab.Cannot("no Docker engine answers at %s, which %s names: %s", host, client.EnvOverrideHost, lastOf(err))
	}
	_ = c.Close() // it has answered, or has not
	return err
}

// lastOf is an error's last words: libraries put the long way there before it, some over several lines.
func lastOf(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	parts := strings.Split(lines[len(lines)-1], ": ")
	return parts[len(parts)-1]
}

// has reports whether the engine has an image.
func (e engine) has(ctx context.Context, image string) (bool, error) {
	_, err := e.ImageInspect(ctx, image)
	switch {
	case err == nil:
		return true, nil
	case errdefs.IsNotFound(err):
		return false, nil
	}
	return false, fmt.Errorf("look for image %s: %w", image, err)
}

// ours are the containers of one lab, or of all labs when id is empty; those that do not run too.
func (e engine) ours(ctx context.Context, id string) ([]container.Summary, error) {
	want := labelLab
	if id != "" {
		want += "=" + id
	}
	list, err := e.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", want)})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	return list.Items, nil
}

// removeTime is how long a container may take to go.
const removeTime = 30 * time.Second

// drop removes a container with everything in it and returns when it is gone; one that is not there is fine.
func (e engine) drop(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, removeTime)
	defer cancel()
	for {
		_, err := e.ContainerRemove(ctx, id, client.ContainerRemoveOptions{RemoveVolumes: true, Force: true})
		switch {
		case err == nil, errdefs.IsNotFound(err):
			return nil
		case !errdefs.IsConflict(err) || ctx.Err() != nil:
			return fmt.Errorf("remove container %s: %w", id, err)
		}
		// Somebody else removes it at this moment.
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}
