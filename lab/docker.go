package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// dockerSocket is where an engine listens when DOCKER_HOST says nothing.
const dockerSocket = "/var/run/docker.sock"

// dockerTime bounds the wait for an engine that has taken a connection: it answers within milliseconds, also under
// load.
const dockerTime = 5 * time.Second

// NoDocker says what there is instead of a Docker engine that answers, and what mends it.
type NoDocker struct{ Why, Mend string }

func (n NoDocker) Error() string { return n.Why + "; " + n.Mend }

// Docker asks the engine that DOCKER_HOST names, or this machine's, for its version. The error is a NoDocker, which
// tells an engine that is not there from one that does not run, one that refuses this user, and one that hangs.
func Docker(ctx context.Context) (version string, err error) {
	return docker(ctx, os.Getenv("DOCKER_HOST"), dockerSocket, dockerTime, installed)
}

// installed reports whether a Docker engine's program is there.
func installed() bool {
	for _, name := range []string{"dockerd", "/usr/sbin/dockerd", "/usr/bin/dockerd", "/usr/local/bin/dockerd"} {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return false
}

func docker(ctx context.Context, host, socket string, patience time.Duration, installed func() bool) (string, error) {
	network, address, named := "unix", socket, ""
	if kind, at, ok := strings.Cut(host, "://"); ok {
		if address, named = at, ", which DOCKER_HOST names"; kind != "unix" {
			network = "tcp"
		}
	}
	at := address + named
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		switch {
		case errors.Is(err, fs.ErrPermission):
			return "", NoDocker{"Docker's socket " + at + " refuses this user", "sudo, or usermod -aG docker"}
		case errors.Is(err, fs.ErrNotExist) && installed():
			return "", NoDocker{"Docker is installed and does not run: there is no " + at, "systemctl start docker"}
		case errors.Is(err, fs.ErrNotExist):
			return "", NoDocker{"Docker is not installed: there is no " + at, "apt-get install docker.io"}
		case errors.Is(err, syscall.ECONNREFUSED):
			return "", NoDocker{"Docker does not run: nobody listens on " + at, "systemctl start docker"}
		}
		return "", NoDocker{fmt.Sprintf("Docker cannot be reached at %s: %s", at, lastWords(err)), "start it, or set DOCKER_HOST"}
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}
	defer func() { _ = conn.Close() }() // it has answered, or hangs
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://docker/version", nil)
	if err != nil {
		return "", err
	}
	r, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return "", NoDocker{fmt.Sprintf("Docker hangs: %s takes connections and does not answer within %s", at, patience), "systemctl restart docker"}
		}
		if network == "tcp" { // encrypted perhaps, which the library knows how to do
			return "", nil
		}
		return "", NoDocker{fmt.Sprintf("no Docker engine answers at %s: %s", at, lastWords(err)), "start it, or set DOCKER_HOST"}
	}
	defer func() { _ = r.Body.Close() }() // it has been read
	var v struct{ Version string }
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil || v.Version == "" {
		return "", NoDocker{"what answers at " + at + " is no Docker engine", "start one, or set DOCKER_HOST"}
	}
	return v.Version, nil
}

// lastWords is an error's last part: libraries put the long way there before it.
func lastWords(err error) string {
	parts := strings.Split(err.Error(), ": ")
	return parts[len(parts)-1]
}
