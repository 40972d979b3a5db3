package reports

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// Names of the files in a report's folder. Beside them lie capsules and smallest scenarios, named after the laws that
// they break.
const (
	resultFile     = "result.json"
	EventsFile     = "events.jsonl"
	jUnitFile      = "junit.xml"
	pageFile       = "report.html"
	summaryFile    = "summary.md"
	metricsFile    = "metrics.prom"
	sarifFile      = "results.sarif"
	qualityFile    = "codequality.json"
	traceFile      = "trace.json"
	capsuleSuffix  = ".capsule"
	scenarioSuffix = ".smallest.yaml"
)

// files are what a report is written as, beside events.jsonl, capsules and smallest scenarios.
var files = []struct {
	name  string
	write func(io.Writer, Report) error
}{
	{resultFile, WriteJSON}, {jUnitFile, writeJUnit}, {pageFile, writeHTML}, {summaryFile, writeSummary}, {metricsFile, writeMetrics},
	{sarifFile, writeSARIF}, {qualityFile, writeCodeQuality}, {traceFile, writeTrace},
}

// ours reports whether a name in a report's folder is one that a report replaces.
func ours(name string) bool {
	return name == EventsFile || strings.HasSuffix(name, capsuleSuffix) || strings.HasSuffix(name, scenarioSuffix) ||
		slices.ContainsFunc(files, func(f struct {
			name  string
			write func(io.Writer, Report) error
		}) bool {
			return f.name == name
		})
}

// Folder is a report's folder in the making. Everything is written beside its place and takes it at once, so that
// whoever looks, also after a kill -9, finds the old report or the new one and never something of both.
type Folder struct {
	dir, stage string
	lock       *os.File
}

// stageMark stands between a folder's name and what is random in the name of its stage.
const stageMark = ".writing-"

// OpenFolder starts a report for dir, which need not exist. What is already there stays until Keep.
func OpenFolder(dir string) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("make the report's folder: %w", err)
	}
	// A link stays one: what it leads to gets the report.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	} else if _, linked := os.Lstat(dir); linked == nil {
		return nil, fmt.Errorf("make the report's folder: %s leads to nothing: %w", dir, err)
	}
	mode := fs.FileMode(0o755)
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return nil, fmt.Errorf("make the report's folder: %s is a file", dir)
		}
		mode = info.Mode().Perm()
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return nil, fmt.Errorf("make the report's folder: %s is the root of the file system: name a folder below it", dir)
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("make the report's folder: %w", err)
	}
	sweepStages(parent, filepath.Base(dir))
	stage, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+stageMark+"*")
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) { // the folder may be all that is ours to write into
		stage, err = os.MkdirTemp(dir, stageMark+"*")
	}
	if err != nil {
		return nil, fmt.Errorf("make the report's folder: %w", err)
	}
	f := &Folder{dir: dir, stage: stage}
	if f.lock, err = lockStage(stage); err == nil {
		err = os.Chmod(stage, mode)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the report's folder: %w", err), f.Drop())
	}
	return f, nil
}

// sweepStages removes what killed writers of the same folder have left: stages without a lock.
func sweepStages(parent, base string) {
	left, _ := filepath.Glob(filepath.Join(parent, "."+base+stageMark+"*")) // no pattern of ours is bad
	for _, stage := range left {
		if f, err := lockStage(stage); err == nil && f != nil {
			_ = os.RemoveAll(stage) // what cannot be removed is only untidy
			_ = f.Close()           // nothing was written
		}
	}
}

// Stage is where the files of the report to come are put.
func (f *Folder) Stage() string { return f.stage }

// Drop gives the report up; what was there stays.
func (f *Folder) Drop() error {
	if f.lock != nil {
		_ = f.lock.Close() // it was only locked
		f.lock = nil
	}
	return os.RemoveAll(f.stage)
}

// Keep writes a report's files and lets everything in the stage take the folder's place. A folder that holds anything
// that is not a report's stays, and its files are replaced one by one.
func (f *Folder) Keep(r Report) error {
	defer func() { _ = f.Drop() }() // what is left is the old report
	var writers errgroup.Group      // each file by itself: a person who interrupted waits for this
	for _, x := range files {
		writers.Go(func() error {
			return writeFile(filepath.Join(f.stage, x.name), func(w io.Writer) error { return x.write(w, r) })
		})
	}
	if err := writers.Wait(); err != nil {
		return err
	}
	if err := f.tidy(); err != nil {
		return err
	}
	there, err := os.ReadDir(f.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.Rename(f.stage, f.dir)
	case err != nil:
		return err
	case !slices.ContainsFunc(there, func(e fs.DirEntry) bool { return !ours(e.Name()) }):
		if exchange(f.stage, f.dir) == nil {
			return nil // Drop removes the old one
		}
	}
	return f.oneByOne(there)
}

// tidy takes hidden files out of the stage: parts of what was interrupted.
func (f *Folder) tidy() error {
	list, err := os.ReadDir(f.stage)
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(f.stage, e.Name())))
		}
	}
	return err
}

// oneByOne moves the stage's files into a folder that is more than a report's: a home, a mount.
func (f *Folder) oneByOne(there []fs.DirEntry) error {
	list, err := os.ReadDir(f.stage)
	if err != nil {
		return err
	}
	for _, e := range there {
		if ours(e.Name()) && !slices.ContainsFunc(list, func(n fs.DirEntry) bool { return n.Name() == e.Name() }) {
			if err := os.Remove(filepath.Join(f.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for _, e := range list {
		if err := os.Rename(filepath.Join(f.stage, e.Name()), filepath.Join(f.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// WriteAgain writes the files that a report is made of into the folder that it was read from, each beside its place and
// renamed. Event lines and capsules stay.
func WriteAgain(dir string, r Report) error {
	for _, x := range files {
		if err := writeFile(filepath.Join(dir, x.name), func(w io.Writer) error { return x.write(w, r) }); err != nil {
			return err
		}
	}
	return nil
}

// writeFile puts a complete file at name or leaves what was there.
func writeFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", name, errors.Join(err, os.Remove(f.Name())))
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := errors.Join(write(w), w.Flush(), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
