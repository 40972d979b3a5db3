package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/vppwire/inputfile"
)

// Kept are runs that passed, against which later ones of the same scenario and seed are held that fail. Its methods may
// be called at the same time.
type Kept interface {
	// Explain is Explorer.Explain with the runs that were there at the start, before those that the program brings
	// along.
	Explain(ctx context.Context, s *scenarios.Scenario, o RunOptions, failed *result.Failure, last int64) (result.Result, error)
	// Keep runs a scenario again and keeps what it does, if it passes.
	Keep(ctx context.Context, s *scenarios.Scenario, o RunOptions) error
	// Write writes all of them, as Explorer.Kept reads them.
	Write(w io.Writer) error
}

// keptFile is the file of --passed.
type keptFile struct {
	name string
	Kept
}

// openKept reads the file, which need not be there, but its folder must; nil for no file.
func (c Config) openKept(name string) (*keptFile, error) {
	if name == "" {
		return nil, nil
	}
	archive, err := inputfile.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		archive, err = nil, nil
		if info, statErr := os.Stat(filepath.Dir(name)); statErr != nil || !info.IsDir() {
			err = fmt.Errorf("--passed %s: there is no folder %s", name, filepath.Dir(name))
		}
	}
	if err != nil {
		return nil, cli.BadInput(err)
	}
	k, err := c.Explorer.Kept(archive)
	if err != nil {
		return nil, cli.BadInput(fmt.Errorf("--passed %s: %w", name, err))
	}
	return &keptFile{name, k}, nil
}

// save puts the whole file in the place of the former one, or leaves that.
func (k *keptFile) save() (err error) {
	f, err := os.CreateTemp(filepath.Dir(k.name), "."+filepath.Base(k.name)+"-*")
	if err != nil {
		return cli.BadInput(fmt.Errorf("keep runs that passed: %w", err))
	}
	w := bufio.NewWriterSize(f, 1<<16)
	err = errors.Join(k.Write(w), w.Flush(), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), k.name)
	}
	if err != nil {
		return cli.BadInput(fmt.Errorf("keep runs that passed in %s: %w", k.name, errors.Join(err, os.Remove(f.Name()))))
	}
	return nil
}
