package kindcluster

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/moby/moby/client"
)

// cgroups is where this machine has its control groups.
const cgroups = "/sys/fs/cgroup"

// thaw lets the processes of a container go on whose control groups are frozen: runc freezes one while it changes it, and one
// that a node's end kills in the midst leaves it frozen, with processes that no signal ends. The engine then cannot end the
// container. What cannot be found or written is left: whoever asks tries again and says what the engine says.
func (e engine) thaw(ctx context.Context, container string) {
	there, err := e.ContainerInspect(ctx, container, client.ContainerInspectOptions{})
	if err != nil || there.Container.State == nil || there.Container.State.Pid == 0 {
		return
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(there.Container.State.Pid) + "/cgroup")
	if err != nil {
		return
	}
	thawBelow(frozen(string(text), there.Container.ID))
}

// frozen is the folder of the freezer of a container: of a hierarchy of its own, or of all controllers' one, by what a process
// of the container says of its control groups; "" where it says nothing of the container's.
func frozen(groups, id string) string {
	for line := range strings.Lines(groups) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controller, path, _ := strings.Cut(rest, ":")
		i := strings.Index(path, id)
		if i < 0 || controller != "freezer" && controller != "" {
			continue
		}
		end := i + len(id)
		if slash := strings.IndexByte(path[end:], '/'); slash >= 0 {
			end += slash
		} else {
			end = len(path)
		}
		return filepath.Join(cgroups, controller, path[:end])
	}
	return ""
}

func thawBelow(dir string) {
	if dir == "" {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		switch {
		case err != nil: // it has gone meanwhile
		case filepath.Base(path) == "freezer.state":
			_ = os.WriteFile(path, []byte("THAWED"), 0) // see thaw
		case filepath.Base(path) == "cgroup.freeze":
			_ = os.WriteFile(path, []byte("0"), 0) // see thaw
		}
		return nil
	})
}

// ends does what ends containers, and once more after a thaw where the engine cannot.
func (e engine) ends(ctx context.Context, containers []string, does func() error) error {
	err := does()
	if err == nil || ctx.Err() != nil {
		return err
	}
	for _, c := range containers {
		e.thaw(ctx, c)
	}
	return does()
}
