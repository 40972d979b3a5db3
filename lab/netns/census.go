package netns

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// recorded are the processes that a lab's folder tells of and that live.
func recorded(dir string) []spawn.ID {
	var out []spawn.ID
	// A folder that is half gone already tells of fewer; marks find the rest.
	_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != vppproc.PIDFile && !strings.HasPrefix(d.Name(), "process-") {
			return nil
		}
		if id := spawn.Recorded(file); id.Alive() {
			out = append(out, id)
		}
		return nil
	})
	return out
}
