package vppproc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrCannotRun says that this machine cannot run a VPP as labs need it. The text around it says what is wrong.
var ErrCannotRun = errors.New("cannot run VPP here")

// trouble is an ErrCannotRun with a line of its own.
type trouble struct{ text string }

func (t trouble) Error() string        { return t.text }
func (t trouble) Is(target error) bool { return target == ErrCannotRun }

// Cannot is an ErrCannotRun of one line.
func Cannot(format string, args ...any) error { return trouble{fmt.Sprintf(format, args...)} }

// Environment is the variable that names the VPP binary.
const Environment = "VPPDRILL_VPP"

// Find returns the path of the VPP binary: explicit, else the one that VPPDRILL_VPP names, else vpp in PATH,
// /usr/bin/vpp, /opt/*/bin/vpp. One that is named and cannot be run is an error and not passed over.
func Find(explicit string) (string, error) {
	for _, named := range [...]struct{ path, by string }{{explicit, "--vpp"}, {os.Getenv(Environment), Environment}} {
		if named.path == "" {
			continue
		}
		path, err := exec.LookPath(named.path)
		if err != nil {
			return "", Cannot("%s=%s: %s", named.by, named.path, reason(err))
		}
		return path, nil
	}
	places := []string{"vpp", "/usr/bin/vpp"}
	more, err := filepath.Glob("/opt/*/bin/vpp")
	if err != nil { // only a bad pattern errs, and this one is a constant
		panic(err)
	}
	for _, place := range append(places, more...) {
		if path, err := exec.LookPath(place); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", Cannot("no VPP found: looked at --vpp, %s, PATH, /usr/bin/vpp and /opt/*/bin/vpp", Environment)
}

// reason is an error without the path that the line has already.
func reason(err error) string {
	var e *exec.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	switch {
	case errors.Is(err, os.ErrPermission):
		return "permission denied"
	case errors.Is(err, os.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return "no such program"
	}
	return err.Error()
}

// PluginFolder is where the VPP at path has its plugins, "" where none of the usual places exists: VPP itself looks
// beside its binary (25.10, src/vpp/vnet/main.c, vpp_find_plugin_path).
func PluginFolder(path string) string {
	prefix := filepath.Dir(filepath.Dir(path))
	for _, pattern := range []string{"lib/vpp_plugins", "lib/*/vpp_plugins", "lib64/vpp_plugins"} {
		if found, err := filepath.Glob(filepath.Join(prefix, pattern)); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
